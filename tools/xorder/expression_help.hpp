// What the help of commands says of expressions (xorder/permutation/expression.hpp).
#pragma once

namespace xorder::cli {

inline constexpr const char* expression_help =
    "EXPR composes maps of n-bit indices with * (rightmost first); f^k applies f k times, f^-1 undoes f.\n"
    "The element at index x goes to\n"
    "  identity            x\n"
    "  reverse             2^n - 1 - x: backwards\n"
    "  bitreverse          the bits of x in reverse order\n"
    "  gray                x ^ (x >> 1), the x-th Gray code\n"
    "  transpose(lgR,lgC)  its place in the transpose of a row-major 2^lgR x 2^lgC matrix; lgR + lgC = n\n"
    "  shuffle             2x, or 2x + 1 - 2^n from the upper half: the two halves interleaved\n"
    "  unshuffle           the inverse: first the elements at even x, then the others\n"
    "  rotate(k)           bit i of x becomes bit (i + k) mod n\n"
    "  morton(d)           its place in Z order, from row-major order, with d equal dimensions;\n"
    "                      an array of several axes must have these\n"
    "  bits(i,j,..)        bit i of x becomes bit 0, bit j becomes bit 1, and so on, for all n bits\n"
    "  xor(c)              x ^ c, with c decimal, 0x.. or 0b..\n\n";

}  // namespace xorder::cli
