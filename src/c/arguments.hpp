// Checks of the arguments that functions of xorder.h and xorder_mpi.h have in common.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

#include "c/border.hpp"
#include "xorder/gf2/bit_matrix.hpp"
#include "xorder/permutation/bmmc.hpp"

namespace xorder::c {

/// Returns the number of axes. Throws ArgumentError if it is not from 0 to XORDER_MAX_RANK.
inline std::size_t checked_rank(int rank) {
  if (rank < 0 || rank > XORDER_MAX_RANK)
    throw ArgumentError(fmt::format("an array of {} axes; expected 0 to {}", rank, XORDER_MAX_RANK));
  return static_cast<std::size_t>(rank);
}

/// Returns the number of bits of an index. Throws ArgumentError if it is not from 0 to bmmc::max_bits.
inline int checked_bits(int n) {
  if (n < 0 || n > bmmc::max_bits)
    throw ArgumentError(fmt::format("indices of {} bits; expected 0 to {}", n, bmmc::max_bits));
  return n;
}

/// Returns the complement. Throws InputError if it has bits beyond the n of an index, as for a matrix whose
/// columns have such bits.
inline std::uint64_t checked_complement(std::uint64_t complement, int n) {
  if ((complement & ~gf2::low_mask(n)) != 0) {
    throw InputError(
        fmt::format("the complement is {:#x}; it has bits beyond the {} of an index", complement, n));
  }
  return complement;
}

}  // namespace xorder::c
