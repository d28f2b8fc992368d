#include "kernel/linear/tile_shape.hpp"

#include <algorithm>
#include <bit>

#include "gf2/coset.hpp"

namespace xorder::kernel {

std::uint64_t tile_bytes(const gf2::BitMatrix& inverse, std::uint64_t element_bytes, TileShape shape) {
  return element_bytes << gf2::tile_bits(inverse, shape.source_bits, shape.target_bits);
}

TileShape tile_shape(const gf2::BitMatrix& inverse, std::uint64_t element_bytes, std::uint64_t source_bytes,
                     std::uint64_t target_bytes, TileShape most) {
  const auto bits_of = [&](std::uint64_t bytes) {
    return static_cast<int>(std::bit_width(std::max<std::uint64_t>(1, bytes / element_bytes))) - 1;
  };
  TileShape shape{std::min(bits_of(source_bytes), most.source_bits),
                  std::min(bits_of(target_bytes), most.target_bits)};
  while (shape.source_bits < most.source_bits) {
    const int source = shape.source_bits + 1;
    const TileShape larger{source, std::min(most.target_bits, std::max(shape.target_bits, source))};
    if (tile_bytes(inverse, element_bytes, larger) > enough_bytes) break;
    shape = larger;
  }
  return shape;
}

TileShape largest_shape(const gf2::BitMatrix& inverse, std::uint64_t element_bytes, std::uint64_t longest_run,
                        std::uint64_t most_bytes, TileShape most) {
  TileShape shape;
  const auto grow = [&](TileShape larger) {
    const std::uint64_t run = element_bytes << std::max(larger.source_bits, larger.target_bits);
    if (larger.source_bits > most.source_bits || larger.target_bits > most.target_bits || run > longest_run ||
        tile_bytes(inverse, element_bytes, larger) > most_bytes)
      return false;
    shape = larger;
    return true;
  };
  while (grow({shape.source_bits + 1, shape.target_bits + 1})) {
  }
  while (shape.target_bits == most.target_bits && grow({shape.source_bits + 1, shape.target_bits})) {
  }
  while (shape.source_bits == most.source_bits && grow({shape.source_bits, shape.target_bits + 1})) {
  }
  return shape;
}

}  // namespace xorder::kernel
