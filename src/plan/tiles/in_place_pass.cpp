#include "plan/tiles/in_place_pass.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "byte_units.hpp"
#include "plan/price.hpp"
#include "rounding.hpp"

namespace xorder::plan {

using std::size_t;
using std::uint64_t;

namespace {

constexpr uint64_t most_tiles = uint64_t{1} << 22;  // which are kept in a list
constexpr uint64_t most_excess = 16;                // of blocks that are read for a run
constexpr uint64_t bytes_per_run = 64;              // of lists, for each run of a tile that is being moved
constexpr uint64_t bytes_per_tile = 17;             // of lists

using Cycle = std::vector<uint64_t>;

Cycle cycle_of(uint64_t first, const InPlaceTiles& tiles, std::vector<bool>& seen) {
  Cycle cycle;
  for (uint64_t tile = first; !seen[tile]; tile = tiles.next(tile, false)) {
    seen[tile] = true;
    cycle.push_back(tile);
  }
  return cycle;
}

uint64_t longest_cycle(const InPlaceTiles& tiles) {
  uint64_t longest = 0;
  std::vector<bool> seen(tiles.tile_count());
  for (uint64_t first = 0; first < seen.size(); ++first)
    longest = std::max<uint64_t>(longest, cycle_of(first, tiles, seen).size());
  return longest;
}

// Lists a cycle in parts of at most `most` tiles, and returns their heads if there are several.
Cycle list_cycle(InPlacePass& p, const Cycle& cycle, uint64_t most) {
  Cycle heads;
  for (size_t i = 0; i < cycle.size(); ++i) {
    const uint64_t within = i % most;
    if (within == 0 && cycle.size() > most) heads.push_back(cycle[i]);
    p.order.push_back(cycle[i]);
    p.saved.push_back(within % 2 == 0);
    p.ends.push_back(within + 1 == most || i + 1 == cycle.size());
  }
  return heads;
}

// Goes on in batches from where the last one ended.
void add_batches(InPlacePass& p) {
  for (size_t begin = p.batches.back(), end = begin; end < p.order.size(); begin = end) {
    while (!p.ends[end++]) continue;
    if (end - p.batches.back() > p.tile_slots) p.batches.push_back(begin);
  }
  p.batches.push_back(p.order.size());
}

void list_tiles(InPlacePass& p) {
  p.batches = {0};
  std::vector<Cycle> cut;
  std::vector<bool> seen(p.tiles.tile_count());
  for (uint64_t first = 0; first < seen.size(); ++first) {
    if (seen[first]) continue;
    if (Cycle heads = list_cycle(p, cycle_of(first, p.tiles, seen), p.tile_slots); !heads.empty())
      cut.push_back(std::move(heads));
  }
  p.heads = p.order.size();
  add_batches(p);
  while (!cut.empty()) {
    p.batches.push_back(p.order.size());  // an empty one
    std::vector<Cycle> again;
    for (const Cycle& cycle : std::exchange(cut, {})) {
      if (Cycle heads = list_cycle(p, cycle, p.tile_slots); !heads.empty()) again.push_back(std::move(heads));
    }
    cut = std::move(again);
    add_batches(p);
  }
  for (size_t g = 0; g + 1 < p.batches.size(); ++g) {
    const auto begin = p.saved.begin();
    const auto saved = std::count(begin + static_cast<std::ptrdiff_t>(p.batches[g]),
                                  begin + static_cast<std::ptrdiff_t>(p.batches[g + 1]), true);
    p.undo_slots = std::max(p.undo_slots, static_cast<uint64_t>(saved));
  }
}

// Whether all runs begin at blocks.
bool aligned(const InPlaceTiles& tiles, const Setting& setting, uint64_t block) {
  const Reordering& what = tiles.what();
  const RunShape& shape = tiles.side(false).shape;
  if (tiles.strips() && tiles.run_elements() * what.element_bytes % block != 0) return false;
  if (setting.target_offset % block != 0) return false;
  uint64_t stride = what.element_bytes;
  for (size_t a = what.extents.size(); a-- > 0;) {
    const bool mapped = what.mapped == static_cast<int>(a), within = shape.axes[a].runs == 0;
    const uint64_t step = mapped   ? stride << shape.mapped_low
                          : within ? stride * tiles.cut().tile[a]
                                   : stride;
    const bool spans =
        mapped ? shape.mapped_low == what.map.bits() : within && tiles.cut().tile[a] == what.extents[a];
    if (step % block != 0 && !spans) return false;
    stride *= what.extents[a];
  }
  return true;
}

double seconds(const InPlacePass& p, uint64_t written, uint64_t batches, bool has_edges,
               const Setting& setting) {
  const uint64_t request = std::min(p.run_bytes, largest_request), edges = has_edges ? p.block : 0;
  const uint64_t requests = p.tiles.what().bytes() / request;
  const Requests patches{has_edges ? 2 * requests : 0, p.block};  // at both ends of most runs
  return price({.reads = {requests, request + edges},
                .writes = {ceil_div(written, request), request + edges},
                .edge_reads = patches,
                .edge_writes = patches,
                .copied = written,
                .tiles = batches,  // each is written after all of it was read
                .memory = p.memory()},
               setting);
}

}  // namespace

std::optional<InPlacePass> in_place_pass(InPlaceTiles tiles, const std::optional<RoutingStep>& routed,
                                         const Setting& setting, double most_seconds) {
  InPlacePass p{std::move(tiles)};
  p.routed = routed;
  const uint64_t bytes = p.tiles.what().bytes();
  p.block = std::max({file_block, setting.read_alignment, setting.write_alignment});
  p.run_bytes = p.tiles.run_elements() * p.tiles.what().element_bytes;
  p.part_bytes = std::min(setting.group_bytes, setting.memory / 32);
  const uint64_t count = p.tiles.tile_count(), runs = p.tiles.run_count();
  const bool whole_blocks = aligned(p.tiles, setting, p.block);
  const uint64_t edges =
      whole_blocks && !p.tiles.strips() ? 0 : p.block;  // the last chunk's parts have any size
  if (count > most_tiles || runs > setting.memory || p.run_bytes > setting.memory) return std::nullopt;
  // Parts of blocks at the ends of all runs.
  p.carry_bytes = std::min(setting.memory / 16, 2 * p.block * std::min(count * runs, setting.memory));
  if (count > 1 && p.run_bytes * most_excess < p.block) return std::nullopt;
  p.pitch = round_up(p.run_bytes, p.block) + edges;
  uint64_t slot;
  if (__builtin_mul_overflow(runs, p.pitch, &slot) || slot > setting.memory) return std::nullopt;
  p.results = std::min<uint64_t>(2, count);
  const uint64_t fixed = p.memory();  // without slots for tiles
  if (fixed > setting.memory) return std::nullopt;
  const uint64_t slots = (setting.memory - fixed) / slot;
  if (slots == 0) return std::nullopt;
  if (seconds(p, bytes, count, !whole_blocks, setting) > most_seconds) return std::nullopt;
  const uint64_t longest = longest_cycle(p.tiles);
  const uint64_t worthwhile = std::clamp(bytes / 8, 32 * MiB, largest_undo / 2) / slot;
  p.tile_slots = std::min(slots / 2, worthwhile);
  if (longest > p.tile_slots && !(p.tiles.are_alike() && p.tile_slots > 1)) p.tile_slots = longest;
  if (count <= slots && (count <= worthwhile || p.tile_slots > slots / 2)) p.tile_slots = count;
  p.halves = p.tile_slots < count ? 2 : 1;
  list_tiles(p);
  if (p.memory() > setting.memory || p.undo_bytes() > largest_undo) return std::nullopt;
  p.seconds = seconds(p, p.bytes_written(), p.batch_count(), !whole_blocks, setting);
  return p;
}

uint64_t InPlacePass::memory() const {
  const uint64_t lists = (results + 1) * tiles.run_count() * bytes_per_run +
                         tiles.tile_count() * bytes_per_tile +
                         (routed ? 3 * routed->routing.table_bytes() : 0);
  const uint64_t in_memory = halves * tile_slots + results;
  return round_up(in_memory * slot_bytes() + patch_slots * patched_at_once * block + carry_bytes + lists,
                  block);
}

uint64_t InPlacePass::bytes_moved() const {
  const uint64_t tile = tiles.tile_elements() * tiles.what().element_bytes;
  return tiles.what().bytes() + (order.size() - tiles.tile_count()) * tile;
}

uint64_t InPlacePass::bytes_written() const {
  return bytes_moved() + static_cast<uint64_t>(std::ranges::count(saved, true)) * slot_bytes();
}

PassSummary InPlacePass::summary() const {
  return {.tiles = tiles.tile_count(),
          .tile_bytes = tiles.tile_elements() * tiles.what().element_bytes,
          .source_block_bytes = run_bytes,
          .target_block_bytes = run_bytes,
          .memory = memory(),
          .bytes_read = bytes_moved(),
          .bytes_written = bytes_written(),
          .predicted_seconds = seconds};
}

std::string InPlacePass::text() const {
  const Reordering& what = tiles.what();
  std::string text = fmt::format(
      "tiles {}, low {}, of {} bytes in {}, order {}; block {}, pitch {}, slots {} and {}, {} batches",
      fmt::join(tiles.cut().tile, " "), tiles.cut().low, what.element_bytes, fmt::join(what.extents, " "),
      fmt::join(what.order, " "), block, pitch, tile_slots, undo_slots, batch_count());
  if (what.mapped)
    text += fmt::format("; axis {} by {}", *what.mapped, fmt::join(what.map.matrix.columns(), " "));
  if (routed)
    text += fmt::format("; routed to {} by {} in {}", static_cast<int>(routed->to), routed->routing.chunk,
                        routed->routing.levels);
  return text;
}

InPlaceHop InPlacePass::hop(size_t i, size_t next) const {
  if (i >= heads) return {order[i], order[next], 0, InPlaceHop::How::unchanged};
  return {order[i], order[next], tiles.target(order[i], false).offset, InPlaceHop::How::forward};
}

// z = L h ⊕ offset, so h = L⁻¹z ⊕ L⁻¹offset.
InPlaceHop InPlacePass::inverse(const InPlaceHop& hop) const {
  using How = InPlaceHop::How;
  if (hop.how == How::unchanged) return {hop.to, hop.from, 0, How::unchanged};
  const bool back = hop.how == How::forward;
  const gf2::Word offset = tiles.what().mapped ? tiles.local_map(back)(hop.offset) : 0;
  return {hop.to, hop.from, offset, back ? How::back : How::forward};
}

}  // namespace xorder::plan
