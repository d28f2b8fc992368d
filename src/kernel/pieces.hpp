// Copies of many small pieces of one size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "xorder/gf2/bit_matrix.hpp"

namespace xorder::kernel {

/// Copies `count` pieces of `bytes` bytes, each one pitch after the one before. A pitch may be negative.
void copy_pieces(std::byte* to, std::int64_t to_pitch, const std::byte* from, std::int64_t from_pitch,
                 std::uint64_t bytes, std::uint64_t count);

/// Copies piece i of `from` to piece P(i) ⊕ offset of `to`, for all i < 2^(number of places). P(i) is the xor
/// of the places[j] of all bits j that are set in i.
void scatter_pieces(std::byte* to, const std::byte* from, std::span<const gf2::Word> places, gf2::Word offset,
                    std::uint64_t bytes);

}  // namespace xorder::kernel
