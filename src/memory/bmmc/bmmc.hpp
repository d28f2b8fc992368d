// BMMC permutations in memory: tiles are cosets of E_s + A⁻¹E_t that fit in a cache, see
// gf2/coset.hpp, kernel/linear/line_tiles.hpp and kernel/linear/tile_walk.hpp.
#pragma once

#include <memory>

#include "kernel/linear/line_tiles.hpp"
#include "memory/engine.hpp"
#include "memory/mapped.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::memory {

/// Requires that `what` is canonical and not empty, and that its last axis is mapped and also the target's
/// last. `streamed` means to write past the cache.
std::unique_ptr<Engine> make_bmmc_engine(const Reordering& what, bool streamed);

/// The engines for lines of elements of 1 to 16 bytes. If tiles are in_runs:
std::unique_ptr<Engine> make_line_runs(Mapped mapped, kernel::LineTiles tiles, bool streamed);
/// From the source's lines to those of the target, through the cache.
std::unique_ptr<Engine> make_direct_lines(Mapped mapped, kernel::LineTiles tiles);
/// The same past the cache, which requires a target that begins at a line.
std::unique_ptr<Engine> make_streamed_lines(Mapped mapped, kernel::LineTiles tiles);
/// Through a buffer, and past the cache. While a tile is written, the next one is prefetched or, if
/// `gathered`, its lines are copied side by side.
std::unique_ptr<Engine> make_buffered_lines(Mapped mapped, kernel::LineTiles tiles, bool gathered);
/// The engine for elements of any size, see kernel/linear/record_mover.hpp.
std::unique_ptr<Engine> make_bmmc_records(Mapped mapped, bool streamed);

}  // namespace xorder::memory
