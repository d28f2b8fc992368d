// Every pair of a source run and a target run that the axes allow, up to the largest request that the device
// can use, determines the smallest tile that has them. All pairs are priced, which takes a millisecond or
// two, and the cheapest that fits in memory wins; where the prices are close, the smallest.
#include "plan/tiles/choose_tiles.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "plan/price.hpp"
#include "plan/tiles/buffers.hpp"
#include "plan/tiles/geometry.hpp"
#include "plan/tiles/source_files.hpp"
#include "rounding.hpp"

namespace xorder::plan {
namespace {

using std::size_t;
using std::uint64_t;

constexpr uint64_t cache_line = 64;
constexpr double close_enough = 1.03;  // the time that a smaller tile is worth

// What one side asks of a tile: its run spans these lengths.
struct Demand {
  std::vector<uint64_t> length;
  int low = 0;
};

// Even cuts of an axis into 1, 2, .. 8, 10, 12, 14, 16, 20 .. pieces, and the same rounded up to whole
// `grain`s. Ascending.
std::vector<uint64_t> cuts(uint64_t extent, uint64_t grain) {
  std::vector<uint64_t> lengths;
  const auto cut_into = [&](uint64_t parts) {
    const uint64_t even = ceil_div(extent, std::min(parts, extent));
    lengths.push_back(even);
    if (round_up(even, grain) < extent) lengths.push_back(round_up(even, grain));
  };
  for (uint64_t power = 1; power != 0 && power / 2 < extent; power *= 2) {
    for (uint64_t quarters = 4; quarters < 8; ++quarters)
      cut_into(power / 4 * quarters + power % 4 * quarters / 4);
  }
  std::ranges::sort(lengths);
  lengths.erase(std::ranges::unique(lengths).begin(), lengths.end());
  return lengths;
}

class Search {
 public:
  Search(const Reordering& what, const Setting& setting) : what_(what), setting_(setting) {
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
    std::iota(file_order.begin(), file_order.end(), 0);
    const auto sources = demands(file_order, setting_.read_alignment);
    const auto targets = demands(what_.order, setting_.write_alignment);
    // Those that a cheaper one rules out are not kept: all of them would take megabytes.
    std::vector<Candidate> candidates;
    Candidate candidate;
    double least = std::numeric_limits<double>::infinity();
    for (const Demand& s : sources) {
      for (const Demand& t : targets) {
        for (const size_t axes : {~size_t{0}, shortest_target_run(s, t)}) {
          if (axes == 0) continue;
          choose(s, t, axes, candidate.geometry.choice);
          if (!price(candidate) || candidate.seconds > least * close_enough) continue;
          if (candidate.seconds < least) {
            least = candidate.seconds;
            std::erase_if(candidates, [&](const Candidate& c) { return c.seconds > least * close_enough; });
          }
          candidates.push_back(candidate);
        }
      }
    }
    if (candidates.empty()) return std::nullopt;
    return pass(std::ranges::min(
        candidates, {}, [](const Candidate& c) { return std::pair(c.buffers.memory(), c.seconds); }));
  }

 private:
  struct Candidate {
    Geometry geometry;
    Buffers buffers;
    double seconds = 0;
  };

  int tile_bits(int source_low, int target_low) const {
    return what_.mapped ? tile_bits_[static_cast<size_t>(source_low)][static_cast<size_t>(target_low)] : 0;
  }

  std::vector<Demand> demands(const std::vector<int>& axes, uint64_t alignment) const {
    const uint64_t largest =
        std::max<uint64_t>(1, setting_.device.largest_useful_request() / what_.element_bytes);
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

  // The fewest axes along which a target run, which is a chunk then, has a quarter of the wanted size of a
  // chunk; 0 if the tile does not span them. The bookkeeping of a chunk takes some 40 bytes: with runs of 4
  // bytes it would take far more memory than the tiles.
  size_t shortest_target_run(const Demand& s, const Demand& t) const {
    uint64_t bytes = what_.element_bytes;
    for (size_t axes = 1; axes < what_.order.size(); ++axes) {
      const int i = what_.order[what_.order.size() - axes];
      const auto axis = static_cast<size_t>(i);
      if (what_.mapped == i || std::max(s.length[axis], t.length[axis]) < what_.extents[axis]) return 0;
      bytes *= what_.extents[axis];
      if (bytes >= setting_.chunk_bytes / 4) return axes;
    }
    return 0;
  }

  void choose(const Demand& s, const Demand& t, size_t target_axes, TileChoice& choice) const {
    choice.tile = s.length;
    choice.source_low = s.low;
    choice.target_low = choice.group_low = t.low;
    for (size_t axis = 0; axis < s.length.size(); ++axis) {
      choice.tile[axis] = std::max(s.length[axis], t.length[axis]);
    }
    choice.group = choice.tile;
    choice.target_axes = target_axes;
    split_into_groups(choice);
  }

  // Leaves most of a small memory to tiles, and divides a small file into several groups. What is read around
  // the elements counts.
  uint64_t group_target_bytes(const TileChoice& choice) const {
    const uint64_t of_file = std::max(largest_request, what_.bytes() / 128);
    const uint64_t bytes = std::min({setting_.group_bytes, setting_.memory / 32, of_file});
    if (!setting_.strided) return bytes;
    RunShape shape;
    set_source_shape(what_, choice, tile_bits(choice.source_low, choice.target_low), shape);
    const auto run = static_cast<double>(shape.run_elements * what_.element_bytes);
    const double read = setting_.strided->bytes_read(run) +
                        setting_.strided->spans(run) * static_cast<double>(2 * setting_.read_alignment);
    return static_cast<uint64_t>(static_cast<double>(bytes) * run / (run + read));
  }

  // Splits along the slowest axis of the target run that is longer than 1, so that a group gives one piece to
  // each run. Groups have about group_target_bytes(), but pieces of at least a cache line.
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
    const uint64_t w = what_.element_bytes, target_bytes = group_target_bytes(choice);
    const uint64_t least_piece = ceil_div(cache_line, split_run * w);
    if (what_.mapped == static_cast<int>(*split)) {
      int& low = choice.group_low;
      const auto bytes = [&] {
        return (elements * w) >>
               (tile_bits(choice.source_low, choice.target_low) - tile_bits(choice.source_low, low));
      };
      while (low > 0 && uint64_t{1} << (low - 1) >= least_piece && bytes() > target_bytes) --low;
    } else {
      const uint64_t unit_bytes = elements / choice.tile[*split] * w;
      choice.group[*split] =
          cut_evenly(choice.tile[*split], least_piece, target_bytes / unit_bytes, whole_blocks(*split));
    }
  }

  // The least number of coordinates along the axis that are whole blocks of the source.
  uint64_t whole_blocks(size_t axis) const {
    uint64_t bytes = what_.element_bytes;
    for (size_t i = axis + 1; i < what_.extents.size(); ++i) bytes *= what_.extents[i];
    const uint64_t block = std::max<uint64_t>(1, setting_.read_alignment);
    return block / std::gcd(block, bytes);
  }

  // The length of parts of `length`: at most the larger of `wanted` and `least`, at least `least`. All are
  // about as long, because a last part of a single column would be read element by element. They are whole
  // `grain`s if that is possible.
  static uint64_t cut_evenly(uint64_t length, uint64_t least, uint64_t wanted, uint64_t grain) {
    const uint64_t most = std::max(least, wanted);
    const uint64_t even = std::max(least, ceil_div(length, ceil_div(length, most)));
    const uint64_t grains = round_up(even, grain);
    return std::min(length, grains <= most ? grains : even);
  }

  // Completes a candidate that has a choice. False if that does not fit in the memory.
  bool price(Candidate& c) const {
    Geometry& where = c.geometry;
    const int bits = tile_bits(where.choice.source_low, where.choice.target_low);
    const int group_bits = tile_bits(where.choice.source_low, where.choice.group_low);
    if (!complete(what_, setting_, bits, group_bits, where)) return false;
    if (!setting_.only.allows_blocks(where.source_block, where.target_block)) return false;
    const auto memory = buffers(what_, setting_, where);
    if (!memory) return false;
    c.buffers = *memory;
    const uint64_t bytes = what_.bytes(), read = where.source_block, written = where.target_block;
    const uint64_t read_excess = where.source_aligned ? 0 : setting_.read_alignment;
    const uint64_t write_excess = where.target_aligned ? 0 : setting_.write_alignment;
    Requests reads{ceil_div(bytes, read), read + read_excess};
    if (setting_.strided) {
      const double spans = setting_.strided->spans(static_cast<double>(read));
      reads = {static_cast<uint64_t>(static_cast<double>(reads.count) * spans),
               read_block(where) + read_excess};
    }
    c.seconds = plan::price({.reads = reads,
                             .writes = {ceil_div(bytes, written), written + write_excess},
                             .copied = setting_.strided ? bytes / 2 * 3 : bytes,  // once more
                             .tiles = where.tiles,
                             .memory = memory->memory()},
                            setting_);
    return true;
  }

  // What lies together in the source, on average.
  uint64_t read_block(const Geometry& g) const {
    if (!setting_.strided) return g.source_block;
    const auto run = static_cast<double>(g.source_block);
    return static_cast<uint64_t>(setting_.strided->bytes_read(run) / setting_.strided->spans(run));
  }

  Pass pass(const Candidate& c) const {
    return {c.buffers,
            Tiling(what_, c.geometry.choice),
            setting_.strided,
            read_block(c.geometry),
            c.geometry.target_block,
            c.geometry.tile_elements * what_.element_bytes,
            c.seconds};
  }

  const Reordering& what_;
  const Setting& setting_;
  std::vector<std::vector<int>> tile_bits_;  // [source_low][target_low]
};

}  // namespace

// To read through long gaps takes memory: so short ones are tried as well.
std::optional<Pass> choose_pass(const Reordering& what, const Setting& setting) {
  if (!setting.strided) return Search(what, setting).best();
  std::optional<Pass> best;
  for (const uint64_t gap : {gap_worth_reading(setting.device), 2 * setting.read_alignment}) {
    Setting here = setting;
    here.strided = setting.strided->reading_through(gap);
    auto pass = Search(what, here).best();
    if (pass && (!best || pass->seconds < best->seconds)) best = std::move(pass);
  }
  return best;
}

}  // namespace xorder::plan
