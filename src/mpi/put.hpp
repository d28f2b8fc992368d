// Puts pieces in their places. An array that is larger than the cache is written past it, so that it is not
// read first.
#pragma once

#include <cstdint>

#include "memory/cache_sizes.hpp"
#include "memory/micro.hpp"

namespace xorder::mpi {

/// Shorter pieces are not written past the cache: most of their lines have other pieces, too.
constexpr std::uint64_t streamed_piece = 512;

/// The function that copies into an array of `array_bytes`. Requires memory::finish_streams() after the last
/// copy.
inline memory::CopyFunction put_function(std::uint64_t array_bytes) {
  return memory::copy_function(array_bytes >= 2 * memory::cache_sizes().second);
}

}  // namespace xorder::mpi
