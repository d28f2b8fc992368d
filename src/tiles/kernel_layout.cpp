#include "tiles/kernel_layout.hpp"

namespace xorder::tiles {
namespace {

kernel::Stride in_bytes(const plan::RunStride& stride, std::uint64_t element_bytes) {
  return {stride.runs, stride.elements * element_bytes};
}

}  // namespace

kernel::Layout kernel_layout(const plan::Tiling& tiling, const plan::ChunkShape& chunk) {
  const Reordering& what = tiling.what();
  const std::uint64_t w = what.element_bytes;
  const plan::RunShape& source = tiling.source_shape();
  const plan::RunShape& target = tiling.target_shape();
  kernel::Layout layout{w, {}, {}};
  for (std::size_t axis = 0; axis < what.extents.size(); ++axis) {
    const kernel::Stride from = in_bytes(source.axes[axis], w);
    kernel::Stride to = in_bytes(target.axes[axis], w);
    if (what.mapped == static_cast<int>(axis)) {
      const auto& all = tiling.coset()->local_map();
      to.runs = chunk.mapped_step;
      layout.linear = kernel::LinearAxis{all.block(0, 0, all.rows(), tiling.group_bits()), source.mapped_low,
                                         chunk.mapped_low, from, to};
    } else {
      to.runs *= chunk.per_run;
      layout.axes.push_back({tiling.choice().group[axis], from, to});
    }
  }
  return layout;
}

void kernel_lengths(const plan::Tiling& tiling, const plan::Group& group,
                    std::vector<std::uint64_t>& lengths) {
  lengths.clear();
  for (std::size_t axis = 0; axis < group.length.size(); ++axis) {
    if (tiling.what().mapped != static_cast<int>(axis)) lengths.push_back(group.length[axis]);
  }
}

}  // namespace xorder::tiles
