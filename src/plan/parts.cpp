#include "plan/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "plan/choose.hpp"
#include "plan/plan.hpp"
#include "plan/price.hpp"
#include "plan/processors/exchange_memory.hpp"
#include "plan/processors/processors.hpp"
#include "rounding.hpp"
#include "text/count_text.hpp"
#include "text/seconds_text.hpp"
#include "text/size_text.hpp"
#include "xorder/error.hpp"

namespace xorder::plan {
namespace {

using gf2::AffineMap;
using gf2::BitMatrix;
using gf2::Subspace;
using gf2::Word;
using std::uint64_t;

// Two parts take turns: one is permuted while the other is written and read. The third is what the exchange
// sends from.
constexpr uint64_t parts_in_memory = 3;
// The rate at which the network and the memory of a rank exchange data while the disk works.
constexpr double exchanged_bytes_per_second = 1e9;
// How many sizes of a part below the largest are tried too. With smaller parts, more of the exchange happens
// while the disk works.
constexpr int sizes_tried = 6;

// What parts of this size take within `memory`.
uint64_t memory_for(uint64_t part_bytes, int lg_ranks, uint64_t memory) {
  return parts_in_memory * part_bytes + exchange_memory(uint64_t{1} << lg_ranks, part_bytes) +
         transfer_memory(memory);
}

bool fits(uint64_t part_bytes, int lg_ranks, uint64_t memory) {
  return part_bytes <= memory && memory_for(part_bytes, lg_ranks, memory) <= memory;
}

struct Candidate {
  std::optional<BitMatrix> before;
  CommonTiling tiling;
  double seconds;       // in all
  double pass_seconds;  // of the tiles
};

class PartsSearch {
 public:
  PartsSearch(const AffineMap& map, uint64_t element_bytes, int lg_ranks, const Setting& setting)
      : map_(map),
        element_bytes_(element_bytes),
        lg_ranks_(lg_ranks),
        setting_(setting),
        block_bits_(map.bits() - lg_ranks) {
    while (largest_ < block_bits_ && fits(element_bytes << (largest_ + 1), lg_ranks, setting.memory))
      ++largest_;
    const uint64_t useful = std::max<uint64_t>(1, setting.device.largest_useful_request() / element_bytes);
    longest_run_ = std::min(static_cast<int>(std::bit_width(useful)) - 1, block_bits_);
  }

  Candidate best() const {
    std::optional<Candidate> best;
    const auto consider = [&](std::optional<Candidate> candidate) {
      if (candidate && (!best || candidate->seconds < best->seconds)) best = std::move(candidate);
    };
    for (int m = largest_; m >= std::max(0, largest_ - sizes_tried); --m) {
      for (int s = 0; s <= std::min(m, longest_run_); ++s) {
        // For a given s, only the largest t counts.
        for (int t = std::min(m, longest_run_); t >= 0; --t) {
          if (auto space = common_space(map_, lg_ranks_, m, s, t)) {
            consider(in_one_pass(CommonTiling(map_, lg_ranks_, *space)));
            if (s == 0) consider(in_two_passes(*space));
            break;
          }
        }
      }
    }
    return *std::move(best);
  }

 private:
  // Of a rank's block, in requests of at most transfer_bytes. A block of the disk is read before a part of it
  // is written, and so are those at both ends of a run that does not begin and end with them.
  double seconds(const CommonTiling& tiling, const Setting& setting) const {
    const uint64_t block = element_bytes_ << block_bits_;
    const auto requests = [&](int lg) {
      const uint64_t request = std::clamp<uint64_t>(element_bytes_ << lg, 1, transfer_bytes);
      return Requests{ceil_div(block, request), request};
    };
    const auto edges = [&](int lg, uint64_t offset) {
      const uint64_t run = element_bytes_ << lg;
      return (offset | run) % file_block == 0 ? 0 : 2 * (block / run);
    };
    const int read = tiling.source_run(), written = tiling.target_run();
    const uint64_t read_edges = edges(read, setting.source_offset);
    const uint64_t written_edges = edges(written, setting.target_offset);
    return price({.reads = requests(read),
                  .writes = requests(written),
                  .edge_reads = {read_edges + written_edges, file_block},
                  .edge_writes = {written_edges, file_block},
                  .tiles = tiling.tiles(),
                  // Buffers for more than is read and written stay untouched.
                  .memory = std::min(memory_for(element_bytes_ << tiling.bits(), lg_ranks_, setting.memory),
                                     2 * block),
                  .exchange = static_cast<double>(block) / exchanged_bytes_per_second},
                 setting);
  }

  Candidate in_one_pass(CommonTiling tiling) const {
    const double all = seconds(tiling, setting_.pass(true, true));
    return {std::nullopt, std::move(tiling), all, all};
  }

  // The first pass permutes within each block, from the parts of S to runs of 2^m. Nothing if they are such
  // runs already.
  std::optional<Candidate> in_two_passes(const Subspace& space) const {
    const CommonTiling first(map_, lg_ranks_, space);
    const int m = first.bits();
    if (first.source_run() == m) return std::nullopt;
    const BitMatrix together = bring_together(first.source_basis().columns());
    const ArrayShape block{{uint64_t{1} << block_bits_}, element_bytes_, Order::c};
    Setting first_pass = setting_.part(true, false);
    first_pass.read_alignment = first_pass.write_alignment = file_block;
    Setting last_pass = setting_.pass(false, true);
    double before = 0;
    try {
      const Plan within = make_plan(mapping_of_all(block, {together, 0}), first_pass);
      for (const Pass& pass : within.passes) before += pass.seconds;
      before += scratch_seconds(scratch_files(within.passes.size() + 1) * within.what.bytes(), setting_.host);
      last_pass.touched_memory = within.peak_memory();
    } catch (const InputError&) {  // too little memory for the tile engine
      return std::nullopt;
    }
    std::vector<Word> columns = together.columns();
    for (int i = block_bits_; i < map_.bits(); ++i) columns.push_back(gf2::unit(i));
    const BitMatrix whole(map_.bits(), std::move(columns));
    const AffineMap rest{map_.matrix * whole.inverse().value(), map_.complement};
    CommonTiling tiling(rest, lg_ranks_, space.image(whole));
    const double last = seconds(tiling, last_pass);
    return Candidate{together, std::move(tiling), before + last, last};
  }

  // A map that sends these vectors to the lowest bits, and the bits that are not its pivots to those above.
  BitMatrix bring_together(std::vector<Word> from) const {
    Word pivots = 0;
    for (const Word vector : from) pivots |= std::bit_floor(vector);
    for (int i = 0; i < block_bits_; ++i) {
      if (!(pivots >> i & 1)) from.push_back(gf2::unit(i));
    }
    return BitMatrix(block_bits_, std::move(from)).inverse().value();
  }

  const AffineMap& map_;
  uint64_t element_bytes_;
  int lg_ranks_;
  const Setting& setting_;
  int block_bits_;
  int largest_ = 0;      // m
  int longest_run_ = 0;  // lg of the longest useful one
};

// How many elements x are on another rank than A x ⊕ c.
uint64_t that_change_rank(const AffineMap& map, int p) {
  const int n = map.bits(), b = n - p;
  std::vector<Word> columns;
  for (int i = 0; i < n; ++i) columns.push_back((map.matrix.column(i) >> b) ^ (i < b ? 0 : gf2::unit(i - b)));
  const BitMatrix difference(p, std::move(columns));
  const uint64_t all = uint64_t{1} << n;
  return difference.solve(map.complement >> b) ? all - (all >> difference.rank()) : all;
}

}  // namespace

PartsPlan::PartsPlan(const AffineMap& map, uint64_t element_bytes, int lg_ranks, const Setting& setting)
    : element_bytes_(element_bytes),
      bits_(map.bits()),
      lg_ranks_(lg_ranks),
      device_name_(setting.device.name) {
  if (lg_ranks_ > bits_) {
    throw InputError(fmt::format("{} ranks are too many for {} elements", ranks(), uint64_t{1} << bits_));
  }
  const auto fit = [&](uint64_t memory) { return fits(element_bytes, lg_ranks, memory); };
  if (!fit(setting.memory)) {
    throw InputError(fmt::format("an element of {} is too large for {} of memory; {} MiB would do",
                                 size_text(element_bytes), size_text(setting.memory),
                                 enough_mebibytes(setting.memory, fit).value()));
  }
  Candidate best = PartsSearch(map, element_bytes, lg_ranks, setting).best();
  if (best.before) before_ = AffineMap{*std::move(best.before), 0};
  tiling_.emplace(std::move(best.tiling));
  const int m = tiling_->bits();
  lg_rounds_ = tiling_->within(0).matrix.block(m, 0, lg_ranks_, m).rank();
  bytes_sent_ = that_change_rank(map, lg_ranks_) * element_bytes;
  const uint64_t bytes = block_bytes() * ranks();
  pass_ = {.tiles = tiling_->tiles(),
           .tile_bytes = part_bytes(),
           .source_block_bytes = element_bytes << tiling_->source_run(),
           .target_block_bytes = element_bytes << tiling_->target_run(),
           .memory = memory_for(part_bytes(), lg_ranks, setting.memory),
           .bytes_read = bytes,
           .bytes_written = bytes,
           .predicted_seconds = best.pass_seconds};
}

std::string PartsPlan::describe() const {
  return fmt::format(
      "{} that all ranks share, {} of each in a rank, read in runs of {}, exchanged in {}, "
      "written in runs of {}\n"
      "        memory {} in each rank, about {} on {}\n"
      "        {} of {} between ranks, {} in all\n",
      count_text(pass_.tiles, "tile"), size_text(part_bytes()), size_text(pass_.source_block_bytes),
      count_text(rounds(), "round"), size_text(pass_.target_block_bytes), size_text(pass_.memory),
      seconds_text(pass_.predicted_seconds), device_name_, count_text(messages(), "message"),
      size_text(message_bytes()), size_text(bytes_sent_));
}

}  // namespace xorder::plan
