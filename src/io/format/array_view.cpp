#include "xorder/io/array_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <utility>

#include "text/count_text.hpp"
#include "io/format/npy.hpp"
#include "io/format/structured_type.hpp"
#include "io/format/type_string.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

using std::int64_t;
using std::uint64_t;
using LiteralKind = Literal::Kind;

// --- basic indexing

struct Steps {
  int64_t start = 0, step = 1;
  uint64_t length = 0;
};

// As PySlice_AdjustIndices().
Steps steps_of(const Index& slice, uint64_t extent) {
  const auto n = static_cast<int64_t>(extent);
  const int64_t step = std::max(slice.step.value_or(1), -std::numeric_limits<int64_t>::max());
  if (step == 0) throw InputError("slice step cannot be zero");
  const bool back = step < 0;
  const auto adjusted = [&](const std::optional<int64_t>& given, int64_t otherwise) {
    if (!given) return otherwise;
    if (*given < 0) return std::max<int64_t>(*given + n, back ? -1 : 0);
    return std::min(*given, back ? n - 1 : n);
  };
  const int64_t start = adjusted(slice.start, back ? n - 1 : 0), stop = adjusted(slice.stop, back ? -1 : n);
  const int64_t distance = back ? start - stop : stop - start;
  if (distance <= 0) return {0, 1, 0};
  return {start, step, static_cast<uint64_t>((distance - 1) / (back ? -step : step) + 1)};
}

uint64_t moved(uint64_t offset, int64_t steps, int64_t stride) {
  return offset + static_cast<uint64_t>(steps) * static_cast<uint64_t>(stride);  // modulo 2^64, as it must
}

// NumPy's order 'A'. For NumPy the elements of several fields keep what lies between them.
Order order_of_elements(ArrayDescription array) {
  if (!array.pieces.empty()) {
    array.pieces.clear();
    uint64_t pitch = std::numeric_limits<uint64_t>::max();
    for (const int64_t stride : array.strides)
      pitch = std::min(pitch, static_cast<uint64_t>(std::abs(stride)));
    array.dtype.bytes = pitch;
  }
  return array.is_contiguous(Order::c) || !array.is_contiguous(Order::fortran) ? Order::c : Order::fortran;
}

// Sets the strides of `to`, which has as many elements, so that it is `from` reshaped in this order. False if
// no strides do. As NumPy's _attempt_nocopy_reshape(): the axes of both are taken together until equally many
// elements are.
bool restride(const ArrayDescription& from, Order order, ArrayDescription& to) {
  if (to.elements() == 0) return true;
  std::vector<std::pair<uint64_t, int64_t>> old;  // extents and strides, fastest first
  for (std::size_t i = from.extents.size(); i-- > 0;) {
    if (from.extents[i] > 1) old.emplace_back(from.extents[i], from.strides[i]);
  }
  std::vector<std::size_t> axes;  // of the result, fastest first
  for (std::size_t i = to.extents.size(); i-- > 0;) axes.push_back(i);
  if (order == Order::fortran) {
    std::ranges::reverse(old);
    std::ranges::reverse(axes);
  }
  auto next = old.begin();
  int64_t stride = 0;  // of the next axis, if elements are left of those taken
  uint64_t left = 1;
  for (const std::size_t axis : axes) {
    uint64_t extent = to.extents[axis];
    if (extent == 1) continue;
    if (left == 1) left = next->first, stride = next->second, ++next;
    to.strides[axis] = stride;
    while (left % extent != 0) {  // goes on along the next old axis
      if (next == old.end() || next->second != stride * static_cast<int64_t>(left)) return false;
      left *= next->first;
      ++next;
    }
    left /= extent;
    stride *= static_cast<int64_t>(extent);
  }
  return true;
}

// --- structured types

Literal type_of(const DType& dtype) { return parse_literal(from_utf8(dtype.descr)); }

// A field, or a subarray within one.
struct Field {
  uint64_t offset = 0;
  Literal type;
  std::vector<uint64_t> extents;  // of a subarray
};

Field field_at(uint64_t offset, const Literal& field) {
  Field result{offset, field.items[1], {}};
  const auto add_axes = [&](const Literal& extents) {
    if (extents.is(LiteralKind::integer))
      result.extents.push_back(parse_extent(extents));
    else
      for (const Literal& extent : extents.items) result.extents.push_back(parse_extent(extent));
  };
  if (field.items.size() == 3) add_axes(field.items[2]);
  while (result.type.is(LiteralKind::tuple)) {  // (type, extents)
    add_axes(result.type.items[1]);
    Literal base = std::move(result.type.items[0]);
    result.type = std::move(base);
  }
  return result;
}

uint64_t bytes_of(const Literal& type) {
  if (type.is(LiteralKind::string)) return parse_type_string(to_utf8(type.text)).bytes;
  uint64_t bytes = 0;
  for (const Literal& each : type.items) {
    const Field field = field_at(0, each);
    uint64_t size = bytes_of(field.type);
    for (const uint64_t extent : field.extents) size *= extent;
    bytes += size;
  }
  return bytes;
}

bool is_named(const Literal& field, std::u32string_view name) {
  const Literal& names = field.items[0];
  if (names.is(LiteralKind::string)) return names.text == name;
  return std::ranges::any_of(
      names.items, [&](const Literal& each) { return each.is(LiteralKind::string) && each.text == name; });
}

std::string names_of(const Literal& type) {
  std::vector<std::string> names;
  for (const Literal& field : type.items) {
    const Literal& name = field.items[0];
    const Literal& plain = name.is(LiteralKind::tuple) ? name.items[1] : name;
    if (!plain.text.empty()) names.push_back(to_python(plain));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// The field's literal in the list, and where it begins in the element.
std::pair<uint64_t, const Literal*> find(const Literal& type, std::string_view name) {
  if (!type.is(LiteralKind::list))
    throw InputError(fmt::format("there is no field {}: the type {} has no fields", excerpt(name),
                                 excerpt(to_python(type))));
  uint64_t offset = 0;
  for (const Literal& field : type.items) {
    if (!name.empty() && is_named(field, from_utf8(name))) return {offset, &field};
    Literal one;
    one.kind = LiteralKind::list;
    one.items = {field};
    offset += bytes_of(one);
  }
  throw InputError(fmt::format("there is no field {}; there are {}", excerpt(name), names_of(type)));
}

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

ArrayDescription one_field(ArrayDescription array, std::string_view name) {
  const Literal type = type_of(array.dtype);
  const auto [offset, literal] = find(type, name);
  Field field = field_at(offset, *literal);
  array.offset += offset;
  array.dtype = parse_descr(std::move(field.type));
  // The axes of a subarray come behind those of the array.
  const auto inner = ArrayDescription::contiguous(array.dtype, std::move(field.extents), Order::c, 0);
  array.extents.insert(array.extents.end(), inner.extents.begin(), inner.extents.end());
  array.strides.insert(array.strides.end(), inner.strides.begin(), inner.strides.end());
  check_rank(array.extents.size());
  return array;
}

// Tiles cut larger elements anywhere.
constexpr uint64_t most_taken_apart = 64 * 1024;

void check_taken_apart(const DType& dtype) {
  if (dtype.bytes > most_taken_apart)
    throw InputError(fmt::format("elements of {} are too large to be taken apart; the most are {}",
                                 count_text(dtype.bytes, "byte"), most_taken_apart));
}

// --- byte orders

bool is_little(ByteOrder order) {
  return order == ByteOrder::little ||
         (order == ByteOrder::native && std::endian::native == std::endian::little);
}

// Rewrites the type for the other byte order. Lists the pieces of an element, all of them.
class Turned {
 public:
  explicit Turned(char order) : order_(order) {}

  void turn(Literal& type) {
    if (type.is(LiteralKind::string)) return turn_simple(type, 1);
    for (Literal& each : type.items) {
      const uint64_t count = elements(field_at(0, each));
      Literal* inner = &each.items[1];
      while (inner->is(LiteralKind::tuple)) {
        Literal* const base = &inner->items[0];
        inner = base;
      }
      if (inner->is(LiteralKind::string))
        turn_simple(*inner, count);
      else
        turn_many(*inner, count);
    }
  }
  const std::vector<ElementPiece>& pieces() const { return pieces_; }

 private:
  static uint64_t elements(const Field& field) {
    uint64_t count = 1;
    for (const uint64_t extent : field.extents) count *= extent;
    return count;
  }

  void turn_many(Literal& type, uint64_t count) {
    const Literal before = type;
    for (uint64_t i = 0; i < count; ++i) {
      Literal each = before;
      turn(each);
      if (i + 1 == count) type = std::move(each);
    }
  }

  // Types of 'count' numbers that follow each other.
  void turn_simple(Literal& type, uint64_t count) {
    const std::string text = to_utf8(type.text);
    const uint64_t bytes = parse_type_string(text).bytes, number = number_bytes(text, bytes);
    const bool turns = number > 1 && text[0] != order_;
    if (turns) type.text[0] = static_cast<char32_t>(order_);
    add(bytes * count, turns ? number : 1);
  }

  // What changes its byte order as a whole; 1: nothing.
  static uint64_t number_bytes(const std::string& text, uint64_t bytes) {
    const char kind = text[1];
    if (bytes <= 1 || kind == 'S' || kind == 'V') return 1;
    if (kind == 'U') return 4;
    try {
      parse_dtype(text);
    } catch (const InputError&) {
      throw InputError(fmt::format("the type {} is not NumPy's own: nobody knows what its byte order means",
                                   excerpt(text)));
    }
    return kind == 'c' ? bytes / 2 : bytes;
  }

  void add(uint64_t bytes, uint64_t reversed) {
    if (bytes == 0) return;
    if (!pieces_.empty() && pieces_.back().reversed == reversed)
      pieces_.back().bytes += bytes;
    else
      pieces_.push_back({end_, bytes, reversed});
    end_ += bytes;
  }

  char order_;
  std::vector<ElementPiece> pieces_;
  uint64_t end_ = 0;
};

// The pieces `of` an element that itself consists of pieces of a stored one.
std::vector<ElementPiece> composed(const std::vector<ElementPiece>& stored,
                                   const std::vector<ElementPiece>& of) {
  if (stored.empty()) return of;
  std::vector<ElementPiece> result;
  auto next = of.begin();
  uint64_t done = 0;  // of *next
  for (const ElementPiece& piece : stored) {
    for (uint64_t at = 0; at < piece.bytes;) {
      const uint64_t bytes = std::min(piece.bytes - at, next->bytes - done);
      result.push_back({piece.offset + at, bytes, next->reversed});
      at += bytes;
      done += bytes;
      if (done == next->bytes) ++next, done = 0;
    }
  }
  return result;
}

}  // namespace

ArrayDescription selected(ArrayDescription array, std::span<const Index> indices) {
  const std::size_t rank = array.extents.size();
  const auto ellipses =
      static_cast<std::size_t>(std::ranges::count(indices, Index::Kind::ellipsis, &Index::kind));
  if (ellipses > 1) throw InputError("an index can only have a single ellipsis ('...')");
  const std::size_t named = indices.size() - ellipses;
  if (named > rank)
    throw InputError(
        fmt::format("too many indices for array: array is {}-dimensional, but {} were indexed", rank, named));
  ArrayDescription result{array.dtype, {}, {}, array.offset, array.pieces};
  std::size_t axis = 0;
  const auto keep = [&](std::size_t count) {
    for (; count > 0; --count, ++axis) {
      result.extents.push_back(array.extents[axis]);
      result.strides.push_back(array.strides[axis]);
    }
  };
  for (const Index& index : indices) {
    if (index.kind == Index::Kind::ellipsis) {
      keep(rank - named);
      continue;
    }
    const int64_t stride = array.strides[axis];
    const uint64_t extent = array.extents[axis];
    if (index.kind == Index::Kind::integer) {
      const int64_t given = index.start.value_or(0),
                    at = given < 0 ? given + static_cast<int64_t>(extent) : given;
      if (at < 0 || at >= static_cast<int64_t>(extent))
        throw InputError(
            fmt::format("index {} is out of bounds for axis {} with size {}", given, axis, extent));
      result.offset = moved(result.offset, at, stride);
    } else {
      const Steps steps = steps_of(index, extent);
      result.offset = moved(result.offset, steps.start, stride);
      result.extents.push_back(steps.length);
      result.strides.push_back(steps.length > 1 ? steps.step * stride : stride);
    }
    ++axis;
  }
  keep(rank - axis);
  return result;
}

ArrayDescription reshaped(const ArrayDescription& array, std::vector<uint64_t> extents,
                          std::optional<std::size_t> inferred_axis) {
  const auto cannot = [&](const std::vector<uint64_t>& shape) {
    std::vector<std::string> texts;
    for (const uint64_t extent : shape) texts.push_back(std::to_string(extent));
    if (inferred_axis) texts[*inferred_axis] = "-1";
    return InputError(fmt::format("cannot reshape array of size {} into shape ({}{})", array.elements(),
                                  fmt::join(texts, ","), texts.size() == 1 ? "," : ""));
  };
  check_rank(extents.size());
  if (inferred_axis) {
    uint64_t& inferred = extents[*inferred_axis];
    inferred = 1;
    const uint64_t others = checked_bytes({extents, 1, Order::c});
    if (others == 0 || array.elements() % others != 0) throw cannot(extents);
    inferred = array.elements() / others;
  }
  if (checked_bytes({extents, 1, Order::c}) != array.elements()) throw cannot(extents);
  const Order order = order_of_elements(array);
  ArrayDescription result =
      ArrayDescription::contiguous(array.dtype, std::move(extents), order, array.offset);
  result.pieces = array.pieces;
  if (!restride(array, order, result)) {
    throw InputError(fmt::format(
        "only NumPy's copy could have the shape ({}): the elements have gaps where it merges axes",
        fmt::join(result.extents, ", ")));
  }
  return result;
}

ArrayDescription field_of(ArrayDescription array, std::string_view names) {
  const auto fields = parts_of(names, ',');
  if (fields.size() == 1) {
    for (const std::string_view name : parts_of(names, '.')) array = one_field(std::move(array), name);
    return array;
  }
  const Literal type = type_of(array.dtype);
  Literal packed;
  packed.kind = LiteralKind::list;
  for (const std::string_view name : fields) {
    const auto [offset, literal] = find(type, name);
    Literal one;
    one.kind = LiteralKind::list;
    one.items = {*literal};
    array.pieces.push_back({offset, bytes_of(one)});
    packed.items.push_back(*literal);
  }
  array.dtype = parse_descr(std::move(packed));
  check_taken_apart(array.dtype);
  return array;
}

ArrayDescription in_byte_order(ArrayDescription array, ByteOrder order) {
  Turned turned(is_little(order) ? '<' : '>');
  Literal type = type_of(array.dtype);
  if (array.dtype.bytes <= most_taken_apart || type.is(LiteralKind::string)) {
    turned.turn(type);
    if (std::ranges::all_of(turned.pieces(), [](const ElementPiece& piece) { return piece.reversed == 1; }))
      return array;
  }
  check_taken_apart(array.dtype);
  array.pieces = composed(array.pieces, turned.pieces());
  array.dtype.descr = to_python(type);
  return array;
}

}  // namespace xorder::io
