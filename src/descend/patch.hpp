// Iterations on a patch: some columns of rows of records, in two buffers in the cache.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/cache_groups.hpp"
#include "xorder/descend/descend.hpp"

namespace xorder::descend {

using plan::Iterations;

/// Row r is `width` records, dense, from index first + r · 2^low on, mod the size; they do not reach into the
/// next row of 2^low. A patch with a halo gets the iterations right in all rows but the first and last
/// halo_rows(). A cyclic one has all rows; they wrap around.
struct Patch {
  std::uint64_t first = 0;
  std::uint64_t rows = 0;
  std::uint64_t width = 0;
  bool cyclic = false;
};

/// Performs the iterations in the computation's direction, lg_size being lg M. The records are in `from`;
/// returns where the result is, `from` or `to`, and spoils the other one.
std::byte* iterate(Computation& what, int lg_size, Iterations group, const Patch& patch, std::byte* from,
                   std::byte* to);

}  // namespace xorder::descend
