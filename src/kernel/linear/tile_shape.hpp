// How large the tiles of a linear map are.
#pragma once

#include <cstdint>

#include "xorder/gf2/bit_matrix.hpp"

namespace xorder::kernel {

/// A tile is a coset of S = E_s + A⁻¹E_t: runs of 2^s elements of the source, and segments of 2^t
/// elements of the target. The map A must be injective. A shape is possible if A has s columns or
/// more, and its image contains E_t.
struct TileShape {
  int source_bits = 0;  ///< s
  int target_bits = 0;  ///< t
};

/// The bytes of a tile, given the inverse of the map.
std::uint64_t tile_bytes(const gf2::BitMatrix& inverse, std::uint64_t element_bytes, TileShape shape);

/// There is enough to do in a tile of this size.
constexpr std::uint64_t enough_bytes = 2048;

/// Runs of source_bytes and segments of target_bytes, which are powers of two. They are longer if a tile with
/// longer ones has at most enough_bytes, but never longer than `most`, which must be possible for the map
/// whose inverse is given.
TileShape tile_shape(const gf2::BitMatrix& inverse, std::uint64_t element_bytes, std::uint64_t source_bytes,
                     std::uint64_t target_bytes, TileShape most);

/// The largest runs and segments of at most longest_run bytes with tiles of at most most_bytes. They are
/// alike unless `most` stops one of them.
TileShape largest_shape(const gf2::BitMatrix& inverse, std::uint64_t element_bytes, std::uint64_t longest_run,
                        std::uint64_t most_bytes, TileShape most);

}  // namespace xorder::kernel
