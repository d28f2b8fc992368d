// Permutes in memory. This is the innermost level, where the blocks are cache lines.
//
// A kernel moves a *group* of elements from runs of the source to runs of the target. A run is a contiguous
// piece of memory. Runs may lie anywhere. So the same kernel serves a buffer that was read from scattered
// places of a file, a tile with padded rows, and a plain array (a single run). A layout gives the places of
// elements axis by axis: on both sides, each coordinate adds a number of runs and a number of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "xorder/gf2/bit_matrix.hpp"

namespace xorder::kernel {

/// How far one step of a coordinate moves: a number of runs and a number of bytes.
struct Stride {
  std::uint64_t runs = 0;
  std::uint64_t bytes = 0;
  bool operator==(const Stride&) const = default;
};

/// An axis. Its coordinate a ∈ [0, length) lies at a·source in the source and at a·target in the target.
struct Axis {
  std::uint64_t length = 1;
  Stride source;
  Stride target;
};

/// An axis of 2^k coordinates under a linear map: local source coordinate h goes to local target coordinate z
/// = L h ⊕ offset. Bits 0 .. source_low−1 of h count bytes (h_low · source.bytes), the bits above them count
/// runs (h_high · source.runs); likewise for z with target_low. L is injective; it may have more rows than
/// columns.
struct LinearAxis {
  gf2::BitMatrix map;
  int source_low = 0;
  int target_low = 0;
  Stride source;
  Stride target;
};

struct Layout {
  std::uint64_t element_bytes = 1;
  std::vector<Axis> axes;
  std::optional<LinearAxis> linear;
  /// Write whole lines of the target past the cache. This is right if the target is larger than the cache or
  /// goes to a disk. It is wrong if the target is small and read again at once.
  bool streamed = true;
};

/// A compiled layout, to be run many times. Immutable, so threads may share it. Construction allocates up
/// to some 100 KiB and takes tens of microseconds. A run allocates nothing and uses at most 72 KiB of stack.
class Kernel {
 public:
  /// Requires element_bytes ≥ 1 and an injective linear map.
  explicit Kernel(Layout layout);
  ~Kernel();
  Kernel(Kernel&&) noexcept;
  Kernel& operator=(Kernel&&) noexcept;

  /// Copies every element of the group to its place. `lengths[i]` ≤ axes[i].length is the number of
  /// coordinates of axis i in this group; groups at an edge have fewer. `offset` belongs to the linear axis.
  /// sources[r] and targets[r] point at the beginning of run r; only runs that occur are accessed. No
  /// alignment is required. Source and target must not overlap.
  void operator()(const std::byte* const* sources, std::byte* const* targets,
                  std::span<const std::uint64_t> lengths, gf2::Word offset) const;

  /// The name of the chosen strategy ("copy", "picked", "transpose", "linear", "one by one"), for plans and
  /// benchmarks.
  const char* strategy() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace xorder::kernel
