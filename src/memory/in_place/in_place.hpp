// Permuting an array in place.
//
// If the map permutes tiles, each is read before another is written over it, along the cycles of tiles: one
// pass. Every other map is the product of two of those. Let T = E_s + A⁻¹E_s, and let B map A⁻¹e_i to e_i for
// i < s, T onto itself, and leave a complement of T alone. Then
//
//     A = C B:   B permutes the elements of each coset of T among themselves,
//                C e_i = A A⁻¹ e_i = e_i for i < s, so C moves whole runs of 2^s elements.
//
// B's tiles stay where they are, and C's tiles are runs, which it moves along its cycles.
//
// Example: a rotation of three index bits, A e_0 = e_1, A e_1 = e_2, A e_2 = e_0, and s = 1. T is spanned by
// e_0 and A⁻¹e_0 = e_2. B exchanges e_2 and e_0; C = A B⁻¹ leaves e_0 alone and exchanges e_1 and e_2.
//
// An exchange of two axes of one extent transposes square matrices: it exchanges tiles two by two, whatever
// that extent is. Two such exchanges can reverse four axes or rotate three.
//
// Where the slowest axis stays, as in batches of matrices, the array consists of parts that are permuted
// separately. Small ones are copied to a buffer, one or several at a time, and permuted from there.
#pragma once

#include <memory>
#include <vector>

#include "kernel/linear/line_mover.hpp"
#include "memory/engine.hpp"
#include "memory/mapped.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::memory {

/// `what` must be canonical and not empty. What has no small parts and is neither a map nor at most two
/// exchanges of axes of one extent is copied back; so are maps of elements of 3, 5, 6, 7 .. bytes, and small
/// arrays that would take two steps.
std::unique_ptr<InPlaceEngine> make_in_place_engine(const Reordering& what);

/// The factors B and C of a map, and s: the more, the longer are the runs, but a coset of T must fit into
/// `tile_bytes`.
struct InPlaceFactors {
  gf2::AffineMap within_tiles, of_runs;
  int run_bits;
};
InPlaceFactors factored_in_place(const gf2::AffineMap& map, std::uint64_t element_bytes,
                                 std::uint64_t tile_bytes);

/// Follows the cycles of tiles whose runs have 2^run_bits elements. Requires that the map permutes these
/// tiles, and not in_runs if lines are fetched while others are written.
std::unique_ptr<InPlaceEngine> make_cycles_engine(Mapped mapped, int run_bits, kernel::Fetching fetching);

/// Permutes into a second array, and copies that back: part by part if the slowest axis stays.
std::unique_ptr<InPlaceEngine> make_through_copy(const Reordering& what);

/// Copies some parts to a buffer, and permutes them from there. Null unless the slowest axis stays, and a
/// part has at most `longest_part` bytes.
std::unique_ptr<InPlaceEngine> make_through_buffer(const Reordering& what, std::uint64_t longest_part);

/// For each exchange of two axes of one extent that it takes, one after the other, an engine that exchanges
/// tiles of square matrices. Empty if there are other moves.
std::vector<std::unique_ptr<InPlaceEngine>> make_swap_engines(const Reordering& what);

/// For each transposition of a matrix of any shape that it takes, one after the other, an engine that needs
/// about 1/64 of the matrix beside it. Empty if there are other moves, or more than two of these, or the
/// array is small.
std::vector<std::unique_ptr<InPlaceEngine>> make_rectangle_engines(const Reordering& what);

}  // namespace xorder::memory
