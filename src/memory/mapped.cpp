#include "memory/mapped.hpp"

#include <algorithm>
#include <bit>

#include "memory/cache_sizes.hpp"
#include "plan/coset.hpp"

namespace xorder::memory {
namespace {

using gf2::AffineMap;
using gf2::Word;

// Adds `bits` index bits at the lower end, which stay where they are.
AffineMap with_low_bits(const AffineMap& map, int bits) {
  std::vector<Word> columns;
  for (int i = 0; i < bits; ++i) columns.push_back(gf2::unit(i));
  for (const Word c : map.matrix.columns()) columns.push_back(c << bits);
  const int n = static_cast<int>(columns.size());
  return {gf2::BitMatrix(n, std::move(columns)), map.complement << bits};
}
AffineMap with_high_bits(const AffineMap& map, int bits) {
  std::vector<Word> columns = map.matrix.columns();
  for (int i = 0; i < bits; ++i) columns.push_back(gf2::unit(map.bits() + i));
  const int n = static_cast<int>(columns.size());
  return {gf2::BitMatrix(n, std::move(columns)), map.complement};
}

}  // namespace

Mapped mapped_of(const Reordering& r) {
  Mapped m{r.element_bytes, r.map, {}, 1};
  constexpr std::uint64_t largest = 16;
  if (std::has_single_bit(m.element_bytes) && m.element_bytes > largest) {
    m.map = with_low_bits(m.map, std::countr_zero(m.element_bytes / largest));
    m.element_bytes = largest;
  }
  const int rank = static_cast<int>(r.extents.size());
  std::vector<std::uint64_t> strides(r.extents.size());
  std::uint64_t stride = r.element_bytes;
  for (int axis = rank; axis-- > 0; stride *= r.extents[axis]) strides[axis] = stride;
  for (std::size_t i = r.order.size() - 1; i-- > 0;) {
    const int axis = r.order[i];
    m.outer.push_back({r.extents[axis], strides[axis], false, {}});
    m.outer_count *= r.extents[axis];
  }
  if (m.outer.size() == 1) {  // a batch: its largest power of two becomes part of the map
    TargetAxis& batch = m.outer.front();
    const int bits = std::countr_zero(batch.extent);
    m.map = with_high_bits(m.map, bits);
    batch.extent >>= bits;
    batch.source_stride <<= bits;
    m.outer_count >>= bits;
  }
  return m;
}

TileShape tile_shape(const AffineMap& map, std::uint64_t element_bytes, bool cached) {
  const auto shape_of = [&](std::uint64_t source_bytes, std::uint64_t target_bytes) {
    const auto bits_of = [&](std::uint64_t bytes) {
      return std::min(
          map.bits(),
          static_cast<int>(std::bit_width(std::max<std::uint64_t>(1, bytes / element_bytes))) - 1);
    };
    return TileShape{bits_of(source_bytes), bits_of(target_bytes)};
  };
  // With single bytes, a line tile alone may already have 64 lines on both sides.
  TileShape shape = element_bytes == 1 ? shape_of(64, 64) : shape_of(256, 128);
  constexpr std::uint64_t enough = 2048;
  while (shape.source_bits < map.bits()) {
    const int source = shape.source_bits + 1;
    const int target = std::min(map.bits(), std::max(shape.target_bits, source));
    if (element_bytes << plan::tile_bits(map, source, target) > enough) break;
    shape = {source, target};
  }
  constexpr int lg_many_runs = 3;
  const int lg_runs = plan::tile_bits(map, shape.source_bits, shape.target_bits) - shape.source_bits;
  if (cached || lg_runs < lg_many_runs) return shape;
  // Bit reversal of 16 bytes, 256 MiB on AMD Zen 4: 9.1 GB/s, with the larger tiles 6.8.
  const bool smaller = element_bytes <= 2 || element_bytes == 16;
  shape = smaller ? shape_of(256, 512) : shape_of(512, 1024);
  shape.large = true;
  return shape;
}

int record_bits(const AffineMap& map, std::uint64_t element_bytes) {
  constexpr std::uint64_t long_enough = 4096;
  int bits = 0;
  while (bits < map.bits() && element_bytes << (bits + 1) <= long_enough &&
         element_bytes << plan::tile_bits(map, bits + 1, bits + 1) <= cache_sizes().first)
    ++bits;
  return bits;
}

}  // namespace xorder::memory
