// Copies of many small pieces of one size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "xorder/gf2/bit_matrix.hpp"

namespace xorder::kernel {

/// Copies `count` pieces of so many bytes, each a pitch further than the one before. A pitch may be negative.
void copy_pieces(std::byte* to, std::int64_t to_pitch, const std::byte* from, std::int64_t from_pitch,
                 std::uint64_t bytes, std::uint64_t count);

/// Copies piece i of `from` to piece places(i) ⊕ offset of `to`, for all i < 2^(number of places): place j is
/// that of i = 2^j.
void scatter_pieces(std::byte* to, const std::byte* from, std::span<const gf2::Word> places, gf2::Word offset,
                    std::uint64_t bytes);

}  // namespace xorder::kernel
