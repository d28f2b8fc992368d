// The simplifications that canonical() is made of, one function each.
#include <algorithm>

#include "xorder/permutation/reordering.hpp"

namespace xorder {
namespace {

// An axis that is fastest on both sides is moved as part of the element as long as that is no larger than
// this: enough for any device's requests, and little enough to leave tiles of many elements.
constexpr std::uint64_t largest_folded_element = 64 * 1024;

int rank_of(const Reordering& r) { return static_cast<int>(r.extents.size()); }
bool is_mapped(const Reordering& r, int axis) { return r.mapped && *r.mapped == axis; }

// Takes out an unmapped axis; those behind it move up by one.
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

// No mapped axis is among them: a map of one element is the identity.
void drop_unit_axes(Reordering& r) {
  for (int axis = rank_of(r); axis-- > 0;) {
    if (r.extents[axis] == 1) erase_axis(r, axis);
  }
}

// Axes that follow each other in the source and in the target move as one.
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

// How many of the slowest axes stay where they are, unmapped: the rest is done to each of their coordinates
// alike.
int batch_axes(const Reordering& r) {
  int batch = 0;
  while (batch < rank_of(r) && r.order[batch] == batch && !is_mapped(r, batch)) ++batch;
  return batch;
}

// Axes that move, one of them mapped, all powers of two: one map does it all. Batch axes need not be powers
// of two, and axes that do not move are left alone.
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
