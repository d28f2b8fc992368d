#include "memory/in_place/slot_cycles.hpp"

#include "rounding.hpp"

namespace xorder::memory {

SlotCycles::SlotCycles(std::uint64_t rows, std::uint64_t columns)
    : rows_(rows), columns_(columns), by_rows_(rows), first_(ceil_div(rows * columns, std::uint64_t{64})) {
  constexpr std::uint64_t arc_slots = 128;  // of an arc, at least
  std::vector<std::uint64_t> seen(first_.size());
  const auto bit = [](std::uint64_t slot) { return std::uint64_t{1} << slot % 64; };
  for (std::uint64_t begin = 0; begin < rows * columns; ++begin) {
    if ((seen[begin / 64] & bit(begin)) != 0) continue;
    const std::uint64_t first_arc = arcs_.size();
    std::uint64_t length = 0;
    for (std::uint64_t slot = begin; length == 0 || slot != begin; slot = source_of(slot)) {
      seen[slot / 64] |= bit(slot);
      if (++length % arc_slots == 0) arcs_.push_back({slot, arcs_.size() + 1});
    }
    if (length == 1) continue;  // it stays
    if (arcs_.size() < first_arc + 2) {
      arcs_.resize(first_arc);
      first_[begin / 64] |= bit(begin);
    } else {
      arcs_.back().next = first_arc;
    }
  }
}

}  // namespace xorder::memory
