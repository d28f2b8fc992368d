// Tiles of a box for a Picker, where axes are so short, or so interleaved, that there are no matrices worth
// transposing.
//
// Each run is picked from a copy of the rows, or from the source itself: element u of run r lies at
// starts()[r] + picker().places()[u].
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernel/box/box_tiles.hpp"
#include "kernel/vectors/picker.hpp"

namespace xorder::kernel {

class PickTiles : public BoxTiles {
 public:
  /// If `from_source`, elements are picked from the source itself, whose rows must lie within 4 GiB.
  PickTiles(std::uint64_t element_bytes, std::span<const Axis> axes, const TileGoal& goal,
            bool from_source = false);

  /// An estimate for each element.
  double cycles() const;
  /// A lower bound of cycles(), so that tiles need not be found where they cannot pay.
  static double least_cycles(std::uint64_t element_bytes);

  const Picker& picker() const { return *picker_; }
  /// Where the runs' places begin: in the buffer of rows, or in the source, counted from the tile's
  /// beginning.
  const std::vector<std::uint32_t>& starts() const { return starts_; }
  /// Row s is at s · row_pitch() of the buffer of row_buffer() bytes; likewise for runs if all of
  /// them are collected before they are written.
  std::size_t row_pitch() const { return row_pitch_; }
  std::size_t row_buffer() const;
  std::size_t run_pitch() const { return run_pitch_; }
  std::size_t run_buffer() const { return runs().size() * run_pitch_ + Picker::slack; }

 private:
  std::uint64_t row_ = 1;  // elements
  std::size_t row_pitch_ = 0, run_pitch_ = 0;
  std::vector<std::uint32_t> starts_ = {0};
  std::optional<Picker> picker_;
};

}  // namespace xorder::kernel
