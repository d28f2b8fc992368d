// How the transposition of a band in the order `columns` is cut into parts that fit in memory.
//
// (j, k) goes to (i, k') = (j + k − KU, B − 1 − k): target row i takes one element of each of B source rows,
// and source row j gives one to each of B target rows. So if B × B elements fit in memory, a window of B
// source rows slides along the file. If they do not, the diagonals are cut into *strips* of w diagonals, such
// that w × w elements fit, and the strips are done in this way one after the other. Reads and writes are then
// runs of w elements, and everything is still read and written once.
//
//            k                      k' = B − 1 − k
//     j   ┌──────┬──────┐           ┌──────┬──────┐  i
//         │   ╱ ╱│      │           │      │╲ ╲   │
//         │  ╱ ╱ │      │           │      │ ╲ ╲  │      one strip: the elements between the slanted lines of
//         │ ╱ ╱  │      │           │      │  ╲ ╲ │      the left are a batch of target rows on the right,
//         │╱ ╱   │      │           │      │   ╲ ╲│      whose blocks the window must hold
//         └──────┴──────┘           └──────┴──────┘
//
// A strip is a sequence of *blocks* of h source rows, and of *batches* of h target rows. Batch t needs blocks
// t to t + lag(), where lag() is about w/h. Rows are numbered by `v`: v = i − KL + k' is the source row j,
// but may be outside 0 .. N−1. In a cyclic band it counts modulo N (so w of the N rows are read twice, at
// both ends of a strip). Otherwise rows outside hold nothing but zeros.
//
// Runs of the target end where a block of the file system begins, except at the ends of the target's rows, so
// that each block is written by one run. That makes a strip up to `slack()` elements wider for reading. With
// a single strip many rows are written at once, and only batches have such ends.
//
// If memory is so small that runs would be shorter than a block, the strip's columns are *cut*: each of q
// cuts has a window of its own, with w/q of the columns and w/q source rows. So the windows hold w²/q
// elements together. Runs of the target keep their w elements and are whole blocks; only reads are shorter,
// which costs less. (512 MiB of bytes in 16 MiB: blocks in parts took 322,000 system calls of each of three
// kinds.) If that does not help either, runs end anywhere, and the writer puts the blocks together.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/bands/band_tiling.hpp"
#include "plan/setting.hpp"
#include "xorder/permutation/band.hpp"
#include "xorder/plan/summary.hpp"

namespace xorder::plan {

class BandStrips {
 public:
  /// Chooses as few strips as memory permits. Requires check(band), the order `columns`, element_bytes ≥ 1.
  /// Throws InputError if not even strips of one diagonal fit.
  BandStrips(const Band& band, std::uint64_t element_bytes, const Setting& setting, BandTiling given = {});

  const Band& band() const { return band_; }
  std::uint64_t element_bytes() const { return element_bytes_; }
  const Setting& setting() const { return setting_; }

  std::uint64_t strip() const { return tiling_.strip; }
  std::uint64_t rows() const { return tiling_.rows; }
  unsigned lanes() const { return tiling_.lanes; }
  std::uint64_t strips() const { return strips_; }
  /// Batches of each strip.
  std::uint64_t batches() const { return batches_; }
  std::uint64_t lag() const { return lag_; }
  std::uint64_t slack() const { return slack_; }
  std::uint64_t cuts() const { return cuts_; }
  /// Blocks that are in memory at the same time, including those that are being read.
  std::uint64_t window() const { return lag_ + lanes(); }

  struct Range {
    std::uint64_t begin = 0, end = 0;
    bool empty() const { return begin >= end; }
    std::uint64_t size() const { return empty() ? 0 : end - begin; }
    bool operator==(const Range&) const = default;
  };
  /// The source columns k that a cut of a strip reads; possibly none.
  Range columns(std::uint64_t strip, std::uint64_t cut) const;
  /// v of the first row of a cut's block 0, and the end of the rows that the cut needs.
  std::int64_t first_row(const Range& columns) const;
  std::int64_t end_row(const Range& columns) const;

  /// Source rows v = first .. first + count − 1 of a block of a cut, which are contiguous in the file and
  /// read together, or are all outside the matrix.
  struct Rows {
    std::uint64_t cut = 0;
    std::int64_t first = 0;
    std::uint64_t count = 0;
    Range elements{};  ///< flat indices of the source; none if the rows are outside the matrix
  };
  std::vector<Rows> reads(std::uint64_t strip, std::uint64_t block) const;
  /// What a batch writes together: ranges of flat indices of the target, possibly empty, each a part of a row
  /// or several rows.
  std::vector<Range> writes(std::uint64_t strip, std::uint64_t batch) const;

  /// If a batch has several ranges, they begin at multiples of this in its memory.
  std::uint64_t target_pitch() const { return target_pitch_; }
  /// Memory for a read of `bytes` bytes anywhere in the file.
  std::uint64_t read_room(std::uint64_t bytes) const;
  /// Memory of a block, of all cuts, and of a batch.
  std::uint64_t block_bytes() const { return block_bytes_; }
  std::uint64_t batch_bytes() const { return batch_bytes_; }
  std::uint64_t memory() const { return block_bytes_ * window() + batch_bytes_ * lanes(); }

  PassSummary pass() const;
  /// For people, line by line.
  std::string describe() const;

 private:
  /// Whether whole rows are read and written.
  bool single() const { return strips_ == 1; }
  /// The source columns k that a strip reads.
  Range columns(std::uint64_t strip) const;
  /// Bytes that are read together.
  std::uint64_t read_bytes() const;
  /// Bytes that are written together.
  std::uint64_t run_bytes() const;
  /// The target rows of a batch.
  Range batch(std::uint64_t index) const;
  /// What a strip writes of the target's row i: a range of k', possibly empty.
  Range run(std::uint64_t strip, std::uint64_t i) const;
  /// Sets the fewest strips that fit; false if none do.
  bool choose(const BandTiling& given, bool whole_blocks, std::uint64_t cuts);
  void set(const BandTiling& tiling);
  /// The first element that begins in or after the file system's block in which flat element x begins; x
  /// itself if runs need not end at blocks.
  std::uint64_t aligned(std::uint64_t x) const;

  Band band_;
  std::uint64_t element_bytes_;
  Setting setting_;
  BandTiling tiling_;
  std::uint64_t strips_ = 1, batches_ = 1, cuts_ = 1, lag_ = 0, slack_ = 0;
  std::uint64_t early_ = 0;  // how many rows before t·h batch t may begin
  std::uint64_t target_pitch_ = 0, block_bytes_ = 0, batch_bytes_ = 0;
};

}  // namespace xorder::plan
