// Passes that move a band's data as its plan says, for the executor (run/executor.hpp). Their steps follow
// each other through a window: what a step computes may have been read by steps before it. So at most
// plan.lanes() steps are in flight, and step s has the memory of lane s modulo lanes.
#pragma once

#include <memory>

#include "io/memory.hpp"
#include "plan/bands/band_plan.hpp"
#include "plan/setting.hpp"
#include "run/pass.hpp"

namespace xorder::band {

/// Where a band's data are and will be.
struct Route {
  io::Location source, target;
};

/// A pass has the memory that its plan says and this much more, for two areas that begin at a page.
inline constexpr std::uint64_t more_memory = plan::file_block;

/// The steps [first, end) of a pass, which write what the others do not.
struct StepRange {
  std::uint64_t first = 0, end = 0;
};

std::uint64_t steps(const plan::BandStrips& plan);
std::uint64_t steps(const plan::BandShifts& plan);
std::uint64_t steps(const plan::BandStack& plan);

/// The plan and the memory must outlive the pass.
std::unique_ptr<run::Pass> make_pass(const plan::BandStrips& plan, StepRange range, const Route& route,
                                     std::byte* memory);
std::unique_ptr<run::Pass> make_pass(const plan::BandShifts& plan, StepRange range, const Route& route,
                                     std::byte* memory);
std::unique_ptr<run::Pass> make_pass(const plan::BandStack& plan, StepRange range, const Route& route,
                                     std::byte* memory);

/// The rules that all of them have in common.
template <typename Plan>
run::Rules rules_of(const Plan& plan) {
  const plan::PassSummary pass = plan.pass();
  return {.read_alignment = plan.setting().read_alignment,
          .write_alignment = plan.setting().write_alignment,
          .read_bytes = pass.source_block_bytes,
          .write_bytes = pass.target_block_bytes,
          .most_steps = plan.lanes()};
}

/// What is read to `to`, a multiple of the alignment; its place there is that in the file.
inline run::Range read_to(std::byte* to, const io::Location& source, std::uint64_t at, std::uint64_t bytes,
                          std::uint64_t alignment) {
  const std::uint64_t offset = source.offset + at;
  return {&source.file, offset, bytes, to + offset % alignment};
}

}  // namespace xorder::band
