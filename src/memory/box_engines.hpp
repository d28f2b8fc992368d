// The engines for boxes: see box.hpp.
#pragma once

#include <cstdint>
#include <memory>

#include "memory/box_axes.hpp"
#include "memory/engine.hpp"

namespace xorder::memory {

std::unique_ptr<Engine> make_runs(Box box, bool streamed, std::uint64_t array_bytes);

/// Columns must not be mapped.
std::unique_ptr<Engine> make_pieces(Box box, bool streamed);

/// For tiles so narrow that a table is faster. Null if it would take more than `cycles` for each element.
std::unique_ptr<Engine> make_table(const TargetAxes& target, bool streamed, std::uint64_t array_bytes,
                                   double cycles);

/// For matrices that fit in the registers. Null likewise; otherwise `cycles` becomes what it takes.
std::unique_ptr<Engine> make_parcels(const TargetAxes& target, bool streamed, double& cycles);

std::unique_ptr<Engine> make_records(TargetAxes target, bool streamed);

/// Moves tiles from the rows to the target without a buffer, which is fastest for arrays in the cache.
/// Columns must not be mapped. Where runs do not begin at lines, lines are written in two halves. Some
/// processors need more time for that than a buffer takes, beyond the first-level cache and except for
/// elements below 4 bytes.
bool fits_direct(const Box& box, std::uint64_t bytes);
std::unique_ptr<Engine> make_direct(Box box);

}  // namespace xorder::memory
