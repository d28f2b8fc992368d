// Iterations on a patch: some columns of rows of records, in two buffers in the cache.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/descend/cache_groups.hpp"
#include "xorder/descend/descend.hpp"

namespace xorder::descend {

using plan::Iterations;

/// Row r is `width` contiguous records, those from index first + r · 2^low on, mod the size. They do not
/// reach into the next row of 2^low. A patch with a halo gets right results in all rows but the first and
/// last halo_rows(). A cyclic patch has all rows; they wrap around.
struct Patch {
  std::uint64_t first = 0;
  std::uint64_t rows = 0;
  std::uint64_t width = 0;
  bool cyclic = false;
};

/// Performs the iterations in the computation's direction; lg_size is lg M. The records are in `from`.
/// Returns where the result is, `from` or `to`; the content of the other one is lost.
std::byte* iterate(Computation& what, int lg_size, Iterations group, const Patch& patch, std::byte* from,
                   std::byte* to);

}  // namespace xorder::descend
