// Cuts a box into tiles for a Picker, where axes are so short, or so interleaved, that there are no matrices
// worth transposing.
//
// A tile reads segments of the source and writes runs of the target. The axes that are fastest in the source
// make a segment, those fastest in the target make a run, and some may be both. Each run is picked from a
// copy of the segments, or from the source itself: element u of run r lies at starts()[r] +
// picker().places()[u].
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernel/picker.hpp"
#include "kernel/strategy.hpp"

namespace xorder::kernel {

/// What a tile should have, in bytes.
struct TileGoal {
  std::size_t run;           ///< at most four times as much; less if the tile gets too large or axes end
  std::size_t largest_tile;  ///< unless runs of a line need more
  /// Elements are picked from the source itself, whose segments lie within 4 GiB.
  bool from_source = false;
};

class PickTiles {
 public:
  /// `axes`: fastest in the target first. Several axes may follow each other on both sides, but none follows
  /// the elements on both.
  PickTiles(std::uint64_t element_bytes, std::span<const Axis> axes, const TileGoal& goal);

  /// An estimate for each element.
  double cycles() const;
  /// A lower bound of cycles(), so that tiles need not be found where they cannot pay.
  static double least_cycles(std::uint64_t element_bytes);

  const std::vector<Axis>& axes() const { return axes_; }
  std::uint64_t element_bytes() const { return element_bytes_; }
  std::uint64_t tile_bytes() const { return tile_bytes_; }
  const Picker& picker() const { return *picker_; }
  /// Where segments and runs begin, counted from the tile's beginning on their side.
  const std::vector<Stride>& segments() const { return segments_; }
  const std::vector<Stride>& runs() const { return runs_; }
  /// Where the runs' places begin: in the buffer of segments, or in the source, counted from the tile's
  /// beginning.
  const std::vector<std::uint32_t>& starts() const { return starts_; }
  /// Segment s is at s · segment_pitch() of the buffer of segment_buffer() bytes; likewise for runs that are
  /// collected before they are written.
  std::size_t segment_pitch() const { return segment_pitch_; }
  std::size_t segment_buffer() const;
  std::size_t run_pitch() const { return run_pitch_; }
  std::size_t run_buffer() const { return runs_.size() * run_pitch_ + Picker::slack; }

  struct Tile {
    Stride source, target;                 ///< where it begins
    std::uint64_t segments = 1, runs = 1;  ///< how many: the first of those listed
    std::uint64_t segment = 1, run = 1;    ///< elements of each
  };

  /// Whether the tiles also fit boxes with these lengths, one for each axis, instead of the whole ones.
  bool fit(std::span<const std::uint64_t> lengths) const;

  /// Visits the tiles of a box in the order of the target.
  class Walk {
   public:
    /// All tiles of the whole box, beginning with number `first`.
    Walk(const PickTiles& tiles, std::uint64_t first);
    /// Those of a box of these lengths, which must fit. They must outlive this.
    Walk(const PickTiles& tiles, std::span<const std::uint64_t> lengths);
    Tile tile() const;
    /// Goes to the next one. False if there is none.
    bool advance();

   private:
    const PickTiles& tiles_;
    std::span<const std::uint64_t> lengths_;
    Place place_;
    std::array<std::uint64_t, 64> at_;
  };
  std::uint64_t tile_count() const;

 private:
  // Of an axis: how many of its coordinates a tile has, and whether it makes segments and runs.
  struct Part {
    std::uint64_t length = 1;
    bool in_segment = false, in_run = false;
  };
  bool choose(std::size_t run_bytes, std::size_t segment_bytes, std::size_t largest);
  void grow(std::size_t axis, Stride Axis::*side, std::uint64_t goal, bool Part::*in, std::uint64_t& bytes);
  void lay_out(bool from_source);

  std::uint64_t element_bytes_;
  std::vector<Axis> axes_;
  std::vector<std::uint64_t> lengths_;  // of the axes
  std::vector<Part> parts_;
  std::vector<std::size_t> by_source_;  // numbers of axes, fastest in the source first
  std::uint64_t tile_bytes_ = 0;
  std::uint64_t segment_ = 1;  // elements
  std::size_t segment_pitch_ = 0, run_pitch_ = 0;
  std::vector<Stride> segments_, runs_;
  std::vector<std::uint32_t> starts_;
  std::optional<Picker> picker_;
};

}  // namespace xorder::kernel
