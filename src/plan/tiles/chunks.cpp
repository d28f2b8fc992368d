#include "plan/tiles/chunks.hpp"

#include <algorithm>
#include <bit>

#include "gf2/subspace.hpp"
#include "gf2/sums.hpp"
#include "rounding.hpp"

namespace xorder::plan {
namespace {

using std::uint64_t;

// Consecutive elements that a group contributes to a run; the whole run if groups do not cut runs.
uint64_t piece_elements(const TileChoice& choice, const RunShape& target, const std::optional<int>& mapped) {
  if (mapped && choice.group_low < target.mapped_low) {
    return target.axes[static_cast<std::size_t>(*mapped)].elements << choice.group_low;
  }
  for (std::size_t axis = 0; axis < choice.tile.size(); ++axis) {
    if (mapped == static_cast<int>(axis) || target.axes[axis].runs != 0) continue;
    if (choice.group[axis] < choice.tile[axis]) return target.axes[axis].elements * choice.group[axis];
  }
  return target.run_elements;
}

}  // namespace

ChunkShape chunk_shape(const Reordering& what, const TileChoice& choice, const RunShape& target,
                       uint64_t wanted) {
  const auto& mapped = what.mapped;
  const uint64_t run = target.run_elements, piece = piece_elements(choice, target, mapped);
  ChunkShape shape;
  shape.elements = run;
  const uint64_t in_run = mapped ? target.axes[static_cast<std::size_t>(*mapped)].elements : 0;
  const bool cut_by_map = mapped && choice.group_low < target.mapped_low;
  if (piece < run) {
    const uint64_t pieces = ceil_div(run, piece);
    uint64_t best = std::max<uint64_t>(1, ceil_div(wanted, piece));
    if (cut_by_map) {
      best = std::bit_ceil(best);
    } else {
      for (uint64_t n = best; n < 2 * best && n <= pieces; ++n) {
        if (ceil_div(pieces, n) * n < ceil_div(pieces, best) * best) best = n;
      }
    }
    shape.elements = std::min(run, best * piece);
  }
  shape.per_run = ceil_div(run, shape.elements);
  if (mapped) {
    shape.mapped_low = target.mapped_low;
    if (cut_by_map) shape.mapped_low = std::countr_zero(shape.elements / in_run);
    shape.mapped_step = target.axes[static_cast<std::size_t>(*mapped)].runs *
                        (shape.per_run >> (target.mapped_low - shape.mapped_low));
  }
  return shape;
}

void target_chunks(const Tiling& tiling, const ChunkShape& shape, const Group& group,
                   std::vector<uint64_t>& chunks) {
  const RunShape& target = tiling.target_shape();
  chunks.assign(1, group.target_shift.runs * shape.per_run + group.target_shift.elements / shape.elements);
  std::vector<uint64_t> wider;
  for (std::size_t axis = 0; axis < group.length.size(); ++axis) {
    if (tiling.what().mapped == static_cast<int>(axis) || target.axes[axis].runs == 0) continue;
    wider.clear();
    for (uint64_t c = 0; c < group.length[axis]; ++c) {
      for (const uint64_t chunk : chunks) wider.push_back(chunk + c * target.axes[axis].runs * shape.per_run);
    }
    chunks.swap(wider);
  }
  if (!tiling.coset()) return;
  gf2::Subspace reached;  // the values of z's upper bits, up to the group's offset
  for (int i = 0; i < tiling.group_bits(); ++i) {
    reached.add(tiling.coset()->local_map().column(i) >> shape.mapped_low);
  }
  const auto values = gf2::sums(reached.basis(), group.target_offset >> shape.mapped_low);
  wider.clear();
  for (const uint64_t chunk : chunks) {
    for (const uint64_t value : values) wider.push_back(chunk + value * shape.mapped_step);
  }
  chunks.swap(wider);
}

}  // namespace xorder::plan
