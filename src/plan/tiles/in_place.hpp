// The plan of a run in place: passes over one file, in each of which tiles change places or what is within
// them.
//
// One pass does what permutes tiles that fit in memory (in_place_tiles.hpp). Everything else takes several:
//
//     a map          the factors of factor_in_place(): elements move within tiles, at last whole blocks move
//     R × C, tall    panels of h rows, R = P h, are transposed; then P × C slots of h elements change places
//     R × C, wide    the same way back
//     R × C, any     the three passes of routing.hpp
//     other axes     one axis after the other moves to its place, each as an R × C matrix
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plan/setting.hpp"
#include "plan/tiles/in_place_pass.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::plan {

struct InPlacePlan {
  /// Each but the last ends with an empty batch, so that no pass reads what the one before is writing.
  std::vector<InPlacePass> passes{};
  bool header = false;  ///< the file's header changes, in a last batch of its own

  /// Of all passes.
  std::uint64_t batch_count() const;
  /// The pass of a batch, or the number of passes for that of the header; and its number within the pass.
  std::pair<std::size_t, std::uint64_t> pass_of(std::uint64_t batch) const;
  /// Of a pass, or behind all of them.
  std::uint64_t first_batch(std::size_t pass) const;
  /// How many bytes are read and written for this many batches, about.
  std::uint64_t bytes_at(std::uint64_t batches) const;
  std::uint64_t undo_bytes() const;
  std::uint64_t memory() const;
  double seconds() const;
  /// All that decides where the bytes are when the run is half done.
  std::string text() const;
};

/// The fastest plan that is known, in the memory of the setting and with an undo area of at most
/// largest_undo. Throws InputError if there is none, saying what memory would do if any does. Pure; the time
/// is proportional to the number of tiles.
InPlacePlan make_in_place_plan(const Reordering& what, const Setting& setting);

}  // namespace xorder::plan
