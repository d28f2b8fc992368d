// One batch of a run in place: what is loaded and moved in each of its phases.
//
// In phase 1 the places of saved tiles are overwritten, in phase 2 those of the others. Nothing is lost at
// any moment:
//   - A saved tile is in the undo area, which was synced before phase 1.
//   - Another one is at its place throughout phase 1. What comes after it in its cycle is saved, so its
//     permuted content was written there in phase 1, and synced; that stays throughout phase 2. The inverse
//     permutation makes the tile from it.
//   - What comes before it is saved, so phase 2 needs only the undo area.
// So a batch can be finished or restored from either phase. To restore it, phase 2 is undone first.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/tiles/in_place.hpp"
#include "tiles/in_place_pass.hpp"

namespace xorder::tiles {

class InPlaceBatch {
 public:
  /// That of a plan, which must outlive it, or of its inverse.
  InPlaceBatch(const plan::InPlacePlan& plan, std::uint64_t number, bool back);

  /// The number of passes for that of the header, which has no tiles.
  std::size_t pass() const { return pass_; }
  bool has_phases() const;

  /// Add what they load.
  void load_saved(TileLoad::From from, std::vector<TileLoad>& loads) const;
  void load_others(std::vector<TileLoad>& loads) const;
  /// What has become of them.
  void load_others_moved(std::vector<TileLoad>& loads) const;

  std::vector<TileMove> move(int phase) const;
  std::vector<TileMove> restore(int phase) const;

 private:
  struct Member {
    plan::InPlaceHop hop;
    std::uint64_t slot;
    bool saved, overwrites_saved;
    std::uint64_t undo_slot;
  };
  const plan::InPlacePass* tiles_ = nullptr;
  std::size_t pass_;
  std::vector<Member> members_;
};

}  // namespace xorder::tiles
