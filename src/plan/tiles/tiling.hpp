// How one pass cuts a reordering into independent pieces: the geometry, and nothing else.
//
// A *tile* is a box: an interval of each axis, times a coset of the mapped axis (coset.hpp) if there is one.
// It is read as runs that are contiguous in the source and written as runs that are contiguous in the target;
// the tiles' runs partition both. A tile is cut into *groups* along one axis. A group is what a kernel
// permutes at once: small enough for a cache, and thick enough to contribute at least a cache line to each
// target run.
//
//              target axis →          tile: all of this box, assembled in memory
//            ┌──────┬──────┐          group: some of its source runs, read and scattered together
//   source   │▒▒▒▒▒▒│      │          source run: one row of the tile
//   axis     │▒▒▒▒▒▒│      │          target run: one column of the tile
//     ↓      ├──────┼──────┤
//            └──────┴──────┘
//
// The last tile along an axis may be shorter. All counts here are in elements; files, bytes and threads do
// not matter yet.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gf2/coset.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::plan {

/// Contiguous elements of the source or the target.
struct Run {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  bool operator==(const Run&) const = default;
};

/// How a unit step along an axis moves: to another run, or within one.
struct RunStride {
  std::uint64_t runs = 0;
  std::uint64_t elements = 0;
};

/// How boxes of a given largest size fall into runs on one side (source or target).
struct RunShape {
  /// By source axis number; the mapped axis's entry is per unit of h (z) high or low.
  std::vector<RunStride> axes;
  int mapped_low = 0;              ///< how many low bits of h (z) move within a run
  std::uint64_t run_elements = 1;  ///< of a run that is not at an edge
  std::uint64_t run_count = 1;     ///< run numbers are below this
};

/// What cuts the axes: every choice that a planner has.
struct TileChoice {
  /// By source axis: how many coordinates a tile and a group span; group ≤ tile ≤ extent. 1 for the mapped
  /// axis.
  std::vector<std::uint64_t> tile;
  std::vector<std::uint64_t> group;
  /// The mapped axis's block sizes; group_low ≤ target_low is lg of the piece that a group gives to a target
  /// run.
  int source_low = 0;
  int target_low = 0;
  int group_low = 0;
  /// Target runs go along at most this many axes, even if the tile spans more. Groups cut the last of them,
  /// which should not be the one along which the source is read. Runs that follow each other are still
  /// written together. (With runs of parts of the first axis a cached input takes half as long again.)
  std::size_t target_axes = ~std::size_t{0};
  bool operator==(const TileChoice&) const = default;
};

/// How groups lie in the source, where a group spans 2^group_bits coordinates of the mapped axis.
void set_source_shape(const Reordering& what, const TileChoice& choice, int group_bits, RunShape& shape);
/// How tiles lie in the target, where a tile spans 2^tile_bits coordinates of the mapped axis, and runs go
/// along at most `most_axes` axes.
void set_target_shape(const Reordering& what, const TileChoice& choice, int tile_bits, std::size_t most_axes,
                      RunShape& shape);

struct Tile {
  std::vector<std::uint64_t> start;   ///< by source axis; 0 for the mapped axis
  std::vector<std::uint64_t> length;  ///< 1 for the mapped axis
  gf2::CosetTiling::Base base;
  std::uint64_t groups = 1;
};

struct Group {
  std::vector<std::uint64_t> start;  ///< in the array
  std::vector<std::uint64_t> length;
  gf2::CosetTiling::Base base;       ///< the tile's
  gf2::Word source_high = 0;    ///< the bits of h that are the same in the whole group
  gf2::Word target_offset = 0;  ///< z = L h ⊕ this
  RunStride target_shift;       ///< where the group's target pieces begin, relative to the tile's
};

/// Immutable. The time of each function is proportional to what it returns.
class Tiling {
 public:
  /// `what` must be canonical(); the choice must fit it (see TileChoice), with at most one axis split into
  /// groups.
  Tiling(Reordering what, TileChoice choice);

  const Reordering& what() const { return what_; }
  const TileChoice& choice() const { return choice_; }
  const std::optional<gf2::CosetTiling>& coset() const { return coset_; }
  /// lg of a group's coordinates on the mapped axis.
  int group_bits() const { return group_bits_; }
  /// Elements of the largest tile.
  std::uint64_t tile_elements() const;

  /// Tiles are numbered in the order of their place in the target, so that neighbours in the target follow
  /// each other.
  std::uint64_t tile_count() const;
  Tile tile(std::uint64_t number) const;
  Group group(const Tile& tile, std::uint64_t number) const;

  /// How groups lie in the source, and tiles in the target.
  const RunShape& source_shape() const { return source_shape_; }
  const RunShape& target_shape() const { return target_shape_; }
  /// Lists the runs; runs[r] is run number r. At edges some have length 0.
  void source_runs(const Group& group, std::vector<Run>& runs) const;
  void target_runs(const Tile& tile, std::vector<Run>& runs) const;

 private:
  Reordering what_;
  TileChoice choice_;
  std::optional<gf2::CosetTiling> coset_;
  int group_bits_ = 0;
  std::vector<std::uint64_t> source_strides_;
  std::vector<std::uint64_t> target_strides_;
  RunShape source_shape_;
  RunShape target_shape_;
};

}  // namespace xorder::plan
