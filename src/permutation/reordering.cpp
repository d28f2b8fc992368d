#include "xorder/permutation/reordering.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <boost/container/small_vector.hpp>
#include <cstdlib>
#include <functional>
#include <numeric>

#include "permutation/reordering_text.hpp"
#include "text/count_text.hpp"
#include "xorder/error.hpp"

namespace xorder {
namespace {

constexpr std::uint64_t byte_limit = std::uint64_t{1} << 63;
__extension__ using Wide = __int128;  // of strides times extents that a user makes up

std::uint64_t magnitude(std::int64_t stride) {
  const auto bits = static_cast<std::uint64_t>(stride);
  return stride < 0 ? -bits : bits;
}

// Where each axis that the user knows stands in file order, slowest first.
std::vector<int> places_in_file(const ArrayShape& shape) {
  const std::vector<int> axes = axes_in_file(shape);
  std::vector<int> places(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i) places[axes[i]] = static_cast<int>(i);
  return places;
}

// The source half of a Reordering; order and map are still to be filled in.
Reordering source_of(const ArrayShape& shape) {
  checked_bytes(shape);
  Reordering r;
  r.element_bytes = shape.element_bytes;
  for (const int axis : axes_in_file(shape)) r.extents.push_back(shape.extents[axis]);
  return r;
}

// The same axes under the same numbers, stored in C order: a copy, unless the array lies in another order.
Reordering to_c_order(const ArrayShape& shape) {
  Reordering r = source_of(shape);
  r.order = places_in_file(shape);
  return r;
}

// numpy's rule for `axes`: none means all of them reversed, negative ones count from the end.
std::vector<int> resolved_axes(const ArrayShape& shape, std::span<const int> axes) {
  const std::size_t rank = shape.extents.size();
  std::vector<int> resolved;
  if (axes.empty()) {
    resolved.resize(rank);
    std::iota(resolved.rbegin(), resolved.rend(), 0);
    return resolved;
  }
  if (axes.size() != rank) {
    throw InputError(
        fmt::format("axes {}: {} given, but the array has {}", fmt::join(axes, ","), axes.size(), rank));
  }
  for (const int given : axes) {
    const int axis = checked_axis(given, rank);
    if (std::ranges::find(resolved, axis) != resolved.end()) {
      throw InputError(fmt::format("the axes {} name axis {} twice", fmt::join(axes, ","), axis));
    }
    resolved.push_back(axis);
  }
  return resolved;
}

// Throws unless the map is a permutation of `extent` elements, the number that `what` has.
void check_map(const gf2::AffineMap& map, std::uint64_t extent, const std::string& what) {
  const int n = map.bits();
  if (map.matrix.rows() != n || (map.complement & ~gf2::low_mask(n))) {
    throw InputError(
        fmt::format("a permutation of indices needs a square matrix, not {} × {}, and a complement of "
                    "equally many bits",
                    map.matrix.rows(), n));
  }
  if (map.matrix.rank() != n) {
    throw InputError(fmt::format("the matrix is singular: its rank is {}, not {}", map.matrix.rank(), n));
  }
  if (n > 62 || extent != std::uint64_t{1} << n) {
    throw InputError(fmt::format("{} has {} elements, but the permutation needs 2^{}", what, extent, n));
  }
}

// Where each axis' bits begin in an index over the axes of `order` (slowest first), all of which are powers
// of two.
std::vector<int> lowest_bits(const std::vector<std::uint64_t>& extents, const std::vector<int>& order) {
  std::vector<int> lowest(extents.size());
  int next = 0;
  for (std::size_t i = order.size(); i-- > 0;) {
    lowest[order[i]] = next;
    next += std::countr_zero(extents[order[i]]);
  }
  return lowest;
}

}  // namespace

std::uint64_t Reordering::elements() const {
  return std::accumulate(extents.begin(), extents.end(), std::uint64_t{1}, std::multiplies<>());
}

// Written to be read: this is what every plan and every kernel is tested against. Allocates nothing up to 64
// axes, which memory/in_place/in_place_copied.cpp needs, and tests of millions of elements want.
std::uint64_t Reordering::target_index(std::uint64_t source) const {
  boost::container::small_vector<std::uint64_t, 64> coordinate(extents.size());
  for (std::size_t axis = extents.size(); axis-- > 0;) {
    coordinate[axis] = source % extents[axis];
    source /= extents[axis];
  }
  if (mapped) coordinate[*mapped] = map(coordinate[*mapped]);
  std::uint64_t target = 0;
  for (const int axis : order) target = target * extents[axis] + coordinate[axis];
  return target;
}

void check(const Reordering& r) {
  checked_bytes({.extents = r.extents, .element_bytes = r.element_bytes});
  std::vector<int> sorted = r.order;
  std::ranges::sort(sorted);
  std::vector<int> all(r.extents.size());
  std::iota(all.begin(), all.end(), 0);
  if (sorted != all) {
    throw InputError(fmt::format("the order {} of the axes is not a permutation of all {} axes",
                                 fmt::join(r.order, ","), r.extents.size()));
  }
  if (!r.mapped) return;
  if (*r.mapped < 0 || *r.mapped >= static_cast<int>(r.extents.size())) {
    throw InputError(fmt::format("there is no axis {} to map among {}", *r.mapped, r.extents.size()));
  }
  check_map(r.map, r.extents[*r.mapped], fmt::format("axis {}", *r.mapped));
}

std::vector<int> axes_in_file(const ArrayShape& shape) {
  std::vector<int> axes(shape.extents.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (!shape.strides.empty())
    std::ranges::stable_sort(axes, std::greater(), [&](int axis) { return magnitude(shape.strides[axis]); });
  else if (shape.order == Order::fortran)
    std::ranges::reverse(axes);
  return axes;
}

std::vector<std::int64_t> strides_of(const ArrayShape& shape) {
  if (!shape.strides.empty()) return shape.strides;
  std::vector<std::int64_t> strides(shape.extents.size());
  std::uint64_t step = shape.element_bytes;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    const std::size_t axis = shape.order == Order::c ? strides.size() - 1 - i : i;
    strides[axis] = static_cast<std::int64_t>(step);
    step *= std::max<std::uint64_t>(shape.extents[axis], 1);
  }
  return strides;
}

std::string wrong_strides(const ArrayShape& shape) {
  Wide reached = shape.element_bytes;  // by the axes with shorter steps
  const std::vector<int> axes = axes_in_file(shape);
  for (std::size_t i = axes.size(); i-- > 0;) {
    const std::uint64_t extent = shape.extents[axes[i]], step = magnitude(shape.strides[axes[i]]);
    if (extent == 1) continue;
    if (step < reached) {
      return fmt::format(
          "the elements overlap or interleave: a step along axis {} is {}, but what lies within it takes {}",
          axes[i], count_text(step, "byte"), static_cast<std::uint64_t>(reached));
    }
    reached += step * (Wide{extent} - 1);
    if (reached >= byte_limit) return "it reaches 2^63 bytes or more";
  }
  return "";
}

std::uint64_t checked_bytes(const ArrayShape& shape) {
  if (shape.element_bytes == 0) throw InputError("an element must have at least 1 byte");
  const bool empty = std::ranges::find(shape.extents, 0u) != shape.extents.end();
  std::uint64_t bytes = shape.element_bytes;
  bool fits = bytes < byte_limit;
  for (const std::uint64_t extent : shape.extents) {
    if (extent != 0) fits = fits && !__builtin_mul_overflow(bytes, extent, &bytes) && bytes < byte_limit;
  }
  if (!fits) {
    throw InputError(fmt::format("shape ({}) of {}-byte elements; expected less than 2^63 bytes in total{}",
                                 fmt::join(shape.extents, ", "), shape.element_bytes,
                                 empty ? ", not counting the zeros" : ""));
  }
  return empty ? 0 : bytes;
}

Reordering transposition(const ArrayShape& shape, std::span<const int> axes) {
  Reordering r = source_of(shape);
  const std::vector<int> places = places_in_file(shape);
  for (const int axis : resolved_axes(shape, axes)) r.order.push_back(places[axis]);
  return r;
}

std::vector<std::uint64_t> transposed_extents(const ArrayShape& shape, std::span<const int> axes) {
  std::vector<std::uint64_t> extents;
  for (const int axis : resolved_axes(shape, axes)) extents.push_back(shape.extents[axis]);
  return extents;
}

Reordering mapping_along(const ArrayShape& shape, int axis, const gf2::AffineMap& map) {
  const int counted = checked_axis(axis, shape.extents.size());
  check_map(map, shape.extents[counted], fmt::format("axis {}", counted));
  Reordering r = to_c_order(shape);
  r.mapped = r.order[counted];
  r.map = map;
  return r;
}

int exact_lg(std::uint64_t extent, const std::string& what) {
  if (std::has_single_bit(extent)) return std::countr_zero(extent);
  const std::string wrong = fmt::format("{} is {}, which is not a power of two", what, extent);
  if (extent == 0) throw InputError(fmt::format("{}; the nearest is 1", wrong));
  const std::uint64_t below = std::bit_floor(extent);
  if (below >= byte_limit) throw InputError(fmt::format("{}; the nearest is {}", wrong, below));
  throw InputError(fmt::format("{}; the nearest are {} and {}", wrong, below, 2 * below));
}

int checked_axis(int axis, std::size_t rank) {
  const int n = static_cast<int>(rank);
  if (n == 0) throw InputError(fmt::format("there is no axis {}: the array has no axes", axis));
  if (axis < -n || axis >= n) {
    throw InputError(
        fmt::format("there is no axis {}: the array has {}, 0 to {} (or -{} to -1)", axis, n, n - 1, n));
  }
  return axis < 0 ? axis + n : axis;
}

// Each source bit goes where its axis goes, those of the mapped axis through the map.
std::optional<gf2::AffineMap> flat_map(const Reordering& r) {
  if (!std::ranges::all_of(r.extents, [](std::uint64_t e) { return std::has_single_bit(e); }))
    return std::nullopt;
  std::vector<int> file_order(r.extents.size());
  std::iota(file_order.begin(), file_order.end(), 0);
  const std::vector<int> from = lowest_bits(r.extents, file_order);
  const std::vector<int> to = lowest_bits(r.extents, r.order);
  const int n = std::countr_zero(r.elements());
  std::vector<gf2::Word> columns(n);
  for (std::size_t axis = 0; axis < r.extents.size(); ++axis) {
    const bool mapped = r.mapped && *r.mapped == static_cast<int>(axis);
    for (int i = 0; i < std::countr_zero(r.extents[axis]); ++i) {
      columns[from[axis] + i] = (mapped ? r.map.matrix.column(i) : gf2::unit(i)) << to[axis];
    }
  }
  const gf2::Word complement = r.mapped ? r.map.complement << to[*r.mapped] : 0;
  return gf2::AffineMap{gf2::BitMatrix(n, std::move(columns)), complement};
}

namespace {

// Makes two axes of an unmapped one; the faster has the extent `fast`.
void cut(Reordering& r, std::size_t place, std::uint64_t fast) {
  const int axis = r.order[place];
  for (int& other : r.order) other += other > axis;
  if (r.mapped) *r.mapped += *r.mapped > axis;
  r.order.insert(r.order.begin() + static_cast<std::ptrdiff_t>(place) + 1, axis + 1);
  r.extents[axis] /= fast;
  r.extents.insert(r.extents.begin() + axis + 1, fast);
}

// How many axes of r's target, slowest first, make up each of these extents; nothing if that is not possible.
// Cuts axes where an extent ends within them.
std::optional<std::vector<std::size_t>> cut_into(Reordering& r, const std::vector<std::uint64_t>& extents) {
  std::vector<std::size_t> counts;
  std::size_t next = 0;
  for (const std::uint64_t extent : extents) {
    const std::size_t first = next;
    std::uint64_t left = extent;
    for (; left > 1 && next < r.order.size(); ++next) {
      const std::uint64_t whole = r.extents[r.order[next]];
      if (whole > left && whole % left == 0 && r.mapped != r.order[next]) cut(r, next, whole / left);
      const std::uint64_t slow = r.extents[r.order[next]];
      if (left % slow != 0) return std::nullopt;
      left /= slow;
    }
    if (left != 1) return std::nullopt;
    counts.push_back(next - first);
  }
  for (std::size_t rest = next; rest < r.order.size(); ++rest)
    if (r.extents[r.order[rest]] != 1) return std::nullopt;
  if (next < r.order.size() && counts.empty()) return std::nullopt;
  if (!counts.empty()) counts.back() += r.order.size() - next;
  return counts;
}

}  // namespace

Reordering stored_in(Order order, Reordering r, const std::vector<std::uint64_t>& extents) {
  std::vector<int> axes(extents.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (order == Order::fortran) std::ranges::reverse(axes);
  return stored_in(axes, std::move(r), extents);
}

Reordering stored_in(std::span<const int> axes, Reordering r, const std::vector<std::uint64_t>& extents) {
  if (std::ranges::is_sorted(axes) || r.elements() <= 1) return r;
  Reordering finer = r;
  if (const auto counts = cut_into(finer, extents)) {
    std::vector<int> order;
    for (const int axis : axes) {
      const auto begin = finer.order.begin() + std::accumulate(counts->begin(), counts->begin() + axis, 0L);
      order.insert(order.end(), begin, begin + static_cast<std::ptrdiff_t>((*counts)[axis]));
    }
    finer.order = std::move(order);
    return finer;
  }
  const auto before = flat_map(r),
             after = flat_map(transposition({extents, r.element_bytes, Order::c}, axes));
  if (!before || !after)
    throw InputError(fmt::format(
        "a result of shape ({}), which is not that of its axes, is only stored in C order, and only split "
        "along the first of them",
        fmt::join(extents, ", ")));
  return {r.element_bytes, {r.elements()}, {0}, 0, *after * *before};
}

// A Fortran-ordered array's extents divide 2^n, so that reading it in C order is a map as well.
Reordering mapping_of_all(const ArrayShape& shape, const gf2::AffineMap& map) {
  const Reordering layout = to_c_order(shape);
  check_map(map, layout.elements(), "the array");
  Reordering r;
  r.element_bytes = shape.element_bytes;
  r.extents = {layout.elements()};
  r.order = {0};
  r.mapped = 0;
  r.map = map * *flat_map(layout);
  return r;
}

std::string text_of(const Reordering& what) {
  const std::string text = fmt::format("{} bytes, axes {} in the order {}", what.element_bytes,
                                       fmt::join(what.extents, " "), fmt::join(what.order, " "));
  if (!what.mapped) return text;
  return fmt::format("{}, axis {} by {} and {}", text, *what.mapped,
                     fmt::join(what.map.matrix.columns(), " "), what.map.complement);
}

}  // namespace xorder
