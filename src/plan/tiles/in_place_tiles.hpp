// Tiles that a reordering permutes among themselves.
//
// An array is cut so that the elements of a tile go to one tile. A tile is a box, times a coset of a subspace
// S of the mapped axis's indices, with E_b ⊆ S and A S = S: then A maps cosets of S to cosets of S. For an
// involution S = E_b + A E_b, as in coset.hpp; for other maps it is the closure of E_b under A.
//
// The box may be one of three kinds:
//   - The array keeps its shape, and the box is as long along an axis as along the one where that goes.
//   - The box spans all axes that move. Then each tile stays where it is.
//   - The box has one coordinate of all axes that move. Then tiles keep what they hold, and change places.
// Instead of a box, a tile can be a strip (routing.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "gf2/subspace.hpp"
#include "plan/tiles/routing.hpp"
#include "plan/tiles/tiling.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::plan {

/// How the axes are cut: what a tile spans of each (1 for the mapped axis), and b.
struct InPlaceCut {
  std::vector<std::uint64_t> tile;
  int low = 0;
  bool operator==(const InPlaceCut&) const = default;
};

/// Immutable. `back` means the inverse of the reordering, which begins with the array as it is afterwards.
class InPlaceTiles {
 public:
  /// Requires no extent of 0, order[k] = k for the mapped axis k, and one of these:
  ///   - extents[order[j]] = extents[j] and tile[order[j]] = tile[j] for all j;
  ///   - tiles span all axes from the first that moves on;
  ///   - tiles have one coordinate of all axes up to the last that moves.
  InPlaceTiles(Reordering what, InPlaceCut cut);
  /// Strips, each with a part of all chunks, which stay where they are.
  explicit InPlaceTiles(const Routing& strips);

  /// The array on one side, before the reordering or (`back`) after it.
  struct Side {
    std::vector<std::uint64_t> extents, tile;
    std::vector<int> order;  ///< axis j of the other side is this side's axis order[j]
    RunShape shape;          ///< how tiles lie in the file
  };
  const Side& side(bool back) const { return sides_[back]; }

  const Reordering& what() const { return what_; }
  const InPlaceCut& cut() const { return cut_; }
  /// dim S; 0 without a mapped axis.
  int bits() const { return basis_.cols(); }
  std::uint64_t tile_count() const;
  std::uint64_t tile_elements() const;
  /// z = local_map h ^ offset, where h and z count a tile's elements on the mapped axis.
  const gf2::BitMatrix& local_map(bool back) const { return local_maps_[back]; }

  struct Target {
    std::uint64_t tile = 0;
    gf2::Word offset = 0;
  };
  /// Where a tile goes, and only the tile.
  Target target(std::uint64_t tile, bool back) const;
  std::uint64_t next(std::uint64_t tile, bool back) const;
  /// How far a tile reaches along each axis of its side; 1 for the mapped one.
  std::vector<std::uint64_t> lengths(std::uint64_t tile, bool back) const;
  const std::optional<Routing>& strips() const { return strips_; }
  /// Whether tiles can lie at each other's places along a cycle.
  bool are_alike() const;

  /// The runs of a tile's place. Those behind an edge are empty.
  std::uint64_t run_count() const { return sides_[0].shape.run_count; }
  std::uint64_t run_elements() const { return sides_[0].shape.run_elements; }
  void runs(std::uint64_t tile, std::vector<Run>& runs) const;

 private:
  bool is_mapped(std::size_t axis) const { return what_.mapped == static_cast<int>(axis); }
  std::uint64_t count(const Side& side, std::size_t axis) const;
  void index_cosets();
  std::vector<std::uint64_t> indices(const Side& side, std::uint64_t tile) const;
  gf2::Word coset(std::uint64_t index) const;

  Reordering what_;
  InPlaceCut cut_;
  std::optional<Routing> strips_;
  std::array<Side, 2> sides_;
  std::array<gf2::AffineMap, 2> maps_;
  std::array<gf2::BitMatrix, 2> local_maps_;
  std::vector<std::uint64_t> strides_;
  gf2::Subspace space_;
  gf2::BitMatrix basis_;                      // of S, the unit vectors of E_b first
  std::vector<gf2::Word> outside_;            // the unit vectors that number the cosets of S
  std::array<gf2::AffineMap, 2> index_maps_;  // of these numbers
};

}  // namespace xorder::plan
