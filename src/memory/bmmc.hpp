// BMMC permutations in memory: tiles are cosets of E_s + A⁻¹E_t that fit in a cache, see plan/coset.hpp,
// kernel/line_tiles.hpp and kernel/tile_walk.hpp.
#pragma once

#include <memory>

#include "memory/engine.hpp"
#include "memory/mapped.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::memory {

/// Requires that `what` is canonical and not empty, and that its last axis is mapped and also the target's
/// last. `streamed` means to write past the cache.
std::unique_ptr<Engine> make_bmmc_engine(const Reordering& what, bool streamed);

/// The two kinds of engine: for lines of elements of 1 to 16 bytes, and for elements of any size, one by one.
std::unique_ptr<Engine> make_bmmc_lines(Mapped mapped, TileShape shape, bool streamed);
std::unique_ptr<Engine> make_bmmc_records(Mapped mapped, bool streamed);

}  // namespace xorder::memory
