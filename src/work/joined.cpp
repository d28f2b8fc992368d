#include "work/joined.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "xorder/error.hpp"

namespace xorder::work {
namespace {

// The axes in the order in which they lie in the file, but `except` and those that have no steps.
std::vector<int> long_axes(const io::ArrayDescription& array, std::optional<std::size_t> except = {}) {
  std::vector<int> axes = array.axes_in_file();
  std::erase_if(axes, [&](int axis) {
    const auto i = static_cast<std::size_t>(axis);
    return i == except || array.extents[i] == 1;
  });
  return axes;
}

bool is_slowest(const io::ArrayDescription& array, std::size_t axis) {
  const std::vector<int> axes = long_axes(array);
  return array.elements() == 0 || array.extents[axis] == 1 || axes.front() == static_cast<int>(axis);
}

// Throws unless `input` is as `first`; but extents along the axis `ragged` may differ.
void check_alike(const io::ArrayFile& input, const io::ArrayFile& first, std::optional<std::size_t> ragged) {
  const auto refuse = [&](const char* what, const auto& is, const auto& expected) {
    throw InputError(fmt::format("{}: its {} {}, that of {} {}", input.path.string(), what, is,
                                 first.path.string(), expected));
  };
  const io::ArrayDescription &a = input.description, &b = first.description;
  std::vector<std::uint64_t> extents = a.extents;
  if (ragged && extents.size() == b.extents.size()) extents[*ragged] = b.extents[*ragged];
  if (a.dtype != b.dtype) refuse("type is", a.dtype.descr, b.dtype.descr);
  const auto list = [](const auto& items) { return fmt::format("({})", fmt::join(items, ", ")); };
  if (extents != b.extents) refuse("shape is", list(a.extents), list(b.extents));
  const std::vector<int> mine = long_axes(a, ragged), others = long_axes(b, ragged);
  if (a.elements() > 0 && b.elements() > 0 && mine != others)
    refuse("axes lie in the order", list(mine), list(others));
}

}  // namespace

std::vector<std::uint64_t> Joined::extents() const {
  std::vector<std::uint64_t> all = shape.extents;
  if (cut) {
    all[*cut] *= all[*cut + 1];
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(*cut) + 1);
  }
  return all;
}

Reordering Joined::transposition(std::span<const int> axes) const {
  const std::vector<int> order =
      xorder::transposition({extents(), shape.element_bytes, Order::c}, axes).order;
  std::vector<int> all;
  const int k = cut ? static_cast<int>(*cut) : std::numeric_limits<int>::max();
  for (const int axis : order) {
    all.push_back(axis > k ? axis + 1 : axis);
    if (axis == k) all.push_back(k + 1);
  }
  return xorder::transposition(shape, all);
}

Reordering Joined::mapping_along(int axis, const gf2::AffineMap& map) const {
  const int counted = checked_axis(axis, extents().size());
  if (!cut) return xorder::mapping_along(shape, counted, map);
  const int k = static_cast<int>(*cut);
  if (counted == k)
    throw InputError(fmt::format(
        "axis {} is that of {}, and not the slowest in the files; concatenate into one file first", counted,
        name));
  return xorder::mapping_along(shape, counted > k ? counted + 1 : counted, map);
}

Joined joined(std::span<const io::ArrayFile> inputs, const Joining& how) {
  const auto has_elements = [](const io::ArrayFile& input) { return input.description.elements() > 0; };
  const auto found = std::ranges::find_if(inputs, has_elements);
  const io::ArrayFile& first = found == inputs.end() ? inputs.front() : *found;
  const io::ArrayDescription& array = first.description;
  std::size_t k = 0;
  try {
    k = static_cast<std::size_t>(checked_axis(how.axis, array.extents.size() + (how.stacked ? 1 : 0)));
  } catch (const InputError& e) {
    throw InputError(fmt::format("{}: {}", how.name, e.what()));
  }
  std::optional<std::size_t> ragged;
  if (!how.stacked) ragged = k;
  for (const io::ArrayFile& input : inputs) check_alike(input, first, ragged);
  constexpr std::int64_t from_file_to_file = std::numeric_limits<std::int64_t>::max();  // the longest step
  Joined all{{array.extents, array.dtype.bytes, Order::c, array.strides}, std::nullopt, how.name};
  const auto slowest = [k](const io::ArrayFile& input) { return is_slowest(input.description, k); };
  if (!how.stacked && std::ranges::all_of(inputs, slowest)) {
    all.shape.extents[k] = 0;
    for (const io::ArrayFile& input : inputs) all.shape.extents[k] += input.description.extents[k];
    all.shape.strides[k] = from_file_to_file;
    return all;
  }
  if (!how.stacked) {
    for (const io::ArrayFile& input : inputs) check_alike(input, first, std::nullopt);
    all.cut = k;
  }
  const auto at = static_cast<std::ptrdiff_t>(k);
  all.shape.extents.insert(all.shape.extents.begin() + at, inputs.size());
  all.shape.strides.insert(all.shape.strides.begin() + at, from_file_to_file);
  return all;
}

}  // namespace xorder::work
