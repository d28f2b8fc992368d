// The descr of an .npy header: a type string, or a list of the fields of a structured type.
#pragma once

#include <cstdint>

#include "io/format/python_literal.hpp"
#include "xorder/io/dtype.hpp"

namespace xorder::io {

/// An extent of an array or of a subarray within an element. Throws InputError, one line without a path,
/// unless it is an integer from 0 to 2^63 − 1.
std::uint64_t parse_extent(const Literal& extent);

/// The type and its size. Fields are (name, type) or (name, type, extents of a subarray). A name may be
/// (title, name). A type may be a string, a list of fields, or a subarray (type, extents). The fields follow
/// each other in the element; padding is a nameless field V<n>. Throws InputError, one line without a path,
/// for anything else, for Python objects anywhere, for names that occur twice, and for elements of no bytes
/// or of more than max_element_bytes.
DType parse_descr(Literal descr);

}  // namespace xorder::io
