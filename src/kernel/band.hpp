// The shear of a band in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace xorder::kernel {

/// A piece of a target row of the transposed band. Its elements k' = begin .. end−1 come from the rows first
/// + begin, first + begin + 1, .. of a table, one from each.
struct BandRun {
  std::byte* target = nullptr;  ///< element `begin`
  std::uint64_t begin = 0, end = 0;
  std::ptrdiff_t first = 0;
};

/// Fills the runs: element k' of a run is element last_column − k' of the row at sources[row]. Consecutive
/// runs should belong to consecutive target rows, because they use parts of the same cache lines. Allocates
/// nothing.
void shear(std::span<const BandRun> runs, const std::byte* const* sources, std::uint64_t last_column,
           std::size_t element_bytes);

}  // namespace xorder::kernel
