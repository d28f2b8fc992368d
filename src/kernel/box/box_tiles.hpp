// Cuts a box into tiles that are read in rows and written in runs.
//
// The axes that are fastest in the source make a row, those fastest in the target make a run, and some
// may be both. A tile has whole rows and whole runs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernel/strategy.hpp"

namespace xorder::kernel {

/// What a tile should have, in bytes.
struct TileGoal {
  std::size_t run;           ///< less if the tile gets too large or axes end
  std::size_t largest_tile;  ///< unless runs of a line need more
  bool limits_runs = false;  ///< runs are at most four times as long, so that a table of one is small
};

class BoxTiles {
 public:
  /// `axes`: fastest in the target first. Several axes may follow each other on both sides, but none follows
  /// the elements on both.
  BoxTiles(std::uint64_t element_bytes, std::span<const Axis> axes, const TileGoal& goal);

  const std::vector<Axis>& axes() const { return axes_; }
  std::uint64_t element_bytes() const { return element_bytes_; }
  std::uint64_t tile_bytes() const { return tile_bytes_; }
  /// Where rows and runs begin, counted from the tile's beginning on their side.
  const std::vector<Stride>& rows() const { return rows_; }
  const std::vector<Stride>& runs() const { return runs_; }

  struct Tile {
    Stride source, target;             ///< where it begins
    std::uint64_t rows = 1, runs = 1;  ///< how many: the first of those listed
    std::uint64_t row = 1, run = 1;    ///< elements of each
  };

  /// Whether the tiles also fit boxes with these lengths, one for each axis, instead of the whole ones.
  bool fit(std::span<const std::uint64_t> lengths) const;

  /// Visits the tiles of a box in the order of the target.
  class Walk {
   public:
    /// All tiles of the whole box, beginning with number `first`.
    Walk(const BoxTiles& tiles, std::uint64_t first);
    /// Those of a box of these lengths, which must fit. They must outlive this.
    Walk(const BoxTiles& tiles, std::span<const std::uint64_t> lengths);
    Tile tile() const;
    /// Goes to the next one. False if there is none.
    bool advance();

   private:
    const BoxTiles& tiles_;
    std::span<const std::uint64_t> lengths_;
    Place place_;
    std::array<std::uint64_t, 64> at_;
  };
  std::uint64_t tile_count() const;

  /// Of an axis: how many of its coordinates a tile has, and whether it makes rows and runs. Of those
  /// that do, only the slowest one of a row and that of a run have fewer than all.
  struct Part {
    std::uint64_t length = 1;
    bool in_row = false, in_run = false;
  };
  const std::vector<Part>& parts() const { return parts_; }
  /// The numbers of the axes, fastest in the source first. The runs of a tile are listed in this order of
  /// their axes.
  const std::vector<std::size_t>& by_source() const { return by_source_; }

 private:
  bool choose(std::size_t run_bytes, std::size_t row_bytes, const TileGoal& goal);
  void grow(std::size_t axis, Stride Axis::*side, std::uint64_t goal, bool Part::*in, std::uint64_t& bytes);

  std::uint64_t element_bytes_;
  std::vector<Axis> axes_;
  std::vector<std::uint64_t> lengths_;  // of the axes
  std::vector<Part> parts_;
  std::vector<std::size_t> by_source_;
  std::uint64_t tile_bytes_ = 0;
  std::vector<Stride> rows_ = {Stride{}}, runs_ = {Stride{}};
};

}  // namespace xorder::kernel
