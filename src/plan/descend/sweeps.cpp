#include "plan/descend/sweeps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

#include "byte_units.hpp"
#include "count_text.hpp"
#include "plan/cost.hpp"
#include "plan/processors/processors.hpp"
#include "rounding.hpp"
#include "size_text.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::plan {
namespace {

using std::uint64_t;

constexpr unsigned gathered_in_flight = 3, streamed_in_flight = 4;
constexpr int lg_least_strips = 3;  // of gathered sweeps, so that reads, computing and writes overlap
constexpr uint64_t useful_run = 4 * MiB, least_run = 4 * KiB;  // bytes of a strip's row
// The rows that meet are read at once or, if that does not fit, in two slices. More slices would take still
// less memory; but for each of them the widest iterations need as many rows again on either side.
constexpr int lg_most_slices = 1;

class Planner {
 public:
  Planner(const SweepConditions& conditions, const SweepSizes& given) : given_(given) {
    plan_.conditions = conditions;
    busy_ = (conditions.reads.plus | conditions.reads.minus) & mask(conditions.lg_size);
    if (busy_ == 0) busy_ = mask(conditions.lg_size);  // everything is to be copied
    plan_.cache.record_bytes = conditions.record_bytes;
    if (given.cache_bytes != 0) plan_.cache.bytes = given.cache_bytes;
    const uint64_t memory = conditions.memory;
    // Enough threads to keep disks and processors busy at once.
    plan_.threads = static_cast<unsigned>(
        std::clamp<uint64_t>(memory / (4 * MiB), 2, std::max(8u, conditions.threads + 4)));
    plan_.request_bytes = given.request_bytes != 0
                              ? given.request_bytes
                              : std::clamp<uint64_t>(std::bit_ceil(memory / 128), 64 * KiB, MiB);
  }

  /// The best plan with blocks of this size, or of any size.
  std::optional<SweepPlan> plan(std::optional<int> lg_block) {
    const int n = lg_size();
    lg_block_ = lg_block;
    if (n == 0) return with({sweep(0, 0)}, 0);
    // The best sweeps for the iterations below `high`: the topmost of them, and the seconds of all.
    struct Best {
      std::optional<Sweep> top;
      double seconds = 0;
    };
    std::vector<Best> best(static_cast<std::size_t>(n) + 1);
    const auto at = [&](int high) -> Best& { return best[static_cast<std::size_t>(high)]; };
    for (int high = 1; high <= n; ++high) {
      for (int low = 0; low < high; ++low) {
        if (low > 0 && !at(low).top) continue;
        if (!allowed(low, high)) continue;
        const std::optional<Sweep> top = sweep(low, high);
        if (!top) continue;
        const double seconds = at(low).seconds + top->pass.predicted_seconds;
        if (!at(high).top || seconds < at(high).seconds * (1 - 1e-9)) at(high) = {top, seconds};
      }
    }
    std::vector<std::optional<Sweep>> sweeps;
    for (int high = n; high > 0; high = sweeps.back()->iterations.low) {
      sweeps.push_back(at(high).top);
      if (!sweeps.back()) return std::nullopt;
    }
    const int lowest_block = sweeps.back()->iterations.high;
    if (ascend()) std::reverse(sweeps.begin(), sweeps.end());
    return with(sweeps, lg_block.value_or(lowest_block));
  }

  /// One sweep with the whole schedule of virtual processors, if the array has few records and is at most
  /// half of the memory. (Each record takes many messages, so large arrays would take hours.)
  std::optional<SweepPlan> whole(int lg_block) {
    constexpr int most_lg_records = 18;
    if (given_.columns != 0 || lg_size() > most_lg_records ||
        plan_.array_bytes() > plan_.conditions.memory / 2)
      return std::nullopt;
    Sweep one = read_and_written(0, lg_size());
    one.lg_slice = lg_size();
    one.in_flight = 1;
    one.nodes = whole_schedule(node_conditions(lg_block));
    if (!fits(one, 1)) return std::nullopt;
    estimate(one);
    return with({one}, lg_block);
  }

 private:
  int lg_size() const { return plan_.conditions.lg_size; }
  bool ascend() const { return plan_.conditions.ascend; }
  uint64_t record() const { return plan_.conditions.record_bytes; }

  std::optional<SweepPlan> with(const std::vector<std::optional<Sweep>>& sweeps, int lg_block) const {
    SweepPlan made = plan_;
    made.lg_block = lg_block;
    for (const auto& sweep : sweeps) {
      if (!sweep) return std::nullopt;
      if (is_idle(sweep->iterations)) continue;
      made.sweeps.push_back(*sweep);
      if (sweep->nodes) made.schedule = node_schedule(node_conditions(lg_block), *sweep->nodes);
    }
    return made;
  }

  NodeConditions node_conditions(int lg_block) const {
    const SweepConditions& c = plan_.conditions;
    return {.between = c.between,
            .ascend = c.ascend,
            .lg_size = c.lg_size,
            .lg_block = lg_block,
            .record_bytes = c.record_bytes,
            .reads = c.reads,
            .threads = plan_.threads,
            .message_bytes = given_.message_bytes,
            .link_times = c.link_times};
  }

  // Whether virtual processors do these iterations.
  bool on_nodes(int low, int high) const {
    return plan_.conditions.between != Between::threads && low == lg_block_ && high == lg_size() &&
           low < high;
  }

  // Whether a sweep may have these iterations. Those within blocks of a given size are one sweep, and a sweep
  // between blocks has at most given_.iterations. Those that virtual processors do are one sweep.
  bool allowed(int low, int high) const {
    if (plan_.conditions.between != Between::threads) {
      if (high > *lg_block_) return on_nodes(low, high);
    } else if (lg_block_ && low < *lg_block_) {
      return low == 0 && high == *lg_block_;
    }
    const bool between = low > 0 || lg_block_ == 0;
    return !between || given_.iterations == 0 || static_cast<uint64_t>(high - low) <= given_.iterations;
  }

  // A sweep with what follows from its iterations alone.
  Sweep read_and_written(int low, int high) const {
    Sweep one;
    one.iterations = {low, high};
    one.gathered = high == lg_size();
    const bool lowest = (busy_ & mask(low)) == 0, highest = (busy_ & ~mask(high)) == 0;
    const bool first = ascend() ? lowest : highest, last = ascend() ? highest : lowest;
    const SweepConditions& c = plan_.conditions;
    one.in_place = !first && (!last || record() == c.output_bytes);
    one.pass.bytes_read = (first ? c.input_bytes : record()) << lg_size();
    one.pass.bytes_written = (last ? c.output_bytes : record()) << lg_size();
    return one;
  }

  // The sweep with the widest useful strips that fit, if any fit.
  std::optional<Sweep> sweep(int low, int high) const {
    Sweep one = read_and_written(low, high);
    if (is_idle(one.iterations)) return one;
    const bool given = given_.columns != 0;
    one.lg_columns = given ? std::min(low, exact_lg(given_.columns, "columns of a strip")) : low;
    for (; one.lg_columns >= 0; --one.lg_columns) {
      if (!set_slices(one)) {
        if (given) break;
        continue;
      }
      const uint64_t run = record() << one.lg_columns;
      const bool enough = !one.gathered || low - one.lg_columns >= lg_least_strips;
      if (given || one.lg_columns == 0 || (run <= useful_run && enough) || run / 2 < least_run) {
        estimate(one);
        return one;
      }
    }
    return std::nullopt;
  }

  // Sets the largest slices that fit; false if none do.
  bool set_slices(Sweep& one) const {
    const int count = one.iterations.count(), top = one.lg_columns + count;
    const Iterations inside{one.lg_columns, top};
    if (one.gathered) {
      one.lg_slice = top;
      one.in_flight = static_cast<unsigned>(
          std::min<uint64_t>(gathered_in_flight, uint64_t{1} << (one.iterations.low - one.lg_columns)));
      if (on_nodes(one.iterations.low, one.iterations.high)) {
        one.nodes = node_runs(node_conditions(one.iterations.low), one.lg_columns, plan_.conditions.memory);
        return fits(one, one.in_flight);
      }
      // One patch of all rows, if it is not much larger than the cache; then a strip needs one buffer.
      const bool one_patch = one.iterations.low > 0 && !plan_.cache.record_by_record() &&
                             plan_.cache.cyclic_scratch(inside) <= 4 * plan_.cache.bytes;
      one.groups = one_patch ? std::vector<Iterations>{inside} : plan_.cache.groups(inside, ascend());
      one.two_buffers = one.groups.size() > 1 || plan_.cache.record_by_record();
      return fits(one, (one.two_buffers ? 2 : 1) * one.in_flight);
    }
    one.in_flight = streamed_in_flight;
    one.groups = plan_.cache.groups(inside, ascend());
    int least = one.lg_columns;  // whole rows of the strip and of every group
    for (const Iterations group : one.groups) least = std::max(least, group.low);
    const bool given = given_.slices != 0;
    int lg_slices = given ? exact_lg(given_.slices, "slices of the rows that meet") : 0;
    for (; given || lg_slices <= lg_most_slices; ++lg_slices) {
      one.lg_slice = std::max(least, top - lg_slices);
      const uint64_t halo = one.halo_slices();
      if (fits(one, one.in_flight + one.groups.size() + (one.in_place ? 3 : 2) * halo)) return true;
      if (given) break;
    }
    return false;
  }

  // Whether `slices` slices fit besides the threads' own memory. If so, sets the pass's memory.
  bool fits(Sweep& one, uint64_t slices) const {
    const uint64_t memory = plan_.conditions.memory;
    if (one.lg_slice >= 63 || record() > (memory >> one.lg_slice)) return false;
    uint64_t scratch = 0;
    for (const Iterations group : one.groups) {
      const bool cyclic = one.gathered && group.high == one.lg_slice;
      scratch = std::max(scratch, cyclic ? plan_.cache.cyclic_scratch(group)
                                         : plan_.cache.halo_scratch(group, uint64_t{1} << one.lg_slice));
    }
    // Numbers pass through buffers of a request's size, and unaligned transfers through those of
    // io::read_range.
    const uint64_t bounce = std::min(MiB, std::max(record(), plan_.request_bytes));
    const uint64_t own =
        plan_.threads * (scratch + plan_.request_bytes + bounce) + (one.nodes ? one.nodes->memory : 0);
    if (own > memory || slices > (memory - own) / (record() << one.lg_slice)) return false;
    one.pass.memory = own + slices * (record() << one.lg_slice);
    return true;
  }

  void estimate(Sweep& one) const {
    const int lg_strips = one.iterations.low - one.lg_columns, lg_strip = lg_size() - lg_strips;
    const uint64_t slices = uint64_t{1} << (lg_strip - one.lg_slice);
    const uint64_t run = record() << (lg_strips == 0 ? one.lg_slice : one.lg_columns);
    // Whole records, a power of two of them.
    const uint64_t request =
        std::min(run, record() * std::bit_floor(std::max<uint64_t>(1, plan_.request_bytes / record())));
    one.pass.tiles = slices << lg_strips;
    one.pass.tile_bytes = record() << one.lg_slice;
    one.pass.source_block_bytes = one.pass.target_block_bytes = request;
    const auto requests = [&](uint64_t bytes) { return ceil_div(bytes, request); };
    const uint64_t again = one.gathered ? 0 : one.halo_slices() * (one.in_place ? 1 : 2);
    const Device& device = plan_.conditions.device;
    one.pass.predicted_seconds =
        device.read_seconds(requests(one.pass.bytes_read + one.pass.bytes_read / slices * again), request) +
        device.write_seconds(requests(one.pass.bytes_written), request);
  }

  static uint64_t mask(int bits) { return (uint64_t{1} << bits) - 1; }
  bool is_idle(Iterations b) const { return b.low < b.high && (busy_ & mask(b.high) & ~mask(b.low)) == 0; }

  SweepSizes given_;
  SweepPlan plan_;
  uint64_t busy_;  // bit b: iteration b does something
  std::optional<int> lg_block_;
};

double device_seconds(const SweepPlan& plan) {
  double sum = 0;
  for (const Sweep& sweep : plan.sweeps) sum += sweep.pass.predicted_seconds;
  return sum;
}

// Sweeps follow each other in the same memory.
double seconds(const SweepPlan& plan) {
  uint64_t memory = 0;
  for (const Sweep& sweep : plan.sweeps) memory = std::max(memory, sweep.pass.memory);
  return device_seconds(plan) + touching_seconds(memory, 0, plan.conditions.host);
}

// The plan for virtual processors: for as many as usual, or as many more as make the fastest sweeps.
std::optional<SweepPlan> plan_nodes(const SweepConditions& conditions, const SweepSizes& given,
                                    std::optional<int> lg_block) {
  const int n = conditions.lg_size;
  const int least = lg_block ? n - *lg_block : std::min(exact_lg(default_processors, ""), n);
  Planner planner(conditions, given);
  if (conditions.between == Between::pipelined) {
    if (const auto plan = planner.whole(n - least)) return plan;
  }
  std::optional<SweepPlan> best;
  const int most = lg_block ? least : std::min(n, schedule::Network::max_dimension);
  for (int p = least; p <= most; ++p) {
    auto plan = planner.plan(n - p);
    if (plan && (!best || device_seconds(*plan) < device_seconds(*best) * (1 - 1e-9))) best = std::move(plan);
  }
  return best;
}

// The best plan with blocks of this size, or of any size.
std::optional<SweepPlan> plan_any(const SweepConditions& conditions, const SweepSizes& given,
                                  std::optional<int> lg_block) {
  if (conditions.between != Between::threads) return plan_nodes(conditions, given, lg_block);
  return Planner(conditions, given).plan(lg_block);
}

// A planner uses the memory that it gets. Fresh memory takes time, though, so the fastest plan may be one for
// less: two sweeps in little memory can take half as long as one in much.
std::optional<SweepPlan> fastest(const SweepConditions& conditions, const SweepSizes& given,
                                 std::optional<int> lg_block) {
  constexpr uint64_t least = 64 * MiB;
  auto best = plan_any(conditions, given, lg_block);
  // The whole schedule is there to be seen, and on a network each run starts all messages again.
  if (conditions.link_times || (best && best->nodes() && best->nodes()->whole)) return best;
  SweepConditions less = conditions;
  for (less.memory /= 2; best && less.memory >= least; less.memory /= 2) {
    auto plan = plan_any(less, given, lg_block);
    if (!plan) break;
    if (seconds(*plan) < seconds(*best)) best = std::move(plan);
  }
  if (best) best->conditions.memory = conditions.memory;
  return best;
}

// Memory in whole MiB, more than conditions.memory, that does; close to the least. 0 if none does.
uint64_t enough_memory(const SweepConditions& conditions, const SweepSizes& given) {
  const auto does = [&](uint64_t mebibytes) {
    SweepConditions more = conditions;
    more.memory = mebibytes * MiB;
    return plan_any(more, given, {}).has_value();
  };
  uint64_t little = ceil_div(conditions.memory, MiB), enough = 2 * little;
  for (; !does(enough); enough *= 2) {
    if (enough > UINT64_MAX / MiB / 2) return 0;
    little = enough;
  }
  while (enough - little > 1) {
    const uint64_t middle = little + (enough - little) / 2;
    (does(middle) ? enough : little) = middle;
  }
  return enough;
}

std::string what_is_done(const Sweep& sweep) {
  const Iterations b = sweep.iterations;
  if (sweep.nodes && sweep.nodes->whole) return "all iterations, in memory, by virtual processors";
  if (sweep.nodes) return fmt::format("iterations {} to {}, by virtual processors", b.low, b.high - 1);
  if (sweep.gathered && b.low == 0) return "all iterations, in memory";
  const std::string which = fmt::format("iterations {} to {}", b.low, b.high - 1);
  if (b.low == 0) return which + ", along the blocks";
  return which + (sweep.gathered ? ", equal offsets in all blocks" : ", equal offsets along the blocks");
}

}  // namespace

uint64_t Sweep::halo_slices(Iterations group) const {
  const uint64_t halo = group.halo_rows() * group.stride(), slice = uint64_t{1} << lg_slice;
  return ceil_div(halo, slice);
}

uint64_t Sweep::halo_slices() const {
  uint64_t sum = 0;
  for (const Iterations group : groups) sum += halo_slices(group);
  return sum;
}

uint64_t SweepPlan::scratch_bytes() const {
  return sweeps.size() > 1 && conditions.record_bytes != conditions.output_bytes ? array_bytes() : 0;
}

std::string SweepPlan::describe() const {
  const uint64_t block = uint64_t{1} << lg_block;
  std::string text = fmt::format(
      "{}: {} on {} of {}, {}, {} of scratch disk\n", conditions.ascend ? "ascend" : "descend",
      count_text(static_cast<uint64_t>(conditions.lg_size), "iteration"),
      count_text(uint64_t{1} << conditions.lg_size, "record"), count_text(conditions.record_bytes, "byte"),
      count_text(sweeps.size(), "pass"), size_text(scratch_bytes()));
  text +=
      fmt::format("{} of {}\n", count_text(processors(), "virtual processor"), count_text(block, "record"));
  for (std::size_t i = 0; i < sweeps.size(); ++i) {
    const PassSummary& pass = sweeps[i].pass;
    text += fmt::format("pass {}: {}; {} of {} in requests of {}\n", i + 1, what_is_done(sweeps[i]),
                        count_text(pass.tiles, "tile"), size_text(pass.tile_bytes),
                        size_text(pass.source_block_bytes));
    text += fmt::format("        memory {}, about {:.3g} s on {}\n", size_text(pass.memory),
                        pass.predicted_seconds, conditions.device.name);
  }
  if (schedule) return text + describe_schedule();
  // schedule::Descend has this number of steps; it is not made here because it takes memory for every record
  // of a block.
  text += fmt::format(
      "for comparison: on a hypercube of {} nodes Hu's schedule takes 4(lg M + V - 1) = {} steps\n",
      processors(), 4 * (static_cast<uint64_t>(conditions.lg_size) + block - 1));
  return text;
}

std::string SweepPlan::schedule_name() const {
  switch (conditions.between) {
    case Between::aspc:
      return "aspc";
    case Between::pipelined:
      return "pipelined";
    default:
      return {};
  }
}

std::string SweepPlan::describe_schedule() const {
  const NodeRuns& runs = *nodes();
  const uint64_t times = runs.times(lg_block);
  const schedule::Schedule::Load load = schedule->total();
  return fmt::format("schedule {}: {} with messages of {}, {}: {}, {}\n", schedule_name(),
                     count_text(schedule->steps(), "step"), size_text(conditions.record_bytes << runs.lg_run),
                     times == 1 ? std::string("once") : fmt::format("{} times", times),
                     count_text(times * load.messages, "message"),
                     count_text(times * load.crossings, "link crossing"));
}

const NodeRuns* SweepPlan::nodes() const {
  for (const Sweep& sweep : sweeps) {
    if (sweep.nodes) return &*sweep.nodes;
  }
  return nullptr;
}

SweepPlan plan_sweeps(const SweepConditions& conditions, const SweepSizes& given) {
  const int n = conditions.lg_size;
  const uint64_t records = uint64_t{1} << n, memory = conditions.memory;
  const uint64_t run_memory = conditions.run_memory == 0 ? memory : conditions.run_memory;
  std::optional<int> lg_block;
  if (given.processors != 0) {
    const bool nodes = conditions.between != Between::threads;
    const int p = nodes ? *wanted_lg(given.processors, records, "elements")
                        : exact_lg(given.processors, "the number of processors");
    if (p > n)
      throw InputError(fmt::format("{} processors are more than the {} elements", given.processors, records));
    lg_block = n - p;
  }
  if (auto plan = fastest(conditions, given, lg_block)) return *std::move(plan);
  if (lg_block) {
    if (const auto plan = plan_any(conditions, given, {}))
      throw InputError(fmt::format("with {} processors this does not fit in {} of memory; {} processors fit",
                                   given.processors, size_text(run_memory), plan->processors()));
  }
  if (const uint64_t enough = enough_memory(conditions, given)) {
    const double whole = static_cast<double>(run_memory) / static_cast<double>(memory);
    throw InputError(fmt::format("{} elements of {} bytes need more memory; {:.0f} MiB would do", records,
                                 conditions.record_bytes, std::ceil(static_cast<double>(enough) * whole)));
  }
  throw InputError(
      fmt::format("{} elements of {} bytes are too many for any memory", records, conditions.record_bytes));
}

}  // namespace xorder::plan
