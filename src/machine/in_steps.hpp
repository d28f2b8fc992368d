// How stages of virtual processors perform a pass.
#pragma once

#include <cstdint>

#include "io/file.hpp"
#include "machine/storage.hpp"
#include "task/in_turn.hpp"
#include "work/run.hpp"

namespace xorder::machine {

/// Performs the steps of a pass that writes `target`, each in one of two buffers: one is loaded while the
/// other is exchanged and stored. Calls body(each_step) among threads that compute and wait for transfers by
/// turns; in a resumable run once for each part of the pass. There each_step(load, then...) calls
/// load(buffer, number of the step) and each of `then` with the buffer, as task::in_turn() does, for all
/// steps. Throws what they throw, Cancelled and IoError.
template <typename Buffer, typename Body>
void in_steps(work::Run& run, const work::Steps& steps, const io::File& target, Buffer (&buffers)[2],
              const Body& body) {
  task::Workers workers = transfer_workers(run.frame());
  run.perform(steps, target, [&](std::uint64_t first, std::uint64_t last) {
    const auto each_step = [&](const auto& load, const auto&... then) {
      std::uint64_t next = first;
      const auto fill = [&](Buffer& buffer) {
        if (next == last) return false;
        load(buffer, next++);
        return true;
      };
      task::in_turn(buffers, fill, then...);
    };
    run.with(workers, [&] { body(each_step); });
  });
}

}  // namespace xorder::machine
