// Other arrays in the same bytes, as in NumPy: a selection, a reshape, a field, numbers in another byte
// order. Nothing is read: a view is another description. Each function does what NumPy does. Where NumPy
// raises an error it throws InputError, one line without a path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "xorder/io/array_file.hpp"

namespace xorder::io {

/// An index of NumPy's basic indexing, without None.
struct Index {
  enum class Kind { slice, integer, ellipsis };
  Kind kind = Kind::slice;
  std::optional<std::int64_t> start{}, stop{}, step{};  ///< of a slice; an integer is the start
};

/// array[indices].
ArrayDescription selected(ArrayDescription array, std::span<const Index> indices);

/// numpy.reshape(array, extents, order='A'): elements are counted in Fortran order if the array lies in it,
/// otherwise in C order. The extent of `inferred_axis` follows from the others. Throws for an array whose
/// elements do not follow each other, which NumPy would copy.
ArrayDescription reshaped(const ArrayDescription& array, std::vector<std::uint64_t> extents,
                          std::optional<std::size_t> inferred_axis = {});

/// array['a'] for "a", array['a']['b'] for "a.b", and for "a,b" the fields of array[['a', 'b']] packed, in
/// this order.
ArrayDescription field_of(ArrayDescription array, std::string_view names);

enum class ByteOrder { little, big, native };
/// The same values with their numbers in this byte order: array.astype(array.dtype.newbyteorder(order)), also
/// for the fields of structures. Throws for types of more than a byte that NumPy itself does not know, and
/// for elements of more than 64 KiB.
ArrayDescription in_byte_order(ArrayDescription array, ByteOrder order);

}  // namespace xorder::io
