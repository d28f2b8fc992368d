// A pass of a run in place: which tiles move where, and in which batches.
//
// Tiles move in cycles, of one tile if it stays where it is. A cycle that is too long for a batch is cut:
//
//     (a b c d e f g)  =  first (a b c), (d e f) and (g), then their heads (a d g)
//
// In the first step the content of c, which should go to d, waits at the place of a. In the second step the
// heads move on, as they are, and heads may be cut in turn.
//
// A tile is *saved* if it is copied to the undo area before its place is overwritten. In a cycle every second
// tile is saved, and of an odd cycle also the last one: of a tile that is not saved, the one before it and
// the one after it in the cycle are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "plan/setting.hpp"
#include "plan/tiles/in_place_tiles.hpp"
#include "plan/tiles/routing.hpp"
#include "xorder/plan/summary.hpp"

namespace xorder::plan {

/// Takes what lies at the place of one tile to that of another.
struct InPlaceHop {
  std::uint64_t from = 0, to = 0;
  gf2::Word offset = 0;                                              ///< belongs to the local map
  enum class How { unchanged, forward, back } how = How::unchanged;  ///< what happens within the tile
};

/// One of the three passes of a routing.
struct RoutingStep {
  Routing routing;
  enum class To { parts, chunks, places } to = To::parts;
};

struct InPlacePass {
  InPlaceTiles tiles;
  std::optional<RoutingStep> routed{};  ///< what happens within a tile, if the reordering does not say that
  std::uint64_t block = file_block;     ///< to which all transfers are aligned
  std::uint64_t run_bytes = 0;          ///< of a run that is not at an edge
  std::uint64_t pitch = 0;              ///< from one run of a tile to the next, in memory and undo area
  std::uint64_t halves = 1;             ///< 2: a batch is read while the one before is written
  std::uint64_t tile_slots = 0;         ///< of each half of the memory: the most tiles of a batch
  std::uint64_t undo_slots = 0;         ///< of each half of the undo area: the most saved tiles of a batch
  std::uint64_t results = 2;            ///< tiles being permuted and written
  std::uint64_t carry_bytes = 0;
  std::uint64_t part_bytes = 0;        ///< of a tile that are permuted at once, about
  std::vector<std::uint64_t> order{};  ///< of the tiles: cycle by cycle
  std::vector<bool> saved{};           ///< whether tile order[i] is saved
  std::vector<bool> ends{};            ///< whether a cycle ends there
  std::size_t heads = 0;               ///< from here on they are heads of cut cycles, which have moved before
  /// Where each batch of whole cycles begins in that order, and the end. An empty batch is between tiles and
  /// their heads: what is read in one batch is not written by the one before.
  std::vector<std::uint64_t> batches{};
  double seconds = 0;  ///< predicted

  std::uint64_t batch_count() const { return batches.size() - 1; }
  /// Whether each tile stays where it is.
  bool stays() const { return std::ranges::all_of(ends, std::identity()); }
  std::uint64_t slot_bytes() const { return tiles.run_count() * pitch; }
  std::uint64_t undo_bytes() const { return halves * undo_slots * slot_bytes(); }
  std::uint64_t memory() const;
  std::uint64_t bytes_moved() const;    ///< the data, and heads once more
  std::uint64_t bytes_written() const;  ///< with the undo area
  PassSummary summary() const;
  /// All that decides where the bytes are when the pass is half done.
  std::string text() const;

  /// What order[i] holds goes to the place of order[next], the one behind it in its cycle.
  InPlaceHop hop(std::size_t i, std::size_t next) const;
  /// The way back.
  InPlaceHop inverse(const InPlaceHop& hop) const;
};

/// The largest undo area.
inline constexpr std::uint64_t largest_undo = std::uint64_t{1} << 30;
/// Runs that are read together, and blocks that are patched together, with memory for so many times as many.
inline constexpr std::uint64_t runs_at_once = 256, patched_at_once = 16, patch_slots = 4;

/// The pass that moves these tiles in batches of a size that is worth it. Nothing if their cycles do not fit
/// in the memory and in the undo area, or if it is seen at once that it takes more seconds than this. Pure;
/// the time is proportional to the number of tiles.
std::optional<InPlacePass> in_place_pass(InPlaceTiles tiles, const std::optional<RoutingStep>& routed,
                                         const Setting& setting, double most_seconds);

}  // namespace xorder::plan
