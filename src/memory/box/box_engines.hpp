// The engines for boxes: see box.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "kernel/vectors/batch.hpp"
#include "memory/box/box_axes.hpp"
#include "memory/engine.hpp"

namespace xorder::memory {

std::unique_ptr<Engine> make_runs(Box box, bool streamed, std::uint64_t array_bytes);

/// Columns must not be mapped.
std::unique_ptr<Engine> make_short_runs(Box box, bool streamed);

// The next three are for axes that are not mapped, and null if they would not take fewer than `cycles` for
// each element. The first two are for arrays in the cache, and set `cycles` to what they take.

/// For boxes that fit in the registers. The result lays the parcel out when it is called, which takes some
/// microseconds.
std::function<std::unique_ptr<Engine>()> parcels_for(const TargetAxes& target, double& cycles);

/// For tiles so narrow that a table is faster.
std::unique_ptr<Engine> make_table(const TargetAxes& target, double& cycles);

/// For arrays past the cache: tiles are permuted as small arrays are that are in the cache.
std::unique_ptr<Engine> make_nested(const TargetAxes& target, double cycles);

/// The best engine for an array in the cache. `cycles` becomes what it takes for each element.
std::unique_ptr<Engine> make_engine_in_cache(const TargetAxes& target, std::uint64_t array_bytes,
                                             bool streamed, double& cycles);

std::unique_ptr<Engine> make_records(TargetAxes target, bool streamed);

/// For everything that is neither records nor matrices: elements with gaps between them, or mirrored ones.
std::unique_ptr<Engine> make_lines(const TargetAxes& target, bool streamed);

/// Moves tiles from the rows to the target without a buffer, which is fastest for arrays in the cache.
/// Columns must not be mapped. Where runs do not begin at lines, lines are written in two halves. Unless the
/// processor takes_split_lines, source and target must fit in the second-level cache then, and where lines
/// are split, in the first or have elements below 4 bytes: a buffer is better there. Many rows whose distance
/// is a multiple of 2 KiB need a buffer in arrays that exceed the second level, unless they are transposed in
/// squares.
bool fits_direct(const Box& box, std::uint64_t bytes);
std::unique_ptr<Engine> make_direct(Box box);
/// What make_direct() uses if the box is a batch: one matrix or several, each contiguous on both sides, that
/// consist of whole blocks. Otherwise null.
kernel::BatchFunction batch_for(const Box& box);

}  // namespace xorder::memory
