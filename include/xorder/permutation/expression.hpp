// The little language in which users name BMMC permutations, and the file format in which they write them
// out.
//
//   expression = term { "*" term }             composed as functions: the right one is applied first
//   term       = ( name [ "(" [ argument { "," argument } ] ")" ]  |  "(" expression ")" ) { "^" power }
//   argument   = a whole number: decimal, 0x.. or 0b.., with a minus sign where that makes sense
//   power      = a whole number, written like an argument; f^0 is the identity, f^-1 the inverse of f
//
// Several powers multiply: f^2^3 is f^6. Blanks may stand between any two of these. The names, for indices of
// n bits (permutation/bmmc.hpp defines each):
//
//   identity                nothing moves
//   reverse                 x goes to 2^n − 1 − x
//   bitreverse              the index bits in reverse order
//   gray                    x goes to x ^ (x >> 1)
//   transpose(lgR,lgC)      a row-major 2^lgR × 2^lgC matrix, transposed; lgR + lgC = n
//   shuffle                 the two halves interleaved; transpose(1,n-1)
//   unshuffle               its inverse
//   rotate(k)               source bit i goes to target bit (i+k) mod n
//   morton(d)               row-major to Z order, d equal dimensions, the last one's bits lowest
//   bits(i,j,...)           target bit 0 is source bit i, target bit 1 is source bit j, and so on: n numbers
//   xor(c)                  x goes to x ^ c
//
// Example: `bitreverse * gray^-1` undoes a Gray-code order and then reverses the bits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "xorder/gf2/affine_map.hpp"

namespace xorder {

/// The map of n-bit indices that `text` means; it is always a permutation. Throws InputError, which names the
/// position (characters from 1) and what was expected there: all names for an unknown name, the range for a
/// wrong argument. Refuses more than 10,000 characters or 100 nested parentheses, and powers whose magnitude
/// is not below 2^64. If the array's extents are given, refuses a morton(d) that would take it for another:
/// if it has several axes (not counting those of extent 1), they must be d of 2^(n/d) elements each. Requires
/// 0 ≤ n ≤ 62 (InputError otherwise). Cost: O(n²) word operations per term and for each bit of a power.
gf2::AffineMap parse_expression(std::string_view text, int n, std::span<const std::uint64_t> extents = {});

/// A matrix written out: n lines of n characters 0 or 1, row = target bit, column = source bit, least
/// significant first; an optional last line `c 0101...` is the complement, least significant first. Blanks
/// between the characters, empty lines and lines that start with # are ignored. The transposition of a 2 × 4
/// matrix, its result reversed:
///
///     # target bit 0 is source bit 2
///     0 0 1
///     1 0 0
///     0 1 0
///     c 111
///
/// Throws InputError naming line and column, or the rank if the matrix is singular. `name` (a file's path) is
/// used in messages only. 1 ≤ n ≤ 62.
gf2::AffineMap parse_matrix(std::string_view text, const std::string& name);

}  // namespace xorder
