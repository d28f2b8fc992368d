// Element types, as NumPy writes them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace xorder::io {

/// A fixed-size element type. xorder moves elements without looking into them, so a type is its size and the
/// text that describes it.
struct DType {
  std::uint64_t bytes = 1;
  /// NumPy's description as a Python literal, carried through unchanged: '<f8' with its quotes, or a list of
  /// fields.
  std::string descr = "'|u1'";

  bool operator==(const DType&) const = default;
};

/// The most bytes an element may have: NumPy keeps the size of one in a C int.
inline constexpr std::uint64_t max_element_bytes = (std::uint64_t{1} << 31) - 1;

/// A type string as a user gives it: [<>=|]u1 u2 u4 u8 i1 i2 i4 i8 f2 f4 f8 f16 c8 c16 c32 b1 ?, S<n>, U<n>,
/// V<n>, M8[unit], m8[unit]; no order character means the machine's. f16 and c32 are the machine's long
/// double, 16 bytes a number; U takes 4 bytes a character. The descr is as NumPy writes it: '|u1', '<f8',
/// '|V24', '<M8[25s]'. Throws InputError, one line, listing the types for one that is unknown, and saying why
/// for object types, for types of no bytes and for those of more than max_element_bytes. Structured types
/// come from .npy headers only; a raw file's records are V<n>.
DType parse_dtype(std::string_view text);

/// A type of one number, as this machine has them but for the byte order.
struct NumberType {
  char kind = 0;  ///< as NumPy says it: b i u f c; 0 for everything else
  std::uint64_t bytes = 0;
  bool swapped = false;
};

/// What kind of number an element is.
NumberType number_type(const DType& dtype);

}  // namespace xorder::io
