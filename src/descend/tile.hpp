// Iterations on a tile: some columns of rows of records, in two buffers in the cache.
#pragma once

#include <cstddef>
#include <cstdint>

#include "xorder/descend/descend.hpp"

namespace xorder::descend {

/// Iterations b with low ≤ b < high. Rows are 2^low records.
struct Bits {
  int low = 0, high = 0;

  std::uint64_t stride() const { return std::uint64_t{1} << low; }
  /// Rows above, and as many below, that a row depends on.
  std::uint64_t halo_rows() const { return (std::uint64_t{1} << (high - low)) - 1; }
};

/// Row r is `width` records, dense, from index first + r · 2^low on, mod the size; they do not reach into the
/// next row of 2^low. A tile with a halo gets the iterations right in all rows but the first and last
/// halo_rows(). A cyclic one has all rows, in it the next of the last row is the first.
struct Tile {
  std::uint64_t first = 0;
  std::uint64_t rows = 0;
  std::uint64_t width = 0;
  bool cyclic = false;
};

/// Performs the iterations in the computation's direction, lg_size being lg M. The records are in `from`;
/// returns where the result is, `from` or `to`, and spoils the other one.
std::byte* iterate(Computation& what, int lg_size, Bits bits, const Tile& tile, std::byte* from,
                   std::byte* to);

}  // namespace xorder::descend
