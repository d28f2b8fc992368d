// The descr of an .npy header: a type string, or a list of the fields of a structured type.
#pragma once

#include <cstdint>

#include "io/python_literal.hpp"
#include "xorder/io/dtype.hpp"

namespace xorder::io {

/// An extent of an array or of a subarray within an element. Throws InputError, one line without a path, for
/// what is no integer of 0 to 2^63 − 1.
std::uint64_t parse_extent(const Literal& extent);

/// The type and its size. Fields are (name, type) or (name, type, extents of a subarray), a name may be
/// (title, name), and a type may be a string, a list of fields again, or a subarray (type, extents). They lie
/// in the element one after the other; padding is a nameless field V<n>. Throws InputError, one line without
/// a path, for other things, Python objects anywhere, names that occur twice, and elements of no or more than
/// max_element_bytes bytes.
DType parse_descr(Literal descr);

}  // namespace xorder::io
