// Every pair of a source run and a target run that the axes allow, up to the largest request that the device can use,
// determines the smallest tile that has them. All pairs are priced, which takes a millisecond or two, and the cheapest
// that fits in memory wins; where the prices are close, the smallest.
#include "choose_tiles.hpp"

#include <algorithm>
#include <bit>

namespace xorder::plan {
namespace {

using std::size_t;
using std::uint64_t;

constexpr uint64_t MiB = 1024 * 1024;
constexpr uint64_t cache_line = 64;
constexpr uint64_t small_tiles_bytes =
    64 * MiB;  // small tiles get so much memory in all, to keep the disk busy
constexpr uint64_t most_tile_slots = 64;
constexpr double close_enough = 1.02;  // a smaller tile is worth as much time

uint64_t ceil_div(uint64_t a, uint64_t b) { return (a + b - 1) / b; }
uint64_t round_up(uint64_t a, uint64_t multiple) { return ceil_div(a, multiple) * multiple; }

// The part of a tile that one side asks for: its run spans these lengths.
struct Demand {
  std::vector<uint64_t> length;
  int low = 0;
};

// Even cuts of an axis into 1, 2, .. 8, 10, 12, 14, 16, 20 .. pieces, and the same rounded up to whole `grain`s. Ascending.
std::vector<uint64_t> cuts(uint64_t extent, uint64_t grain) {
  std::vector<uint64_t> lengths;
  const auto cut_into = [&](uint64_t parts) {
    const uint64_t even = ceil_div(extent, std::min(parts, extent));
    lengths.push_back(even);
    if (round_up(even, grain) < extent) lengths.push_back(round_up(even, grain));
  };
  for (uint64_t power = 1; power / 2 < extent; power *= 2) {
    for (uint64_t quarters = 4; quarters < 8; ++quarters) cut_into(power * quarters / 4);
  }
  std::ranges::sort(lengths);
  lengths.erase(std::ranges::unique(lengths).begin(), lengths.end());
  return lengths;
}

class Search {
 public:
  Search(const Reordering& what, const Conditions& conditions) : what_(what), conditions_(conditions) {
    if (!what.mapped) return;
    const int n = what.map.bits();
    const gf2::BitMatrix inverse = what.map.inverse().matrix;
    tile_bits_.resize(static_cast<size_t>(n + 1));
    for (int low = 0; low <= n; ++low) {
      gf2::Subspace s = gf2::Subspace::low_bits(low);
      auto& row = tile_bits_[static_cast<size_t>(low)];
      row.push_back(low);
      for (int i = 0; i < n; ++i) {
        s.add(inverse.column(i));
        row.push_back(s.dimension());
      }
    }
  }

  std::optional<Pass> best() {
    std::vector<int> file_order(what_.extents.size());
    for (size_t i = 0; i < file_order.size(); ++i) file_order[i] = static_cast<int>(i);
    const auto sources = demands(file_order, conditions_.read_alignment);
    const auto targets = demands(what_.order, conditions_.write_alignment);
    std::vector<Candidate> candidates;
    for (const Demand& s : sources) {
      for (const Demand& t : targets) {
        for (const size_t axes : {~size_t{0}, size_t{1}}) {
          if (axes == 1 && !spans_fastest_axis(s, t)) continue;
          if (auto candidate = price(choose(s, t, axes))) candidates.push_back(std::move(*candidate));
        }
      }
    }
    if (candidates.empty()) return std::nullopt;
    const double least = std::ranges::min(candidates, {}, &Candidate::seconds).seconds;
    const auto worth = [&](const Candidate& c) {
      return std::pair(c.seconds > least * close_enough, std::pair(c.memory, c.seconds));
    };
    return pass(std::ranges::min(candidates, {}, worth));
  }

 private:
  struct Candidate {
    TileChoice choice;
    ChunkShape chunk;
    uint64_t chunk_count, tile_slots, group_pitch, group_slots, write_slot, write_slots, carry;
    uint64_t source_block, target_block, memory;
    double seconds;
  };

  int tile_bits(int source_low, int target_low) const {
    return what_.mapped ? tile_bits_[static_cast<size_t>(source_low)][static_cast<size_t>(target_low)] : 0;
  }

  std::vector<Demand> demands(const std::vector<int>& axes, uint64_t alignment) const {
    const uint64_t largest =
        std::max<uint64_t>(1, conditions_.device.largest_useful_request() / what_.element_bytes);
    Demand demand{std::vector<uint64_t>(what_.extents.size(), 1), 0};
    std::vector<Demand> list{demand};
    uint64_t run = 1;
    for (size_t i = axes.size(); i-- > 0 && run < largest;) {
      const auto axis = static_cast<size_t>(axes[i]);
      if (what_.mapped == axes[i]) {
        for (int low = 1; low <= what_.map.bits() && run << (low - 1) < largest; ++low) {
          demand.low = low;
          list.push_back(demand);
        }
        demand.low = what_.map.bits();
      } else {
        const uint64_t grain = ceil_div(std::max<uint64_t>(alignment, 1), what_.element_bytes * run);
        for (const uint64_t length : cuts(what_.extents[axis], grain)) {
          demand.length[axis] = length;
          list.push_back(demand);
          if (run * length >= largest) break;
        }
        demand.length[axis] = what_.extents[axis];
      }
      run *= what_.extents[axis];
    }
    return list;
  }

  // Whether target runs can go on along a second axis.
  bool spans_fastest_axis(const Demand& s, const Demand& t) const {
    if (what_.order.size() < 2 || what_.mapped == what_.order.back()) return false;
    const auto axis = static_cast<size_t>(what_.order.back());
    return std::max(s.length[axis], t.length[axis]) == what_.extents[axis];
  }

  TileChoice choose(const Demand& s, const Demand& t, size_t target_axes) const {
    TileChoice choice{s.length, {}, s.low, t.low, t.low};
    for (size_t axis = 0; axis < s.length.size(); ++axis) {
      choice.tile[axis] = std::max(s.length[axis], t.length[axis]);
    }
    choice.group = choice.tile;
    choice.target_axes = target_axes;
    split_into_groups(choice);
    return choice;
  }

  // Leaves most of a small memory to tiles.
  uint64_t group_target_bytes() const { return std::min(conditions_.group_bytes, conditions_.memory / 32); }

  // Along the slowest axis of the target run that is longer than 1, so that a group gives one piece to each run: of
  // about group_target_bytes(), but pieces of at least a cache line.
  void split_into_groups(TileChoice& choice) const {
    uint64_t elements = uint64_t{1} << tile_bits(choice.source_low, choice.target_low);
    for (const uint64_t length : choice.tile) elements *= length;
    uint64_t run = 1;  // of the target, up to the axis to split
    std::optional<size_t> split;
    uint64_t split_run = 1;
    for (size_t i = what_.order.size(); i-- > 0;) {
      if (what_.order.size() - i > choice.target_axes) break;
      const auto axis = static_cast<size_t>(what_.order[i]);
      const bool mapped = what_.mapped == what_.order[i];
      const uint64_t length = mapped ? uint64_t{1} << choice.target_low : choice.tile[axis];
      if (length > 1) {
        split = axis;
        split_run = run;
      }
      run *= length;
      if (length < what_.extents[axis]) break;
    }
    if (!split) return;
    const uint64_t w = what_.element_bytes;
    const uint64_t least_piece = ceil_div(cache_line, split_run * w);
    if (what_.mapped == static_cast<int>(*split)) {
      int& low = choice.group_low;
      const auto bytes = [&] {
        return (elements * w) >>
               (tile_bits(choice.source_low, choice.target_low) - tile_bits(choice.source_low, low));
      };
      while (low > 0 && uint64_t{1} << (low - 1) >= least_piece && bytes() > group_target_bytes()) --low;
    } else {
      const uint64_t unit_bytes = elements / choice.tile[*split] * w;
      choice.group[*split] =
          std::min(choice.tile[*split], std::max(least_piece, group_target_bytes() / unit_bytes));
    }
  }

  // Whether all runs begin and end at multiples of `alignment`.
  bool aligned(const RunShape& shape, const std::vector<int>& axes, const std::vector<uint64_t>& lengths,
               uint64_t offset, uint64_t alignment) const {
    if (offset % alignment != 0) return false;
    uint64_t stride = what_.element_bytes;
    for (size_t i = axes.size(); i-- > 0;) {
      const auto axis = static_cast<size_t>(axes[i]);
      uint64_t step = stride;  // from one run's beginning to another's along this axis
      if (what_.mapped == axes[i]) {
        step <<= shape.mapped_low;
      } else if (shape.axes[axis].runs == 0) {
        step *= lengths[axis];
      }
      if (step % alignment != 0) return false;
      stride *= what_.extents[axis];
    }
    return true;
  }

  // The bytes of an average run: edges of an axis that does not divide evenly have shorter ones.
  uint64_t average_run(const RunShape& shape, const std::vector<uint64_t>& lengths) const {
    double run = static_cast<double>(shape.run_elements * what_.element_bytes);
    for (size_t axis = 0; axis < lengths.size(); ++axis) {
      if (what_.mapped == static_cast<int>(axis) || shape.axes[axis].runs != 0) continue;
      const uint64_t extent = what_.extents[axis];
      run *=
          static_cast<double>(extent) / static_cast<double>(ceil_div(extent, lengths[axis]) * lengths[axis]);
    }
    return std::max<uint64_t>(1, static_cast<uint64_t>(run));
  }

  std::optional<Candidate> price(TileChoice choice) const {
    const uint64_t w = what_.element_bytes;
    const int bits = tile_bits(choice.source_low, choice.target_low);
    const int group_bits = tile_bits(choice.source_low, choice.group_low);
    uint64_t tile_elements = 1;
    for (const uint64_t length : choice.tile) {
      if (__builtin_mul_overflow(tile_elements, length, &tile_elements)) return std::nullopt;
    }
    if (bits >= 62 || tile_elements > (conditions_.memory / w) >> bits) return std::nullopt;
    tile_elements <<= bits;

    const RunShape source = source_shape(what_, choice, group_bits);
    const RunShape target = target_shape(what_, choice, bits);
    std::vector<int> file_order(what_.extents.size());
    for (size_t i = 0; i < file_order.size(); ++i) file_order[i] = static_cast<int>(i);
    const uint64_t ra = conditions_.read_alignment, wa = conditions_.write_alignment;
    const bool source_aligned = aligned(source, file_order, choice.group, conditions_.source_offset, ra);
    const bool target_aligned = aligned(target, what_.order, choice.tile, conditions_.target_offset, wa);

    Candidate c{};
    c.source_block = average_run(source, choice.group);
    c.target_block = average_run(target, choice.tile);
    const uint64_t source_run = source.run_elements * w;
    const uint64_t elements = what_.elements();
    const uint64_t memory = conditions_.memory;

    c.group_pitch = source_aligned ? source_run : round_up(source_run, ra) + ra;
    const uint64_t group_slot = source.run_count * c.group_pitch;
    const uint64_t groups = ceil_div(elements, source.run_elements * source.run_count);
    c.group_slots =
        std::min(groups, std::clamp<uint64_t>(std::min(24 * MiB, memory / 8) / group_slot, 3, 16));

    const uint64_t request = std::min(target.run_elements * w, largest_request);
    c.write_slot = round_up(request, wa) + (target_aligned ? 0 : wa);
    const uint64_t writes = ceil_div(elements * w, request);
    c.write_slots = std::min(writes, std::clamp<uint64_t>(std::min(16 * MiB, memory / 16) / c.write_slot, 4,
                                                          conditions_.device.depth));

    c.carry = target_aligned ? 0 : 2 * target.run_count * wa;
    const uint64_t windows = c.group_slots * group_slot + c.write_slots * c.write_slot + c.carry;
    if (windows >= memory) return std::nullopt;

    c.chunk = chunk_shape(what_, choice, target, ceil_div(conditions_.chunk_bytes, w));
    const uint64_t tile_chunks = target.run_count * c.chunk.per_run;
    const uint64_t most_chunks = (memory - windows) / (c.chunk.elements * w);
    const uint64_t tiles = ceil_div(elements, tile_elements);
    // A sixteenth of a tile lets the next one begin before the last one's first write.
    const uint64_t least_chunks =
        tiles == 1 ? tile_chunks : tile_chunks + std::max(tile_chunks / 16, c.chunk.per_run);
    if (least_chunks > most_chunks) return std::nullopt;
    const uint64_t wanted = std::max(2 * tile_chunks, small_tiles_bytes / (c.chunk.elements * w));
    c.chunk_count = std::min({most_chunks, std::max(wanted, least_chunks), tiles * tile_chunks});
    c.tile_slots = std::min({tiles, most_tile_slots, c.chunk_count / tile_chunks + 2});
    c.memory = windows + c.chunk_count * c.chunk.elements * w;

    const uint64_t bytes = elements * w;
    c.seconds = conditions_.device.read_seconds(ceil_div(bytes, c.source_block),
                                                c.source_block + (source_aligned ? 0 : ra)) +
                conditions_.device.write_seconds(ceil_div(bytes, c.target_block),
                                                 c.target_block + (target_aligned ? 0 : wa));
    c.choice = std::move(choice);
    return c;
  }

  Pass pass(const Candidate& c) const {
    Pass pass{Tiling(what_, c.choice)};
    pass.source_block_bytes = c.source_block;
    pass.target_block_bytes = c.target_block;
    pass.tile_bytes = pass.tiling.tile_elements() * what_.element_bytes;
    pass.chunk = c.chunk;
    pass.chunk_count = c.chunk_count;
    pass.tile_slots = c.tile_slots;
    pass.group_pitch = c.group_pitch;
    pass.group_slots = c.group_slots;
    pass.write_slot_bytes = c.write_slot;
    pass.write_slots = c.write_slots;
    pass.carry_bytes = c.carry;
    pass.seconds = c.seconds;
    return pass;
  }

  const Reordering& what_;
  const Conditions& conditions_;
  std::vector<std::vector<int>> tile_bits_;  // [source_low][target_low]
};

}  // namespace

std::optional<Pass> choose_pass(const Reordering& what, const Conditions& conditions) {
  return Search(what, conditions).best();
}

}  // namespace xorder::plan
