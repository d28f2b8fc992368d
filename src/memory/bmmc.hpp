// BMMC permutations in memory: tiles are cosets of E_s + A⁻¹E_t that fit in the first-level cache, see plan/coset.hpp,
// line_tiles.hpp and tile_walk.hpp.
#pragma once

#include <memory>

#include "memory/engine.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::memory {

/// `what` is canonical and not empty, and its last axis is mapped and also the target's last. `streamed`: past the cache.
std::unique_ptr<Engine> make_bmmc_engine(const Reordering& what, bool streamed);

}  // namespace xorder::memory
