// The axes of an axis permutation, for the engines for boxes: see box.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernel/kernel.hpp"
#include "memory/offsets.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::memory {

/// Runs shorter than this, in bytes, are written several at a time.
constexpr std::uint64_t short_run = 768;

/// All axes of the target, fastest first, with their strides in the source and in the target. A stride that
/// goes backwards is negative: sums of offsets wrap around.
struct TargetAxes {
  std::uint64_t element_bytes = 1;
  std::vector<StridedAxis> axes;
  std::vector<std::uint64_t> in_target;  ///< their strides there

  explicit TargetAxes(const Reordering& what);
  /// Axes with gaps and directions. Those that follow each other on both sides are merged. One axis, perhaps
  /// of one coordinate, follows the elements in the source.
  TargetAxes(std::uint64_t element_bytes, const std::vector<kernel::Axis>& axes);
  /// Whether nothing has gaps in the target or goes backwards.
  bool is_plain() const;
  /// From the first element to the last one. None may be mapped.
  std::uint64_t source_bytes() const;
  /// The axes with their strides on both sides. None may be mapped.
  std::vector<kernel::Axis> with_strides() const;
};

/// Columns, divided into strips that are about equal and begin at whole blocks. So none is narrower than a
/// block, unless all columns are.
struct Strips {
  std::uint64_t columns = 0, block = 1, count = 1;

  Strips() = default;
  /// About `wanted` columns each.
  Strips(std::uint64_t all_columns, std::uint64_t block_columns, std::uint64_t wanted)
      : columns(all_columns),
        block(block_columns),
        count(std::clamp<std::uint64_t>((all_columns + wanted / 2) / wanted, 1,
                                        std::max<std::uint64_t>(1, all_columns / block_columns))) {}
  std::uint64_t begin(std::uint64_t strip) const {
    return strip == count ? columns : strip * (columns / block) / count * block;
  }
  std::uint64_t width(std::uint64_t strip) const { return begin(strip + 1) - begin(strip); }
  /// What no strip is wider than.
  std::uint64_t widest() const {
    return (columns / block + count - 1) / count * block + (columns / block != 0 ? columns % block : columns);
  }
};

/// Axes that are slower than the rows in the source and slower than the runs in the target.
struct OuterAxes {
  std::vector<StridedAxis> in_source;  ///< fastest in the target first
  std::vector<StridedAxis> in_target;
  std::uint64_t count = 1;
};

/// The axes by their place in source and target. At first the rows lie along D alone and the runs along T, as
/// far as that is contiguous in the target. If the target has no gaps, the runs of one outer coordinate
/// follow each other there.
struct Box {
  std::uint64_t element_bytes = 1;
  std::vector<StridedAxis> columns;  ///< of a row of the source; fastest first, with strides in the target
  std::vector<StridedAxis> run;      ///< fastest first, with strides in the source
  OuterAxes outer;
  std::uint64_t column_count = 1;
  std::uint64_t run_length = 1;

  explicit Box(const TargetAxes& target);

  std::uint64_t row_bytes() const { return column_count * element_bytes; }
  /// Bytes from one row to the next, along the fastest axis of the run; 0 if that varies.
  std::uint64_t row_stride() const { return run.empty() || run.front().mapped ? 0 : run.front().stride; }
  /// Whether the rows follow each other in the source, at least along the fastest axis of the run.
  bool rows_adjacent() const { return row_stride() == row_bytes(); }
  bool all_rows_adjacent() const { return run.size() == 1 && rows_adjacent(); }

  /// Whether all runs follow each other in the target.
  bool runs_adjacent() const;

  /// The run keeps only its first `axes` axes. The others become outer ones.
  void shorten_run(std::size_t axes);
  /// Short rows become longer by axes that are next to them in the source, as long as the runs that are left
  /// are so much longer than the rows that it pays.
  void lengthen_rows();
  bool pays_to_lengthen(std::uint64_t run_bytes) const;
};

}  // namespace xorder::memory
