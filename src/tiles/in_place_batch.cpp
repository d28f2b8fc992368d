#include "tiles/in_place_batch.hpp"

#include <algorithm>
#include <tuple>

namespace xorder::tiles {

using std::size_t;
using std::uint64_t;
using From = TileLoad::From;

InPlaceBatch::InPlaceBatch(const plan::InPlacePlan& plan, uint64_t number, bool back) {
  uint64_t batch = 0;
  std::tie(pass_, batch) = plan.pass_of(number);
  if (pass_ == plan.passes.size()) return;
  const plan::InPlacePass& p = plan.passes[pass_];
  tiles_ = &p;
  const uint64_t half = batch % p.halves;
  uint64_t slot = half * p.tile_slots, undo_slot = half * p.undo_slots;
  for (size_t begin = p.batches[batch], end = begin; begin < p.batches[batch + 1]; begin = end) {  // a cycle
    while (!p.ends[end++]) continue;
    for (size_t i = begin; i < end; ++i) {
      const size_t next = i + 1 == end ? begin : i + 1, previous = i == begin ? end - 1 : i - 1;
      members_.push_back({back ? p.inverse(p.hop(previous, i)) : p.hop(i, next), slot++, p.saved[i],
                          p.saved[back ? previous : next], undo_slot});
      undo_slot += p.saved[i];
    }
  }
}

bool InPlaceBatch::has_phases() const {
  return std::ranges::any_of(members_, [](const Member& m) { return !m.saved; });
}

void InPlaceBatch::load_saved(From from, std::vector<TileLoad>& loads) const {
  for (const Member& m : members_) {
    if (m.saved) loads.push_back({m.slot, m.hop.from, from, m.undo_slot});
  }
}

void InPlaceBatch::load_others(std::vector<TileLoad>& loads) const {
  for (const Member& m : members_) {
    if (!m.saved) loads.push_back({m.slot, m.hop.from, From::file, 0});
  }
}

void InPlaceBatch::load_others_moved(std::vector<TileLoad>& loads) const {
  for (const Member& m : members_) {
    if (!m.saved) loads.push_back({m.slot, m.hop.to, From::file, 0});
  }
}

std::vector<TileMove> InPlaceBatch::move(int phase) const {
  std::vector<TileMove> moves;
  for (const Member& m : members_) {
    if (m.overwrites_saved == (phase == 1)) moves.push_back({m.slot, m.hop});
  }
  return moves;
}

std::vector<TileMove> InPlaceBatch::restore(int phase) const {
  std::vector<TileMove> moves;
  for (const Member& m : members_) {
    if (phase == 1 && m.saved) moves.push_back({m.slot, {.from = m.hop.from, .to = m.hop.from}});
    if (phase == 2 && !m.saved) moves.push_back({m.slot, tiles_->inverse(m.hop)});
  }
  return moves;
}

}  // namespace xorder::tiles
