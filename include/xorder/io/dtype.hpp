// Element types in NumPy's notation.
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

/// Parses a type string of a user, as numpy.dtype() does: [<>=|]u1 u2 u4 u8 i1 i2 i4 i8 f2 f4 f8 f16 c8 c16
/// c32 b1, S<n>, U<n>, V<n>, M8[unit], m8[unit], a single letter such as ? or d, or a name such as bool,
/// int32, float64, double or complex128. No order character means the machine's byte order. f16 and c32 are
/// the machine's long double, 16 bytes per number. U takes 4 bytes per character. The descr is as NumPy
/// writes it: '|u1', '<f8', '|V24', '<M8[25s]'. Throws InputError, one line. It lists the known types for an
/// unknown one, and gives the reason for object types, types of no bytes and types of more than
/// max_element_bytes. Structured types and types that only others know (<f1) come from .npy headers only; a
/// raw file's records are V<n>.
DType parse_dtype(std::string_view text);

/// A type of a single number. This machine supports it, apart from the byte order.
struct NumberType {
  char kind = 0;  ///< NumPy's letter: b i u f c; 0 for everything else
  std::uint64_t bytes = 0;
  bool swapped = false;
};

/// What kind of number an element is.
NumberType number_type(const DType& dtype);

}  // namespace xorder::io
