#include "kernel/band.hpp"

#include <algorithm>
#include <cstring>

namespace xorder::kernel {
namespace {

using std::uint64_t;

// Elements of a row at a time. This many source lines stay in the first-level cache until the next rows have
// used them up.
constexpr uint64_t columns_at_once = 64;

// Bytes = 0 means element_bytes.
template <std::size_t Bytes>
void shear_elements(std::span<const BandRun> runs, const std::byte* const* sources, uint64_t last_column,
                    std::size_t element_bytes) {
  const std::size_t bytes = Bytes != 0 ? Bytes : element_bytes;
  uint64_t begin = ~uint64_t{0}, end = 0;
  for (const BandRun& run : runs) {
    if (run.begin >= run.end) continue;
    begin = std::min(begin, run.begin);
    end = std::max(end, run.end);
  }
  for (uint64_t from = begin; from < end; from += columns_at_once) {
    const uint64_t to = std::min(end, from + columns_at_once);
    for (const BandRun& run : runs) {
      const uint64_t first = std::max(from, run.begin), last = std::min(to, run.end);
      if (first >= last) continue;
      std::byte* target = run.target + (first - run.begin) * bytes;
      const std::byte* const* source = sources + (run.first + static_cast<std::ptrdiff_t>(first));
      std::size_t column = (last_column - first) * bytes;
      for (uint64_t k = first; k < last; ++k, ++source, target += bytes, column -= bytes)
        std::memcpy(target, *source + column, bytes);
    }
  }
}

}  // namespace

void shear(std::span<const BandRun> runs, const std::byte* const* sources, uint64_t last_column,
           std::size_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return shear_elements<1>(runs, sources, last_column, 1);
    case 2:
      return shear_elements<2>(runs, sources, last_column, 2);
    case 4:
      return shear_elements<4>(runs, sources, last_column, 4);
    case 8:
      return shear_elements<8>(runs, sources, last_column, 8);
    case 16:
      return shear_elements<16>(runs, sources, last_column, 16);
    default:
      return shear_elements<0>(runs, sources, last_column, element_bytes);
  }
}

}  // namespace xorder::kernel
