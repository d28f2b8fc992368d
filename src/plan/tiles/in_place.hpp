// Tiles that a reordering permutes among themselves, and the plan of a run in place.
//
// An array that keeps its shape is cut so that the elements of a tile go to one tile. A tile is a box whose
// length along an axis is that along the axis where it goes, times a coset of a subspace S of the mapped
// axis's indices, with E_b ⊆ S and A S = S: then A maps cosets of S to cosets of S. For an involution S = E_b
// + A E_b, as in coset.hpp; for other maps it is the closure of E_b under A.
//
// So tiles move in cycles. A tile is *saved* if it is copied to the undo area before its place is
// overwritten. In a cycle every second tile is saved, and of an odd cycle also the last one: of a tile that
// is not saved, the one before it and the one after it in the cycle are.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "gf2/subspace.hpp"
#include "plan/setting.hpp"
#include "plan/tiles/tiling.hpp"
#include "xorder/permutation/reordering.hpp"
#include "xorder/plan/summary.hpp"

namespace xorder::plan {

/// How the axes are cut: what a tile spans of each (1 for the mapped axis), and b.
struct InPlaceCut {
  std::vector<std::uint64_t> tile;
  int low = 0;
  bool operator==(const InPlaceCut&) const = default;
};

/// Immutable. `back` means the inverse of the reordering.
class InPlaceTiles {
 public:
  /// Requires extents[order[j]] = extents[j] and tile[order[j]] = tile[j] for all j, no extent of 0, and
  /// order[k] = k for the mapped axis k.
  InPlaceTiles(Reordering what, InPlaceCut cut);

  const Reordering& what() const { return what_; }
  const InPlaceCut& cut() const { return cut_; }
  /// dim S; 0 without a mapped axis.
  int bits() const { return basis_.cols(); }
  std::uint64_t tile_count() const;
  std::uint64_t tile_elements() const;
  /// By source axis, that of the target which holds it.
  std::vector<int> target_axes(bool back) const;
  /// z = local_map h ^ offset, where h and z count a tile's elements on the mapped axis.
  const gf2::BitMatrix& local_map(bool back) const { return local_maps_[back]; }

  struct Target {
    std::uint64_t tile = 0;
    gf2::Word offset = 0;
  };
  /// Where a tile goes.
  Target target(std::uint64_t tile, bool back) const;
  /// How far it reaches along each axis; 1 for the mapped one.
  std::vector<std::uint64_t> lengths(std::uint64_t tile) const;
  /// How tiles lie in the file. Runs are numbered as there; those behind an edge are empty.
  const RunShape& shape() const { return shape_; }
  void runs(std::uint64_t tile, std::vector<Run>& runs) const;

 private:
  bool is_mapped(std::size_t axis) const { return what_.mapped == static_cast<int>(axis); }
  std::uint64_t count(std::size_t axis) const;
  std::vector<std::uint64_t> indices(std::uint64_t tile) const;
  gf2::Word coset(std::uint64_t index) const;

  Reordering what_;
  InPlaceCut cut_;
  std::array<std::vector<int>, 2> orders_;
  std::array<gf2::AffineMap, 2> maps_;
  std::array<gf2::BitMatrix, 2> local_maps_;
  std::vector<std::uint64_t> strides_;
  gf2::Subspace space_;
  gf2::BitMatrix basis_;            // of S, the unit vectors of E_b first
  std::vector<gf2::Word> outside_;  // the unit vectors that number the cosets of S
  RunShape shape_;
};

struct InPlacePlan {
  InPlaceTiles tiles;
  std::uint64_t block = file_block;  ///< to which all transfers are aligned
  std::uint64_t run_bytes = 0;       ///< of a run that is not at an edge
  std::uint64_t pitch = 0;           ///< from one run of a tile to the next, in memory and in the undo area
  std::uint64_t tile_slots = 0;      ///< of each half of the memory: the most tiles of a batch
  std::uint64_t undo_slots = 0;      ///< of each half of the undo area: the most saved tiles of a batch
  std::uint64_t results = 2;         ///< tiles being permuted and written
  std::uint64_t carry_bytes = 0;
  std::uint64_t part_bytes = 0;        ///< of a tile that are permuted at once, about
  std::vector<std::uint64_t> order{};  ///< of the tiles: cycle by cycle
  std::vector<bool> saved{};           ///< whether tile order[i] is saved
  std::vector<std::uint64_t>
      batches{};       ///< where each batch of whole cycles begins in that order, and the end
  double seconds = 0;  ///< predicted

  std::uint64_t batch_count() const { return batches.size() - 1; }
  std::uint64_t halves() const { return batch_count() > 1 ? 2 : 1; }
  std::uint64_t slot_bytes() const { return tiles.shape().run_count * pitch; }
  std::uint64_t undo_bytes() const { return halves() * undo_slots * slot_bytes(); }
  std::uint64_t memory() const;
  std::uint64_t bytes_written() const;
  PassSummary summary() const;
  /// All that decides where the bytes are when the run is half done.
  std::string text() const;
};

/// The largest undo area.
inline constexpr std::uint64_t largest_undo = std::uint64_t{1} << 30;
/// Runs that are read together, and blocks that are patched together, with memory for so many times as many.
inline constexpr std::uint64_t runs_at_once = 256, patched_at_once = 16, patch_slots = 4;

/// The fastest plan whose cycles of tiles fit in the memory and in the undo area. `what` must
/// keep the shape: extents[order[j]] = extents[j]. Throws InputError if there is no such plan, saying what
/// memory would do if any does. Pure; the time is proportional to the number of tiles.
InPlacePlan make_in_place_plan(const Reordering& what, const Setting& setting);

}  // namespace xorder::plan
