// The shapes of a map's tiles. A tile needs long runs and segments for prefetching and for streaming stores,
// and few enough lines to stay in a cache; how many that are depends on the elements and the cache.
#include "memory/mapped.hpp"

#include <bit>

#include "gf2/extend.hpp"
#include "memory/cache_sizes.hpp"
#include "gf2/coset.hpp"

namespace xorder::memory {

using gf2::AffineMap;
using kernel::TileShape;

Mapped mapped_of(const Reordering& r) {
  Mapped m{r.element_bytes, r.map, {}, 1};
  constexpr std::uint64_t largest = 16;
  if (std::has_single_bit(m.element_bytes) && m.element_bytes > largest) {
    m.map = gf2::with_low_bits(m.map, std::countr_zero(m.element_bytes / largest));
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
    StridedAxis& batch = m.outer.front();
    const int bits = std::countr_zero(batch.extent);
    m.map = gf2::with_high_bits(m.map, bits);
    batch.extent >>= bits;
    batch.stride <<= bits;
    m.outer_count >>= bits;
  }
  return m;
}

namespace {

class Shapes {
 public:
  Shapes(const AffineMap& map, std::uint64_t element_bytes)
      : inverse_(*map.matrix.inverse()), bits_(map.bits()), element_bytes_(element_bytes) {}

  TileShape of(std::uint64_t source_bytes, std::uint64_t target_bytes) const {
    return kernel::tile_shape(inverse_, element_bytes_, source_bytes, target_bytes, {bits_, bits_});
  }
  // Runs of the source that a tile reads.
  int lg_runs(TileShape shape) const {
    return gf2::tile_bits(inverse_, shape.source_bits, shape.target_bits) - shape.source_bits;
  }

 private:
  gf2::BitMatrix inverse_;
  int bits_;
  std::uint64_t element_bytes_;
};

}  // namespace

TileShape cached_shape(const AffineMap& map, std::uint64_t element_bytes, std::uint64_t array_bytes) {
  const Shapes shapes(map, element_bytes);
  // With single bytes, a line tile alone may already have 64 lines on both sides.
  const TileShape shape = element_bytes == 1 ? shapes.of(line_bytes, line_bytes) : shapes.of(256, 128);
  constexpr int lg_many_runs = 3;  // more than the hardware prefetches well
  if (shapes.lg_runs(shape) < lg_many_runs) return shape;
  // Longer segments of some elements: 1, 2 and 16 bytes gain by them, 4 bytes lose. They make the plan of
  // single bytes take three times as long, which only an array beyond the second level repays.
  if (element_bytes == 1) return array_bytes <= cache_sizes().second / 2 ? shape : shapes.of(128, 256);
  return element_bytes == 2 || element_bytes == 16 ? shapes.of(256, 256) : shape;
}

TileShape smallest_shape(const AffineMap& map, std::uint64_t element_bytes) {
  return Shapes(map, element_bytes).of(line_bytes, line_bytes);
}

TileShape large_shape(const AffineMap& map, std::uint64_t element_bytes) {
  // Elements of 1 and 2 bytes have 64 and 32 lines on both sides. Larger elements gain a little by larger
  // tiles.
  const Shapes shapes(map, element_bytes);
  return element_bytes <= 2 ? shapes.of(256, 512) : shapes.of(512, 1024);
}

TileShape long_runs_shape(const AffineMap& map, std::uint64_t element_bytes) {
  // Figures are in bench/memory_bench.md, "Maps". Short segments take too long where they do not begin at
  // lines: most of their lines are partial.
  const Shapes shapes(map, element_bytes);
  return element_bytes <= 2 ? shapes.of(512, 256) : shapes.of(1024, 256);
}

bool runs_share_sets(const AffineMap& map, std::uint64_t element_bytes, TileShape shape) {
  constexpr int lg_ways = 3;  // of most processors
  // Of a cache of 1.25 MiB, with 20 ways, this is still a multiple of the distance of lines that share a set.
  const std::uint64_t way = std::bit_floor(cache_sizes().second >> lg_ways) / element_bytes;
  const gf2::BitMatrix inverse = *map.matrix.inverse();
  for (int i = 0; i < shape.target_bits; ++i) {
    if (((inverse.column(i) % way) >> shape.source_bits) != 0) return false;
  }
  return gf2::tile_bits(inverse, shape.source_bits, shape.target_bits) - shape.source_bits > lg_ways;
}

kernel::LineTiles line_tiles(const Mapped& mapped, TileShape shape) {
  return kernel::make_line_tiles(mapped.map.matrix, std::countr_zero(mapped.element_bytes), shape);
}

TileShape record_shape(const AffineMap& map, std::uint64_t element_bytes) {
  constexpr std::uint64_t longest_run = 4096;
  return kernel::largest_shape(*map.matrix.inverse(), element_bytes, longest_run, cache_sizes().first,
                               {map.bits(), map.bits()});
}

}  // namespace xorder::memory
