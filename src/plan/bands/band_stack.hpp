// Many small matrices of one band, one after the other in the file. As many as make a large request are read,
// transposed in memory and written together. One at a time, each would take a few small requests and wait for
// them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "plan/bands/band_tiling.hpp"
#include "plan/setting.hpp"
#include "rounding.hpp"
#include "xorder/permutation/band.hpp"
#include "xorder/plan/summary.hpp"

namespace xorder::plan {

class BandStack {
 public:
  /// Whether there is more than one matrix, and they are small enough and fit in the memory. Requires
  /// check(band), the order `columns` or `diagonals`.
  static bool suits(const Band& band, std::uint64_t element_bytes, std::uint64_t matrices,
                    const Setting& setting);
  /// Requires suits().
  BandStack(const Band& band, std::uint64_t element_bytes, std::uint64_t matrices, const Setting& setting);

  const Band& band() const { return band_; }
  std::uint64_t element_bytes() const { return element_bytes_; }
  const Setting& setting() const { return setting_; }
  std::uint64_t matrix_bytes() const { return band_.places() * element_bytes_; }

  unsigned lanes() const { return lanes_; }
  /// A step does the matrices `first` .. `first` + `count` − 1.
  std::uint64_t steps() const { return ceil_div(matrices_, together_); }
  std::uint64_t first(std::uint64_t step) const { return step * together_; }
  std::uint64_t count(std::uint64_t step) const { return std::min(together_, matrices_ - first(step)); }

  /// Memory for what a step reads, and for what it writes, with the rest of the blocks at both ends.
  std::uint64_t source_bytes() const { return blocks(setting_.read_alignment); }
  std::uint64_t target_bytes() const { return blocks(setting_.write_alignment); }
  std::uint64_t memory() const { return lanes() * (source_bytes() + target_bytes()); }

  PassSummary pass() const;
  /// For people, line by line.
  std::string describe() const;

 private:
  /// Bytes of whole blocks that hold the matrices of a step, wherever these begin.
  std::uint64_t blocks(std::uint64_t alignment) const {
    return (together_ * matrix_bytes() / alignment + 3) * alignment;
  }

  Band band_;
  std::uint64_t element_bytes_, matrices_, together_;
  Setting setting_;
  unsigned lanes_ = most_lanes;
};

}  // namespace xorder::plan
