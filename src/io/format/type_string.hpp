// NumPy's type strings, such as <f8, of arrays and of fields of structured types.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace xorder::io {

struct TypeString {
  std::uint64_t bytes = 0;
  std::string canonical;  // as NumPy writes it, without quotes
};

/// Like parse_dtype, but accepts types of no bytes, which a structured type may contain, and types that NumPy
/// does not know but whose size their string tells: a byte order, a letter and the size in bytes, such as
/// <f1 and <g2 of ml_dtypes. These are kept as they are written.
TypeString parse_type_string(std::string_view text);

}  // namespace xorder::io
