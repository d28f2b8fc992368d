// Performs the sweeps over files of a plan (plan/descend/sweeps.hpp explains them, with pictures).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "descend/groups.hpp"
#include "io/file.hpp"
#include "plan/descend/sweeps.hpp"
#include "run/pass.hpp"
#include "task/workers.hpp"

namespace xorder::descend {

/// An array in a file.
struct Elements {
  io::Location begin;
  std::uint64_t bytes = 0;  ///< of an element
};

/// What a sweep reads or writes.
struct Records {
  std::vector<Elements> arrays;  ///< of which there is one if it is written
  /// Its load() makes records of the arrays' elements, or its store() makes elements of records. Without it
  /// the elements are records.
  Computation* converter = nullptr;
};

/// Computes a sweep's iterations on a strip that is in memory as a whole, in place, instead of Groups. The
/// records are in the order of the strip's places. Called for one strip at a time.
using ComputeStrip = std::function<void(const Strip& strip, std::byte* records)>;

/// Of a sweep; about Sweep::pass.memory less that of its threads. Not so if a file has larger blocks than
/// most.
std::uint64_t memory_for(const plan::SweepPlan& plan, const plan::Sweep& sweep, const Records& from,
                         const Records& to);

/// The slices that a sweep writes, numbered strip by strip.
struct SliceRange {
  std::uint64_t first = 0, end = 0;
};
std::uint64_t slices(const plan::SweepPlan& plan, const plan::Sweep& sweep);

/// The sweep's pass, for the executor (run/executor.hpp). It does the iterations on the records of `from`,
/// and writes the slices of the range to `to`. These are the same place if the sweep is in place; then the
/// range must be all slices. A step reads a slice, which the threads of `computing` work on together.
/// `compute_strip`, if there is one, does the iterations, in the arena of these threads; that requires a
/// gathered sweep. Everything must outlive the pass.
std::unique_ptr<run::Pass> make_pass(const plan::SweepPlan& plan, const plan::Sweep& sweep, SliceRange range,
                                     Groups& groups, const Records& from, const Records& to,
                                     std::byte* memory, task::Workers& computing,
                                     const ComputeStrip& compute_strip);

}  // namespace xorder::descend
