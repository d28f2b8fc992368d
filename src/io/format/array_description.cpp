#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "text/count_text.hpp"
#include "xorder/error.hpp"
#include "xorder/io/array_file.hpp"

namespace xorder::io {
namespace {

using std::uint64_t;
__extension__ using Wide = __int128;  // of strides times extents that a user makes up

// The first and the last byte of the array, counted from its offset.
struct Reach {
  Wide first = 0, last = 0;
};

Reach reach(const ArrayDescription& array) {
  Reach r{0, array.stored_bytes()};
  for (std::size_t i = 0; i < array.extents.size(); ++i) {
    const Wide far = Wide{array.strides[i]} * (Wide{array.extents[i]} - 1);
    (far < 0 ? r.first : r.last) += far;
  }
  return r;
}

bool is_empty(const ArrayDescription& array) {
  return std::ranges::find(array.extents, 0u) != array.extents.end();
}

}  // namespace

ArrayDescription ArrayDescription::contiguous(DType dtype, std::vector<uint64_t> extents, Order order,
                                              uint64_t offset) {
  std::vector<std::int64_t> strides = strides_of({extents, dtype.bytes, order});
  return {std::move(dtype), std::move(extents), std::move(strides), offset};
}

bool ArrayDescription::is_contiguous(Order order) const {
  if (is_empty(*this)) return true;
  const auto expected = strides_of({extents, dtype.bytes, order});
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] > 1 && strides[i] != expected[i]) return false;
  }
  return pieces.empty();
}

Order ArrayDescription::order() const {
  for (const Order order : {Order::c, Order::fortran}) {
    if (strides == strides_of({extents, dtype.bytes, order})) return order;
  }
  return !is_contiguous(Order::c) && is_contiguous(Order::fortran) ? Order::fortran : Order::c;
}

ArrayShape ArrayDescription::shape() const {
  const Order kept = order();
  if (is_contiguous(kept)) return {extents, dtype.bytes, kept};
  return {extents, dtype.bytes, Order::c, strides};
}

uint64_t ArrayDescription::stored_bytes() const {
  uint64_t bytes = pieces.empty() ? dtype.bytes : 0;
  for (const ElementPiece& piece : pieces) bytes = std::max(bytes, piece.offset + piece.bytes);
  return bytes;
}

uint64_t ArrayDescription::begin() const {
  return is_empty(*this) ? offset : static_cast<uint64_t>(Wide{offset} + reach(*this).first);
}

uint64_t ArrayDescription::end() const {
  return is_empty(*this) ? offset : static_cast<uint64_t>(Wide{offset} + reach(*this).last);
}

void check_layout(const ArrayDescription& array, uint64_t file_bytes, const std::string& name) {
  if (is_empty(array)) return;
  const auto refuse = [&](const std::string& reason) {
    throw InputError(fmt::format("{}: shape ({}) with strides ({}) of {} at offset {}: {}", name,
                                 fmt::join(array.extents, ", "), fmt::join(array.strides, ", "),
                                 count_text(array.stored_bytes(), "byte"), array.offset, reason));
  };
  const Reach whole = reach(array);
  if (whole.first < -Wide{array.offset})
    refuse(fmt::format("begins {} before the file",
                       count_text(static_cast<uint64_t>(-whole.first) - array.offset, "byte")));
  if (Wide{array.offset} + whole.last > Wide{file_bytes})
    refuse(fmt::format("ends at byte {}, the file has {}",
                       static_cast<uint64_t>(Wide{array.offset} + whole.last), file_bytes));
  const std::string wrong = wrong_strides({array.extents, array.stored_bytes(), Order::c, array.strides});
  if (!wrong.empty()) refuse(wrong);
}

}  // namespace xorder::io
