// A source whose elements do not simply follow each other in the file: rows are padded, a part of each is
// left out, an axis is stored backwards, of each record one field is wanted, or the bytes of numbers have to
// be swapped.
//
// Planners and tilings see the elements as if they followed each other: slowest axis first, in the order in
// which the axes lie in the file, every axis forwards. The bytes of this sequence are numbered, and tiles
// read runs of it. This class says where a run lies in the file. Only a pass that reads the input needs it.
//
//     file    a b c . d e f . g h i .        3 rows of 3, each padded by one
//     run         ^     ^^^   ^              5 bytes from byte 2 on: c d e f g
//     spans       └───────────┘              read at once if gaps are short,
//                 └┘    └─┘   └┘             and one by one if they are long
//
// The innermost axes whose gaps are not worth a request of their own are a *box*. A run takes one *span* of
// the file from each box that it touches, from the first to the last of its bytes there. What lies in a span
// is unpacked in *plates*: regular patterns of equal chunks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "xorder/permutation/element_piece.hpp"
#include "xorder/plan/device.hpp"

namespace xorder::plan {

struct StridedAxis {
  std::uint64_t extent = 1, stride = 1;  ///< in bytes
  bool backwards = false;
  bool operator==(const StridedAxis&) const = default;
};

class StridedSource {
 public:
  /// The axes, slowest first. A step along one passes by all that those behind it reach (stride ≥ what an
  /// element or the next axis spans). An element consists of the pieces of a stored one, in their order; of
  /// all of it if there are none.
  StridedSource(std::vector<StridedAxis> axes, std::uint64_t element_bytes, std::vector<ElementPiece> pieces);

  /// Whether there is nothing to do: elements follow each other as the planner thinks.
  bool trivial() const;
  /// The same source, in which gaps of up to `gap` bytes, or 4 KiB, are read with what is around them.
  StridedSource reading_through(std::uint64_t gap) const;

  // --- what planners ask. `bytes` are those of a run, as below.

  std::uint64_t most_spans(std::uint64_t bytes) const;       ///< of any run of this length
  std::uint64_t most_bytes_read(std::uint64_t bytes) const;  ///< for it, in all its spans
  /// The averages.
  double spans(double bytes) const;
  double bytes_read(double bytes) const;
  /// Of all elements.
  std::uint64_t bytes() const { return volume_[0] * unit_; }
  /// For the whole array.
  std::uint64_t bytes_read() const { return span_[box_] * (volume_[0] / volume_[box_]); }

  // --- what a pass asks. Positions in the file count from the array's first byte there. Runs begin and end
  // with whole elements if there are pieces.

  /// The bytes of numbers as they are needed: a stored unit has `stored_bytes` and makes `unit_bytes`. Both
  /// are 1 unless there are pieces.
  std::uint64_t unit_bytes() const { return unit_; }
  std::uint64_t stored_bytes() const { return stored_; }
  const std::vector<ElementPiece>& pieces() const { return pieces_; }

  /// Units that lie in one span of the file.
  struct Box {
    std::uint64_t first = 0, units = 0;  ///< in the sequence
    std::uint64_t begin = 0, bytes = 0;  ///< the span
  };
  template <typename Function>
  void for_each_box(std::uint64_t begin, std::uint64_t bytes, const Function& function) const {
    const std::uint64_t volume = volume_[box_], last = (begin + bytes) / unit_;
    for (std::uint64_t first = begin / unit_; first < last;) {
      const std::uint64_t q = first / volume, end = std::min(last, (q + 1) * volume);
      const Hull hull = this->hull(box_, first - q * volume, end - 1 - q * volume);
      const std::uint64_t at = outer_position(box_, q);
      function(Box{first, end - first, at + hull.begin, hull.end - hull.begin});
      first = end;
    }
  }

  /// rows × count chunks of equally many units, which follow each other in the sequence.
  struct Plate {
    std::uint64_t position = 0;  ///< of the first chunk's lowest byte
    std::uint64_t rows = 1, count = 1, units = 0;
    std::int64_t row_step = 0, step = 0;  ///< from chunk to chunk
  };
  template <typename Function>
  void for_each_plate(std::uint64_t first, std::uint64_t units, const Function& function) const {
    while (units > 0) {
      const Plate plate = next_plate(first, units);
      function(plate);
      const std::uint64_t done = plate.rows * plate.count * plate.units;
      first += done;
      units -= done;
    }
  }

 private:
  struct Hull {
    std::uint64_t begin = 0, end = 0;
  };
  std::size_t rank() const { return axes_.size(); }
  std::uint64_t place(std::size_t axis, std::uint64_t coordinate) const;
  Hull hull(std::size_t level, std::uint64_t first, std::uint64_t last) const;
  std::uint64_t outer_position(std::size_t level, std::uint64_t index) const;
  Plate next_plate(std::uint64_t first, std::uint64_t units) const;
  bool turned(std::size_t level) const;
  void set_box(std::uint64_t gap);

  std::vector<StridedAxis> axes_;
  std::vector<ElementPiece> pieces_;
  std::uint64_t unit_ = 1, stored_ = 1;
  // Of the axes from each on: the bytes of the file from the first to the last, and the units.
  std::vector<std::uint64_t> span_, volume_;
  std::size_t box_ = 0;      // the first axis of a box
  std::size_t chunked_ = 0;  // the first axis of a chunk
};

/// The longest gap that takes no longer to read than a second request.
std::uint64_t gap_worth_reading(const Device& device);

}  // namespace xorder::plan
