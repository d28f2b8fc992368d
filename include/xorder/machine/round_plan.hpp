// BMMC permutations in rounds of chunks (src/schedule/rounds.hpp), factored once and performed any number of
// times, on files and on arrays in memory:
//
//     const Reordering what = mapping_of_all({{1 << 20}, 8, Order::c}, bmmc::bit_reverse(20));
//     const machine::RoundPlan plan(what, {.processors = 64});
//     plan.on_files(io::open_array("a.npy", {}), {1 << 20}, "b.npy", {})->run();
//     plan.on_files(io::open_array("c.npy", {}), {1 << 20}, "d.npy", {})->run();
//     plan.execute(source, target);
//
// This corresponds to factor_BMMC_MPI and perform_BMMC_MPI of Cormen's package, but for virtual processors in
// one process. (bmmc_mpi.h has those functions for programs of many processes.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "xorder/io/array_file.hpp"
#include "xorder/machine/job.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::machine {

struct RoundOptions {
  /// As in ScheduleChoice (scheduled.hpp).
  std::optional<std::uint64_t> processors{};
  std::optional<int> layout{};
  /// Bytes for a run on files, as Options::memory. As many virtual processors' blocks are made at a time as
  /// fit.
  std::uint64_t memory = 0;
  /// The disk of the files, for predictions. Default: for the plan an ssd(), and for runs on files as
  /// Options::device.
  std::optional<plan::Device> device{};
  /// As for scheduled().
  std::optional<schedule::LinkTimes> link_times{};
};

/// A reordering's factors T, R, Π, V and W, the order in which chunks are sent, and where each element of a
/// chunk belongs. Immutable: several threads may use one plan at once, on different data. Copies are cheap
/// and share the factors.
class RoundPlan {
 public:
  /// O(n³) word operations for 2^n elements; touches no file. Throws InputError if there are no elements, if
  /// extents are not powers of two, for a number of processors or a layout that does not fit, for a time that
  /// is negative or not finite, and if the memory is too small.
  explicit RoundPlan(const Reordering& what, const RoundOptions& options = {});

  std::uint64_t processors() const;
  std::uint64_t rounds() const;
  /// A description for people.
  std::string describe() const;

  /// A run on an array in a file, with the output, costs and errors of scheduled(). Nothing is factored
  /// again; only the passes within processors are planned for these files. `extents` is the output's shape.
  /// Options::memory and, if given, device are replaced by the plan's. Also throws InputError if
  /// the input has another number or size of elements than the plan, or if there is less memory now than the
  /// plan was made for.
  std::unique_ptr<Job> on_files(io::ArrayFile input, std::vector<std::uint64_t> extents,
                                std::filesystem::path output, work::Options options) const;

  /// Element x of `source` becomes element what.target_index(x) of `target`, both of what.bytes() and not
  /// overlapping. `threads` 0 means all processors. Reads and writes every byte twice, with a layout three
  /// times. Allocates what.bytes() and the memory of Machine. Returns what crossed the network; with link
  /// times, all processors receive at once.
  /// memory::permute() does the same faster, without a network.
  schedule::Traffic execute(const std::byte* source, std::byte* target, unsigned threads = 0) const;

 private:
  struct Made;
  std::shared_ptr<const Made> made_;
};

}  // namespace xorder::machine
