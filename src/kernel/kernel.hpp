// Permuting in memory: the innermost level, where cache lines are the blocks.
//
// A kernel moves a *group* of elements from runs of the source to runs of the target. A run is a contiguous
// piece of memory; runs may lie anywhere, so that the same kernel serves a buffer that was read from
// scattered places of a file, a tile whose rows are padded, and a plain array (a single run). Which element
// goes where is given axis by axis; each coordinate contributes a number of runs and a number of bytes on
// both sides, and these add up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "xorder/gf2/bit_matrix.hpp"

namespace xorder::kernel {

/// A position that grows by one run and/or some bytes with each unit of a coordinate.
struct Stride {
  std::uint64_t runs = 0;
  std::uint64_t bytes = 0;
};

/// An axis whose coordinate a ∈ [0, length) lies at a·source on one side and at a·target on the other.
struct Axis {
  std::uint64_t length = 1;
  Stride source;
  Stride target;
};

/// An axis of 2^k coordinates that go through a linear map: local source coordinate h goes to local target
/// coordinate z = L h ⊕ offset. Bits 0 .. source_low−1 of h count bytes (h_low · source.bytes), the bits
/// above them count runs (h_high · source.runs); likewise for z with target_low. L is injective; it may have
/// more rows than columns.
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
  /// Write whole lines of the target past the cache. Right where the target is larger than the cache or goes
  /// to a disk; wrong where it is small and read again at once.
  bool streamed = true;
};

/// A layout made ready to be run many times; immutable, so that threads may share it. Construction costs a
/// few kilobytes and some ten microseconds; running allocates nothing and takes at most 64 KiB of stack.
class Kernel {
 public:
  /// Requires element_bytes ≥ 1 and an injective linear map.
  explicit Kernel(Layout layout);
  ~Kernel();
  Kernel(Kernel&&) noexcept;
  Kernel& operator=(Kernel&&) noexcept;

  /// Copies every element of the group to its place. `lengths[i]` ≤ axes[i].length is how many coordinates of
  /// axis i the group has (edges have fewer); `offset` is the linear axis's; sources[r] and targets[r] point
  /// at the beginning of run r, only those that occur are looked at, and no alignment is required. Source and
  /// target do not overlap.
  void operator()(const std::byte* const* sources, std::byte* const* targets,
                  std::span<const std::uint64_t> lengths, gf2::Word offset) const;

  /// The name of the strategy that was chosen ("copy", "transpose", "linear", "table"): for plans and
  /// benchmarks.
  const char* strategy() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace xorder::kernel
