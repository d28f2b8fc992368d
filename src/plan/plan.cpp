#include "plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "plan/choose.hpp"
#include "plan/price.hpp"
#include "plan/tiles/axis_factors.hpp"
#include "plan/tiles/choose_tiles.hpp"
#include "plan/tiles/factor.hpp"
#include "rounding.hpp"
#include "text/count_text.hpp"
#include "text/seconds_text.hpp"
#include "text/size_text.hpp"
#include "xorder/error.hpp"

namespace xorder::plan {
namespace {

using std::uint64_t;

// An element too large for a request becomes an axis of bytes, which tiles can cut; so does one that lies
// scattered over the input.
Reordering with_small_elements(Reordering what, const Setting& setting) {
  constexpr uint64_t largest = 64 * 1024;
  const uint64_t unit = setting.strided ? setting.strided->unit_bytes() : 1;
  const bool scattered =
      setting.strided && setting.strided->most_bytes_read(what.element_bytes) > largest_request;
  if ((what.element_bytes <= largest && !scattered) || what.element_bytes % unit != 0) return what;
  what.extents.push_back(what.element_bytes / unit);
  what.order.push_back(static_cast<int>(what.extents.size()) - 1);
  what.element_bytes = unit;
  return what;
}

// The reordering as a map along one axis, with all axes in their order, so that its factors are of that kind
// too. Nothing if it is not one: if there is no map, or if axes move whose extents are not all powers of two.
std::optional<Reordering> factorable(const Reordering& what) {
  if (std::ranges::is_sorted(what.order)) return what.mapped ? std::optional(what) : std::nullopt;
  const auto map = flat_map(what);
  if (!map) return std::nullopt;
  return Reordering{what.element_bytes, {what.elements()}, {0}, 0, *map};
}

// The share of the predicted time of one pass that more passes may take. They also need scratch disk, and
// wear it. Predictions also favour extra passes, because a profile is measured with requests at random
// places: short ones that are neighbours in a file take less time than that. In 42 cases, one and two passes
// in turn, two won where this share was below 0.75, and mostly lost above it; but small files gain between
// 0.75 and 0.8 too. (Figures are in bench/file_bench.md, "One pass or two".)
constexpr double worth_more_passes = 0.8;
// If one pass of an axis permutation takes fewer seconds than this, a search for two passes is not worth its
// time.
constexpr double worth_a_search = 0.2;

bool allowed(std::size_t passes, const Reordering& what, const Setting& setting) {
  const uint64_t files = scratch_files(passes);
  return setting.only.allows_passes(passes) && (files == 0 || what.bytes() <= setting.scratch_room / files);
}

// Of any pass.
uint64_t largest_useful_request(const Setting& setting) {
  const uint64_t largest = setting.device.largest_useful_request();
  return setting.source ? std::max(largest, setting.source->largest_useful_request()) : largest;
}

Load whole_blocks(uint64_t bytes, uint64_t block, uint64_t tiles, uint64_t memory) {
  const Requests all{ceil_div(bytes, block), block};
  return {.reads = all, .writes = all, .copied = bytes, .tiles = tiles, .memory = memory};
}

struct MultiPass {
  int block_bits = 0;
  int memory_bits = 0;
  double seconds = 0;
};

// The cheapest block and tile sizes with which the map takes more than one pass, in tiles of at most 2^most
// elements, if there are any.
std::optional<MultiPass> best_block_size(const Reordering& what, const Setting& setting, int most) {
  const Setting first = setting.pass(true, false);
  std::optional<MultiPass> best;
  for (int m = 1; m <= most; ++m) {
    const uint64_t tile = what.element_bytes << m;
    for (int b = 0; b < m; ++b) {
      const int passes = pass_count(what.map, b, m);
      const uint64_t block = what.element_bytes << b;
      if (passes == 1 || !allowed(static_cast<std::size_t>(passes), what, setting) ||
          !setting.only.allows_blocks(block, block)) {
        continue;
      }
      const Load load = whole_blocks(what.bytes(), block, what.bytes() / tile, tile);
      const double seconds = price(load, first) + (passes - 1) * price(load, setting);
      if (!best || seconds < best->seconds) best = MultiPass{b, m, seconds};
    }
  }
  return best;
}

// With the best tile, and with the best smaller one. Next to the largest tile there may be too little memory
// for its windows. (512 MiB of doubles in 22 to 24 MiB: such passes had blocks of 256 and 32 KiB, and took
// longer than in 20 MiB, where both have 1 MiB.)
std::vector<MultiPass> best_block_sizes(const Reordering& what, const Setting& setting) {
  std::vector<MultiPass> all;
  const uint64_t elements = setting.memory / 4 * 3 / what.element_bytes;
  int most = std::min(static_cast<int>(std::bit_width(elements)) - 1, what.map.bits());
  while (all.size() < 2) {
    const auto best = best_block_size(what, setting, most);
    if (!best) break;
    all.push_back(*best);
    most = best->memory_bits - 1;
  }
  return all;
}

// A pass for each factor; nothing if for one of them no tile fits in the memory.
std::optional<std::vector<Pass>> passes_of(const std::vector<Reordering>& factors, const Setting& setting) {
  std::vector<Pass> passes;
  uint64_t touched = setting.touched_memory;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    Setting here = setting.pass(i == 0, i + 1 == factors.size());
    here.touched_memory = touched;
    auto pass = choose_pass(factors[i], here);
    if (!pass) return std::nullopt;
    touched = std::max(touched, pass->memory());
    passes.push_back(std::move(*pass));
  }
  return passes;
}

// A lower bound for two passes: they have the largest requests, and reads and writes overlap from the
// beginning to the end.
double least_seconds_of_two(const Reordering& what, const Setting& setting) {
  const Load load = whole_blocks(what.bytes(), largest_useful_request(setting), what.bytes(), 0);
  return price(load, setting.pass(true, false)) + price(load, setting);
}

// The sequences of reorderings that may be better than a single pass, which takes `single` seconds (nothing:
// no single pass is possible).
std::vector<std::vector<Reordering>> factorings(const Reordering& what, const Setting& setting,
                                                std::optional<double> single) {
  std::vector<std::vector<Reordering>> all;
  const auto worth = [&](double seconds) { return !single || seconds < worth_more_passes * *single; };
  if (const auto mapped = factorable(what)) {
    for (const MultiPass& choice : best_block_sizes(*mapped, setting)) {
      if (!worth(choice.seconds)) continue;
      all.emplace_back();
      for (gf2::AffineMap& map : factor(mapped->map, choice.block_bits, choice.memory_bits)) {
        all.back().push_back(*mapped);
        all.back().back().map = std::move(map);
      }
    }
  } else if (allowed(2, what, setting) &&
             (!single || (*single > worth_a_search && worth(least_seconds_of_two(what, setting))))) {
    for (auto& [first, second] : axis_factors(what, largest_useful_request(setting)))
      all.push_back({std::move(first), std::move(second)});
  }
  return all;
}

// The best plan that takes all of the memory if that gains anything; nothing if no tile fits.
std::optional<Plan> single_plan(const Reordering& what, const Setting& setting) {
  Plan plan{what, setting, {}};
  if (what.elements() == 0) return plan;
  std::optional<double> single;
  if (auto pass = allowed(1, what, setting) ? choose_pass(what, setting.pass(true, true)) : std::nullopt) {
    single = pass->seconds;
    plan.passes.push_back(std::move(*pass));
  }
  for (const auto& factors : factorings(what, setting, single)) {
    auto passes = passes_of(factors, setting);
    if (!passes) continue;
    Plan several{what, setting, *std::move(passes)};
    if (single && several.seconds() >= worth_more_passes * *single) continue;
    if (plan.passes.size() <= 1 || several.seconds() < plan.seconds()) plan = std::move(several);
  }
  if (plan.passes.empty()) return std::nullopt;
  return plan;
}

// Of several processes, each pass takes as long as the one with the most tiles.
double shared_seconds(const Plan& plan) {
  double seconds = scratch_seconds(plan.scratch_bytes(), plan.setting.host);
  for (const Pass& pass : plan.passes) {
    const uint64_t tiles = pass.tiling.tile_count(), processes = plan.setting.processes;
    const uint64_t most = ceil_div(tiles, processes);
    seconds += pass.seconds * static_cast<double>(most * processes) / static_cast<double>(tiles);
  }
  return seconds;
}

// Less memory makes more tiles, of which several processes may get more even shares. A process by itself
// leaves the memory to the search for tiles, which takes no more than gains.
std::vector<uint64_t> amounts(const Setting& setting) {
  std::vector<uint64_t> all{setting.memory};
  for (uint64_t eighths = 7; eighths > 0 && setting.processes > 1; --eighths)
    all.push_back(setting.memory / 8 * eighths);
  return all;
}

}  // namespace

uint64_t Pass::bytes_read() const { return strided ? strided->bytes_read() : tiling.what().bytes(); }

uint64_t Plan::bytes_read() const {
  uint64_t sum = 0;
  for (const Pass& pass : passes) sum += pass.bytes_read();
  return sum;
}

uint64_t Plan::scratch_bytes() const { return scratch_files(passes.size()) * what.bytes(); }

uint64_t Plan::peak_memory() const {
  uint64_t most = 0;
  for (const Pass& pass : passes) most = std::max(most, pass.memory());
  return most;
}

double Plan::seconds() const {
  double sum = scratch_seconds(scratch_bytes(), setting.host);
  for (const Pass& pass : passes) sum += pass.seconds;
  return sum;
}

std::string Plan::describe() const {
  return fmt::format("{} of data, {}, {} of scratch disk\n", size_text(what.bytes()),
                     count_text(passes.size(), "pass"), size_text(scratch_bytes())) +
         describe_passes();
}

std::string Plan::describe_part() const {
  return fmt::format("{} of data, {}\n", size_text(what.bytes()), count_text(passes.size(), "pass")) +
         describe_passes();
}

std::string Plan::describe_passes() const {
  std::string text;
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const Pass& p = passes[i];
    text += fmt::format("pass {}: {} of {}, read in blocks of {}, written in blocks of {}\n", i + 1,
                        count_text(p.tiling.tile_count(), "tile"), size_text(p.tile_bytes),
                        size_text(p.source_block_bytes), size_text(p.target_block_bytes));
    text += fmt::format(
        "        memory {}: {} for tiles, {} for groups being read, {} for writes, {} for carried blocks{}\n",
        size_text(p.memory()), size_text(p.chunk_count * p.chunk_bytes()),
        size_text(p.group_slots * p.group_slot_bytes()), size_text(p.write_slots * p.write_slot_bytes),
        size_text(p.carry_bytes), p.lists > 0 ? fmt::format(", {} for lists", size_text(p.lists)) : "");
    const Host& host = setting.host;
    text += fmt::format("        about {} on {}{}{}\n", seconds_text(p.seconds), setting.device.name,
                        i == 0 && setting.source ? ", reading from " + setting.source->name : "",
                        p.memory() > host.ready_memory + host.touched_alone
                            ? fmt::format(", fresh memory at {:.2g} GB/s", host.fresh_bytes_per_second / 1e9)
                            : "");
  }
  return text;
}

Plan make_plan(const Reordering& reordering, const Setting& setting) {
  if (setting.memory < least_plan_memory) {
    throw InputError(fmt::format("{} of memory is too little: at least {} is needed",
                                 size_text(setting.memory), size_text(least_plan_memory)));
  }
  const Reordering what = with_small_elements(canonical(reordering), setting);
  const auto within = [&](uint64_t memory) {
    return single_plan(what, setting.with_memory(std::max(memory, least_plan_memory)));
  };
  if (auto best = choose(amounts(setting), within, shared_seconds)) {
    best->setting.memory = setting.memory;
    return *std::move(best);
  }
  if (setting.scratch_room != Setting{}.scratch_room) {
    Setting roomy = setting;  // the run will say how much room it needs
    roomy.scratch_room = Setting{}.scratch_room;
    return make_plan(reordering, roomy);
  }
  const auto enough = enough_mebibytes(setting.memory, [&](uint64_t memory) { return bool{within(memory)}; });
  throw InputError(fmt::format("no tile of elements of {} fits in {} of memory{}",
                               size_text(what.element_bytes), size_text(setting.memory),
                               enough ? fmt::format("; {} MiB would do", *enough) : ""));
}

}  // namespace xorder::plan
