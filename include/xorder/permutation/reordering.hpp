// The task, independent of files and machine: a reordering of the elements of an N-d array.
//
// Two families of permutations meet here.
//
// - An *axis permutation* stores the axes of an array in another order. Its extents are arbitrary: any
//   transposition of any shape.
//
// - A *BMMC permutation* (bit-matrix-multiply/complement: Cormen, Sundquist and Wisniewski, SIAM J. Comput.
//   28, 1998) sends element x to A x ⊕ c, where x is read as a vector of n bits. It needs 2^n elements, and
//   mixes the bits of their indices freely.
//
// A Reordering is an axis permutation in which the coordinate along one axis may also go through such a map.
// It has three parts: the extents of the source as they lie in its file, slowest axis first; the order in
// which the target holds the same axes, also slowest first; and, optionally, one axis whose coordinate is
// mapped.
//
// Example 1: the transposition of a 2 × 3 matrix has extents {2, 3} and order {1, 0}. The file a b c d e f
// becomes
//
//     a b c        a d
//     d e f   to   b e ,    that is the file a d b e c f.
//                  c f
//
// The element at linear index 5 (f) has coordinates (1, 2). In the order {1, 0} they read (2, 1), in a 3 × 2
// target, which is linear index 2·2 + 1 = 5. The element at index 1 (b), at (0, 1), goes to (1, 0) and
// index 2.
//
// Example 2: bit reversal of each row of a 2 × 4 matrix has extents {2, 4}, order {0, 1} and axis 1 mapped by
// x1 x0 -> x0 x1. The file a b c d e f g h becomes a c b d e g f h. Axis 0 is only a batch: its extent can be
// anything, which is why a mapped axis is more than a map of the whole index.
//
// Example 3: a Fortran-ordered array of shape (2, 3) has its first axis fastest: its file holds a 3 × 2 array
// in C order. Storing it in C order is the transposition of that, extents {3, 2} and order {1, 0}. So Fortran
// order needs no case of its own: it only changes the order in which the axes are written down here, and the
// functions below that take an ArrayShape see to that.
//
// Where both families apply they agree: with extents 2^p and 2^q, example 1 is the map that rotates the p+q
// index bits by p, and flat_map() gives it.
//
// One reordering can be written in many ways. canonical() gives the one with the fewest axes, from which
// plans are made: the rows of a (10, 20, 3, 8) array of bytes exchanged by axes (1, 0, 2, 3) are a 10 × 20
// transposition of 24-byte elements.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "xorder/gf2/affine_map.hpp"

namespace xorder {

/// How an array's axes lie in its file: c has the last axis fastest, fortran the first.
enum class Order { c, fortran };

struct Reordering {
  /// At least 1. Elements are moved whole, whatever they hold.
  std::uint64_t element_bytes = 1;
  /// The source's extents in the order in which they lie in the file, slowest axis first; 0 is allowed. The
  /// product of the others times element_bytes is below 2^63.
  std::vector<std::uint64_t> extents;
  /// The target's axes, slowest first, each the number of a source axis. A permutation of 0 ..
  /// extents.size()−1.
  std::vector<int> order;
  /// The axis whose coordinate x becomes map(x) in the target; its extent is 2^map.bits().
  std::optional<int> mapped;
  gf2::AffineMap map;

  /// The product of the extents: 1 if there are none.
  std::uint64_t elements() const;
  std::uint64_t bytes() const { return elements() * element_bytes; }
  /// The definition: where element `source` (a linear index into the source) lies in the target. Requires
  /// source < elements(). Slow; meant for tests.
  std::uint64_t target_index(std::uint64_t source) const;
  bool operator==(const Reordering&) const = default;
};

/// Throws InputError unless r is as its fields' comments require and its map, if there is one, is
/// nonsingular. The reorderings that the functions below return pass; canonical() checks its argument.
void check(const Reordering& r);

/// An array's shape as its users number it, and the bytes of one element.
struct ArrayShape {
  std::vector<std::uint64_t> extents;
  std::uint64_t element_bytes = 1;
  Order order = Order::c;
  /// Bytes from one element to the next along each axis, if the axes lie in the file in another order than
  /// `order` says, with gaps, or backwards (negative). A Reordering takes only the order of the axes from
  /// this: the axes with longer steps are the slower ones. Gaps and direction are up to whoever reads.
  std::vector<std::int64_t> strides{};
};

/// The axes as they lie in the file, slowest first.
std::vector<int> axes_in_file(const ArrayShape& shape);
/// shape.strides or, if there are none, those of an array without gaps.
std::vector<std::int64_t> strides_of(const ArrayShape& shape);
/// Why an array cannot have these strides, or an empty text: elements overlap; or axes are not nested, so
/// that a step along one does not pass by all that the axes with shorter steps reach; or the whole reaches
/// 2^63 bytes. Requires a stride for each axis and no extent of 0.
std::string wrong_strides(const ArrayShape& shape);

/// The product of the extents times element_bytes. Throws InputError if that is 2^63 or more, or
/// element_bytes is 0. An extent of 0 makes the result 0; the product of the other extents is still checked,
/// as in NumPy, so that no product of extents overflows later.
std::uint64_t checked_bytes(const ArrayShape& shape);

/// numpy.transpose(a, axes) stored in C order: axis j of the target is axis axes[j] of the source. If `axes`
/// is empty, the order of the axes is reversed. Throws InputError unless `axes` is a permutation of the
/// array's axes (negative numbers count from the end), and as checked_bytes() does.
Reordering transposition(const ArrayShape& shape, std::span<const int> axes);
/// The shape that `transposition` gives. Throws for `axes` as it does; does not check the array's size.
std::vector<std::uint64_t> transposed_extents(const ArrayShape& shape, std::span<const int> axes);

/// target[.., map(x), ..] = source[.., x, ..] along `axis` (negative numbers count from the end), for every
/// coordinate of the other axes, stored in C order. Throws InputError if there is no such axis, its extent is
/// not 2^map.bits(), or the map is singular.
Reordering mapping_along(const ArrayShape& shape, int axis, const gf2::AffineMap& map);

/// target.flat[map(x)] = source.flat[x], where flat counts in C order whatever the source's order; stored in
/// C order. Throws InputError if the number of elements is not 2^map.bits() or the map is singular. The
/// result has one axis, even for a Fortran-ordered source.
Reordering mapping_of_all(const ArrayShape& shape, const gf2::AffineMap& map);

/// The same reordering, whose result has the shape `extents` in C order, with the axes of that result stored
/// in this order, slowest first. Throws InputError if the axes of the reordering cannot be cut and joined so
/// that `extents` are theirs, and not all of them are powers of two. Requires a permutation of the axes.
Reordering stored_in(std::span<const int> axes, Reordering r, const std::vector<std::uint64_t>& extents);
Reordering stored_in(Order order, Reordering r, const std::vector<std::uint64_t>& extents);

/// lg of the extent, or InputError that names `what` ("the extent of axis 2") and the nearest powers of two.
int exact_lg(std::uint64_t extent, const std::string& what);
/// `axis` counted from 0; throws InputError unless −rank ≤ axis < rank.
int checked_axis(int axis, std::size_t rank);

/// r as a map of its linear index, in elements; nothing unless all extents are powers of two.
std::optional<gf2::AffineMap> flat_map(const Reordering& r);

/// The same reordering of the same bytes with as few axes as possible:
///   - an identity map is dropped, and so are axes of extent 1;
///   - unmapped axes that follow each other in the source and in the target are merged into one;
///   - an unmapped axis that is fastest in both is folded into the element, if that stays within 64 KiB;
///   - if axes move and one is mapped, all of them from the first that moves or is mapped become one mapped
///     axis, provided that their extents are powers of two. (The axes before it, a batch, can have any
///     extent.) So a result has both a map and axes in another order only if one of these extents is not a
///     power of two.
/// At least one axis remains; an empty array has one axis of extent 0. canonical(canonical(r)) =
/// canonical(r). Throws InputError as check() does.
Reordering canonical(Reordering r);

}  // namespace xorder
