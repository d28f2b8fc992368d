#include "plan/tiles/in_place.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "byte_units.hpp"
#include "plan/choose.hpp"
#include "plan/price.hpp"
#include "rounding.hpp"
#include "text/size_text.hpp"
#include "xorder/error.hpp"

namespace xorder::plan {
namespace {

using std::size_t;
using std::uint64_t;

constexpr uint64_t most_tiles = uint64_t{1} << 22;  // which are kept in a list
constexpr double worse = 1.5;                       // with shorter runs it will not get better again
constexpr uint64_t most_excess = 16;                // of blocks that are read for a run
constexpr uint64_t bytes_per_run = 64;              // of lists, for each run of a tile that is being moved

// The smallest subspace around this one that the map leaves where it is.
gf2::Subspace closure(gf2::Subspace space, const gf2::BitMatrix& map) {
  for (;;) {
    gf2::Subspace larger = space + space.image(map);
    if (larger == space) return space;
    space = std::move(larger);
  }
}

bool keeps_shape(const Reordering& r) {
  for (size_t j = 0; j < r.order.size(); ++j) {
    if (r.extents[static_cast<size_t>(r.order[j])] != r.extents[j]) return false;
  }
  return !r.mapped || r.order[static_cast<size_t>(*r.mapped)] == *r.mapped;
}

// Without axes of extent 1, and with what stays at the end folded into the element. Unlike canonical(), which
// makes (n, n, n) in the order (2, 0, 1) an n² x n matrix, it keeps axes apart that move in a longer cycle.
Reordering without_short_axes(Reordering r) {
  for (size_t a = r.extents.size(); a-- > 0;) {
    const bool last = a + 1 == r.extents.size() && r.order.back() == static_cast<int>(a);
    if (r.mapped == static_cast<int>(a) || (r.extents[a] > 1 && !(last && r.extents.size() > 1))) continue;
    if (r.extents[a] * r.element_bytes > 64 * KiB && r.extents[a] > 1) continue;
    r.element_bytes *= r.extents[a];
    r.extents.erase(r.extents.begin() + static_cast<std::ptrdiff_t>(a));
    std::erase(r.order, static_cast<int>(a));
    for (int& axis : r.order) axis -= axis > static_cast<int>(a);
    if (r.mapped) *r.mapped -= *r.mapped > static_cast<int>(a);
  }
  if (r.extents.empty()) r.extents = {1}, r.order = {0};
  return r;
}

class InPlaceSearch {
 public:
  InPlaceSearch(const Reordering& what, const Setting& setting) : what_(what), setting_(setting) {}

  std::optional<InPlacePlan> best() const {
    std::optional<InPlacePlan> best = plan(whole());
    if (best && what_.bytes() <= 2 * largest_request) return best;
    InPlaceCut before;
    for (uint64_t run = std::max(largest_request, what_.element_bytes); run >= what_.element_bytes;
         run = run / 4 * 3) {
      InPlaceCut cut = cut_for(run);
      if (cut == before) continue;
      if (auto found = plan(cut); found && (!best || found->seconds < best->seconds))
        best = std::move(found);
      else if (found && found->seconds > worse * best->seconds)
        break;
      before = std::move(cut);
    }
    return best;
  }

 private:
  InPlaceCut whole() const {
    InPlaceCut cut{what_.extents, what_.map.bits()};
    if (what_.mapped) cut.tile[static_cast<size_t>(*what_.mapped)] = 1;
    return cut;
  }

  // The cut whose runs have about so many bytes.
  InPlaceCut cut_for(uint64_t wanted) const {
    InPlaceCut cut{std::vector<uint64_t>(what_.extents.size(), 1), 0};
    uint64_t run = what_.element_bytes;
    for (size_t a = what_.extents.size(); a-- > 0 && run <= wanted;) {
      const uint64_t extent = what_.extents[a];
      if (what_.mapped == static_cast<int>(a)) {
        while (cut.low < what_.map.bits() && run << (cut.low + 1) <= wanted) ++cut.low;
        if (cut.low < what_.map.bits()) break;
      } else {
        const uint64_t grain = file_block / std::gcd(file_block, run);
        const uint64_t even = ceil_div(extent, ceil_div(extent, std::max<uint64_t>(1, wanted / run)));
        const uint64_t length = std::min(extent, even >= grain ? round_up(even, grain) : even);
        auto orbit = a;  // all axes that change places with this one
        do {
          cut.tile[orbit] = std::max(cut.tile[orbit], length);
          orbit = static_cast<size_t>(what_.order[orbit]);
        } while (orbit != a);
        if (cut.tile[a] < extent) break;
      }
      run *= extent;
    }
    return cut;
  }

  // Whether all runs begin at blocks.
  bool aligned(const InPlaceTiles& tiles, uint64_t block) const {
    if (setting_.target_offset % block != 0) return false;
    uint64_t stride = what_.element_bytes;
    for (size_t a = what_.extents.size(); a-- > 0;) {
      const bool mapped = what_.mapped == static_cast<int>(a), within = tiles.shape().axes[a].runs == 0;
      const uint64_t step = mapped   ? stride << tiles.shape().mapped_low
                            : within ? stride * tiles.cut().tile[a]
                                     : stride;
      const bool spans = mapped ? tiles.shape().mapped_low == what_.map.bits()
                                : within && tiles.cut().tile[a] == what_.extents[a];
      if (step % block != 0 && !spans) return false;
      stride *= what_.extents[a];
    }
    return true;
  }

  // Nothing if it does not fit.
  std::optional<InPlacePlan> plan(const InPlaceCut& cut) const {
    InPlacePlan p{InPlaceTiles(what_, cut)};
    p.block = std::max({file_block, setting_.read_alignment, setting_.write_alignment});
    p.run_bytes = p.tiles.shape().run_elements * what_.element_bytes;
    p.part_bytes = std::min(setting_.group_bytes, setting_.memory / 32);
    const uint64_t count = p.tiles.tile_count(), runs = p.tiles.shape().run_count;
    const uint64_t edges = aligned(p.tiles, p.block) ? 0 : p.block;
    if (count > most_tiles || runs > setting_.memory || p.run_bytes > setting_.memory) return std::nullopt;
    // Parts of blocks at the ends of all runs.
    p.carry_bytes = std::min(setting_.memory / 16, 2 * p.block * std::min(count * runs, setting_.memory));
    if (count > 1 && p.run_bytes * most_excess < p.block) return std::nullopt;
    p.pitch = round_up(p.run_bytes, p.block) + edges;
    uint64_t slot;
    if (__builtin_mul_overflow(runs, p.pitch, &slot) || slot > setting_.memory) return std::nullopt;
    p.results = std::min<uint64_t>(2, count);
    const uint64_t fixed = p.memory();  // without slots for tiles
    if (fixed > setting_.memory) return std::nullopt;
    const uint64_t slots = (setting_.memory - fixed) / slot;
    if (slots == 0) return std::nullopt;
    const uint64_t longest = find_cycles(p);
    const uint64_t worthwhile = std::clamp(what_.bytes() / 8, 32 * MiB, largest_undo / 2) / slot;
    p.tile_slots = std::max(longest, std::min(slots / 2, worthwhile));
    if (count <= slots && (count <= worthwhile || p.tile_slots > slots / 2)) p.tile_slots = count;
    batch(p);
    if (p.memory() > setting_.memory || p.undo_bytes() > largest_undo) return std::nullopt;
    const uint64_t request = std::min(p.run_bytes, largest_request), count_of_runs = what_.bytes() / request;
    const Requests patches{edges == 0 ? 0 : 2 * count_of_runs, p.block};  // at both ends of most runs
    p.seconds = price({.reads = {count_of_runs, request + edges},
                       .writes = {ceil_div(p.bytes_written(), request), request + edges},
                       .edge_reads = patches,
                       .edge_writes = patches,
                       .copied = p.bytes_written(),
                       .tiles = p.batch_count(),  // each is written after all of it was read
                       .memory = p.memory()},
                      setting_);
    return p;
  }

  // Lists the tiles. Returns the length of the longest cycle.
  static uint64_t find_cycles(InPlacePlan& p) {
    uint64_t longest = 0;
    std::vector<bool> seen(p.tiles.tile_count());
    for (uint64_t first = 0; first < seen.size(); ++first) {
      uint64_t length = 0;
      for (uint64_t tile = first; !seen[tile]; tile = p.tiles.target(tile, false).tile) {
        seen[tile] = true;
        p.order.push_back(tile);
        p.saved.push_back(length++ % 2 == 0);
      }
      longest = std::max(longest, length);
    }
    return longest;
  }

  // A cycle begins where the tile before does not go on to the next in the list.
  static void batch(InPlacePlan& p) {
    const size_t count = p.order.size();
    p.batches = {0};
    for (size_t begin = 0, end = 0; begin < count; begin = end) {
      end = begin + 1;
      while (end < count && p.order[end] == p.tiles.target(p.order[end - 1], false).tile) ++end;
      if (end - p.batches.back() > p.tile_slots) p.batches.push_back(begin);
    }
    p.batches.push_back(count);
    for (size_t g = 0; g + 1 < p.batches.size(); ++g) {
      const auto begin = p.saved.begin();
      const auto saved = std::count(begin + static_cast<std::ptrdiff_t>(p.batches[g]),
                                    begin + static_cast<std::ptrdiff_t>(p.batches[g + 1]), true);
      p.undo_slots = std::max(p.undo_slots, static_cast<uint64_t>(saved));
    }
  }

  const Reordering& what_;
  const Setting& setting_;
};

}  // namespace

InPlaceTiles::InPlaceTiles(Reordering what, InPlaceCut cut)
    : what_(std::move(what)), cut_(std::move(cut)), strides_(what_.extents.size(), 1) {
  const size_t axes = what_.extents.size();
  orders_ = {what_.order, what_.order};
  for (size_t j = 0; j < axes; ++j) orders_[1][static_cast<size_t>(what_.order[j])] = static_cast<int>(j);
  for (size_t a = axes - 1; a-- > 0;) strides_[a] = strides_[a + 1] * what_.extents[a + 1];
  if (what_.mapped) {
    const int n = what_.map.bits();
    maps_ = {what_.map, what_.map.inverse()};
    space_ = closure(gf2::Subspace::low_bits(cut_.low), what_.map.matrix);
    // What a run of the target gets comes first, so that the first vectors span sub-tiles, as in coset.hpp.
    gf2::Subspace span = gf2::Subspace::low_bits(cut_.low);
    std::vector<gf2::Word> columns = span.basis(), others;
    for (int i = 0; i < cut_.low; ++i) others.push_back(maps_[1].matrix.column(i));
    others.insert(others.end(), space_.basis().begin(), space_.basis().end());
    for (const gf2::Word v : others) {
      const gf2::Word high = v & ~gf2::low_mask(cut_.low);
      if (span.add(high)) columns.push_back(high);
    }
    basis_ = gf2::BitMatrix(n, std::move(columns));
    for (size_t d = 0; d < 2; ++d) {
      std::vector<gf2::Word> local;
      for (const gf2::Word b : basis_.columns()) local.push_back(basis_.solve(maps_[d].matrix(b)).value());
      local_maps_[d] = gf2::BitMatrix(bits(), std::move(local));
    }
    for (int i = 0; i < n; ++i) {
      if (!(space_.pivots() & gf2::unit(i))) outside_.push_back(gf2::unit(i));
    }
  }
  TileChoice choice;
  choice.tile = choice.group = cut_.tile;
  choice.source_low = cut_.low;
  set_source_shape(what_, choice, bits(), shape_);
}

uint64_t InPlaceTiles::count(size_t axis) const {
  return is_mapped(axis) ? uint64_t{1} << outside_.size() : ceil_div(what_.extents[axis], cut_.tile[axis]);
}

uint64_t InPlaceTiles::tile_count() const {
  uint64_t all = 1;
  for (size_t a = 0; a < what_.extents.size(); ++a) all *= count(a);
  return all;
}

uint64_t InPlaceTiles::tile_elements() const {
  return std::accumulate(cut_.tile.begin(), cut_.tile.end(), uint64_t{1}, std::multiplies<>()) << bits();
}

std::vector<int> InPlaceTiles::target_axes(bool back) const { return orders_[!back]; }

std::vector<uint64_t> InPlaceTiles::indices(uint64_t tile) const {
  std::vector<uint64_t> all(what_.extents.size());
  for (size_t a = all.size(); a-- > 0; tile /= count(a)) all[a] = tile % count(a);
  return all;
}

gf2::Word InPlaceTiles::coset(uint64_t index) const {
  gf2::Word x = 0;
  for (const gf2::Word unit : outside_) {
    if (index & 1) x |= unit;
    index >>= 1;
  }
  return x;
}

InPlaceTiles::Target InPlaceTiles::target(uint64_t tile, bool back) const {
  const std::vector<uint64_t> from = indices(tile);
  Target to;
  for (size_t j = 0; j < from.size(); ++j) {
    uint64_t index = from[static_cast<size_t>(orders_[back][j])];
    if (is_mapped(j)) {
      const gf2::Word y = maps_[back](coset(index)), base = space_.reduce(y);
      to.offset = basis_.solve(y ^ base).value();
      index = 0;
      for (size_t i = 0; i < outside_.size(); ++i) index |= uint64_t{(base & outside_[i]) != 0} << i;
    }
    to.tile = to.tile * count(j) + index;
  }
  return to;
}

std::vector<uint64_t> InPlaceTiles::lengths(uint64_t tile) const {
  std::vector<uint64_t> all = indices(tile);
  for (size_t a = 0; a < all.size(); ++a)
    all[a] = is_mapped(a) ? 1 : std::min(cut_.tile[a], what_.extents[a] - all[a] * cut_.tile[a]);
  return all;
}

void InPlaceTiles::runs(uint64_t tile, std::vector<Run>& runs) const {
  const std::vector<uint64_t> index = indices(tile), length = lengths(tile);
  runs.assign(shape_.run_count, Run{});
  for (uint64_t number = 0; number < runs.size(); ++number) {
    Run run{0, 1};
    uint64_t left = number;
    for (size_t a = index.size(); a-- > 0;) {
      if (is_mapped(a)) {
        const int high = bits() - shape_.mapped_low;
        const gf2::Word h = (left & gf2::low_mask(high)) << shape_.mapped_low;
        left >>= high;
        run.offset += (coset(index[a]) ^ basis_(h)) * strides_[a];
        run.length <<= shape_.mapped_low;
        continue;
      }
      run.offset += index[a] * cut_.tile[a] * strides_[a];
      if (shape_.axes[a].runs == 0) {
        run.length *= length[a];
      } else {
        const uint64_t c = left % cut_.tile[a];
        left /= cut_.tile[a];
        run.offset += c * strides_[a];
        if (c >= length[a]) run.length = 0;
      }
    }
    if (run.length > 0) runs[number] = run;
  }
}

uint64_t InPlacePlan::memory() const {
  const uint64_t lists = (results + 1) * tiles.shape().run_count * bytes_per_run + tiles.tile_count() * 9;
  const uint64_t tiles_in_memory = (batches.empty() ? 0 : halves()) * tile_slots + results;
  return round_up(
      tiles_in_memory * slot_bytes() + patch_slots * patched_at_once * block + carry_bytes + lists, block);
}

uint64_t InPlacePlan::bytes_written() const {
  const auto count = static_cast<uint64_t>(std::ranges::count(saved, true));
  return tiles.what().bytes() + count * slot_bytes();
}

PassSummary InPlacePlan::summary() const {
  const uint64_t bytes = tiles.what().bytes();
  return {.tiles = tiles.tile_count(),
          .tile_bytes = tiles.tile_elements() * tiles.what().element_bytes,
          .source_block_bytes = run_bytes,
          .target_block_bytes = run_bytes,
          .memory = memory(),
          .bytes_read = bytes,
          .bytes_written = bytes_written(),
          .predicted_seconds = seconds};
}

std::string InPlacePlan::text() const {
  return fmt::format("tiles {}, low {}, of {} bytes in {}; block {}, pitch {}, slots {} and {}, {} batches",
                     fmt::join(tiles.cut().tile, " "), tiles.cut().low, tiles.what().element_bytes,
                     fmt::join(tiles.what().extents, " "), block, pitch, tile_slots, undo_slots,
                     batch_count());
}

InPlacePlan make_in_place_plan(const Reordering& what, const Setting& setting) {
  Reordering r = canonical(what);
  if (!keeps_shape(r)) r = without_short_axes(what);
  const auto within = [&](uint64_t memory) {
    const Setting here = setting.with_memory(memory);
    return keeps_shape(r) ? InPlaceSearch(r, here).best() : std::nullopt;
  };
  if (auto best = within(setting.memory)) return *std::move(best);
  std::optional<uint64_t> enough;
  if (const uint64_t most = 4 * largest_undo; keeps_shape(r) && setting.memory < most && within(most))
    enough = enough_mebibytes(setting.memory, [&](uint64_t memory) { return within(memory).has_value(); });
  throw InputError(fmt::format(
      "this reordering cannot be done in place with {} of memory{}", size_text(setting.memory),
      enough ? fmt::format(": it takes {} MiB; or name another file as OUT", *enough)
             : ": no tiles of it that fit change places among themselves; name another file as OUT"));
}

}  // namespace xorder::plan
