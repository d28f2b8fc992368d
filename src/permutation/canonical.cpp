// The simplifications that canonical() is made of, one function each.
#include <algorithm>

#include "xorder/permutation/reordering.hpp"

namespace xorder {
namespace {

// An axis that is fastest on both sides becomes part of the element unless that would be larger than this.
// It is large enough for any device's requests, and small enough to leave many elements in a tile.
constexpr std::uint64_t largest_folded_element = 64 * 1024;

int rank_of(const Reordering& r) { return static_cast<int>(r.extents.size()); }
bool is_mapped(const Reordering& r, int axis) { return r.mapped && *r.mapped == axis; }

// Removes an unmapped axis and renumbers those behind it.
void erase_axis(Reordering& r, int axis) {
  r.extents.erase(r.extents.begin() + axis);
  std::erase(r.order, axis);
  for (int& other : r.order) other -= other > axis;
  if (r.mapped && *r.mapped > axis) --*r.mapped;
}

void drop_identity_map(Reordering& r) {
  if (r.mapped && !r.map.is_identity()) return;
  r.mapped.reset();
  r.map = {};
}

// None of them is mapped: a map of one element is the identity, which has been dropped.
void drop_unit_axes(Reordering& r) {
  for (int axis = rank_of(r); axis-- > 0;) {
    if (r.extents[axis] == 1) erase_axis(r, axis);
  }
}

void merge_neighbours(Reordering& r) {
  for (std::size_t i = 0; i + 1 < r.order.size();) {
    const int axis = r.order[i];
    const int next = r.order[i + 1];
    if (next == axis + 1 && !is_mapped(r, axis) && !is_mapped(r, next)) {
      r.extents[axis] *= r.extents[next];
      erase_axis(r, next);
    } else {
      ++i;
    }
  }
}

void fold_fastest_axis(Reordering& r) {
  const int last = rank_of(r) - 1;
  if (last < 0 || r.order.back() != last || is_mapped(r, last)) return;
  if (r.element_bytes * r.extents[last] > largest_folded_element) return;
  r.element_bytes *= r.extents[last];
  erase_axis(r, last);
}

// How many of the slowest axes stay in place and are unmapped. The rest is done alike for each of their
// coordinates.
int batch_axes(const Reordering& r) {
  int batch = 0;
  while (batch < rank_of(r) && r.order[batch] == batch && !is_mapped(r, batch)) ++batch;
  return batch;
}

// If axes move, one is mapped, and all are powers of two, one map replaces them. Batch axes need not be
// powers of two. If no axis moves, nothing changes.
void flatten_map(Reordering& r) {
  if (!r.mapped || std::ranges::is_sorted(r.order)) return;
  const int batch = batch_axes(r);
  Reordering moved;
  moved.extents.assign(r.extents.begin() + batch, r.extents.end());
  for (std::size_t i = batch; i < r.order.size(); ++i) moved.order.push_back(r.order[i] - batch);
  moved.mapped = *r.mapped - batch;
  moved.map = r.map;
  const auto flat = flat_map(moved);
  if (!flat) return;
  r.extents.resize(batch);
  r.extents.push_back(moved.elements());
  r.order.resize(batch);
  r.order.push_back(batch);
  r.mapped = batch;
  r.map = *flat;
}

void keep_one_axis(Reordering& r) {
  if (!r.extents.empty()) return;
  r.extents = {1};
  r.order = {0};
}

Reordering empty(std::uint64_t element_bytes) {
  Reordering r;
  r.element_bytes = element_bytes;
  r.extents = {0};
  r.order = {0};
  return r;
}

}  // namespace

Reordering canonical(Reordering r) {
  check(r);
  if (r.elements() == 0) return empty(r.element_bytes);
  drop_identity_map(r);
  drop_unit_axes(r);
  merge_neighbours(r);
  fold_fastest_axis(r);
  flatten_map(r);
  keep_one_axis(r);
  return r;
}

}  // namespace xorder
