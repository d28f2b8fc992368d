#include "plan/descend/sweeps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "byte_units.hpp"
#include "plan/choose.hpp"
#include "plan/descend/one_sweep.hpp"
#include "plan/processors/processors.hpp"
#include "rounding.hpp"
#include "text/size_text.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::plan {
namespace {

using std::uint64_t;

constexpr uint64_t least_memory = 60 * MiB;  // of a run with 64; less is not tried for the sake of time

/// The sweeps that take the least time in all of the memory, for blocks of 2^lg_block records or of any size.
class Cuts {
 public:
  Cuts(const SweepTask& task, const Setting& setting, const SweepSizes& given, std::optional<int> lg_block)
      : task_(task), given_(given), maker_(task, setting, given), lg_block_(lg_block) {}

  std::optional<SweepPlan> best() const {
    const int n = task_.lg_size;
    if (n == 0) return with({maker_.make({0, 0}, false)}, 0);
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
        const std::optional<Sweep> top = maker_.make({low, high}, on_nodes(low, high));
        if (!top) continue;
        const double seconds = at(low).seconds + maker_.seconds(*top, 0, 0);
        if (!at(high).top || seconds < at(high).seconds * (1 - 1e-9)) at(high) = {top, seconds};
      }
    }
    std::vector<std::optional<Sweep>> sweeps;
    for (int high = n; high > 0; high = sweeps.back()->iterations.low) {
      sweeps.push_back(at(high).top);
      if (!sweeps.back()) return std::nullopt;
    }
    const int lowest_block = sweeps.back()->iterations.high;
    if (task_.ascend) std::reverse(sweeps.begin(), sweeps.end());
    return with(sweeps, lg_block_.value_or(lowest_block));
  }

  /// The whole schedule of virtual processors as one sweep, if it fits.
  std::optional<SweepPlan> whole() const { return with({maker_.whole(*lg_block_)}, *lg_block_); }

 private:
  std::optional<SweepPlan> with(const std::vector<std::optional<Sweep>>& sweeps, int lg_block) const {
    SweepPlan made = maker_.empty_plan();
    made.lg_block = lg_block;
    uint64_t touched = 0;  // sweeps follow each other in the same memory
    for (const auto& sweep : sweeps) {
      if (!sweep) return std::nullopt;
      if (maker_.is_idle(sweep->iterations)) continue;
      made.sweeps.push_back(*sweep);
      PassSummary& pass = made.sweeps.back().pass;
      const uint64_t used = std::min(pass.memory, pass.bytes_read + pass.bytes_written);
      pass.predicted_seconds = maker_.seconds(*sweep, used, touched);
      touched = std::max(touched, used);
      if (sweep->nodes) made.schedule = node_schedule(maker_.nodes(lg_block), *sweep->nodes);
    }
    if (task_.between == Between::threads || (made.nodes() && made.nodes()->whole)) return made;
    const Nodes nodes = maker_.nodes(lg_block);
    const int lg_run = (made.nodes() ? *made.nodes() : node_runs(nodes, lg_block, UINT64_MAX)).lg_run;
    const auto local = schedule::Recurrence::all(lg_block, 0, task_.ascend, task_.reads).iterations;
    auto neighbours = std::make_shared<schedule::Neighbours>(nodes.lg_processors(), local, lg_run);
    if (neighbours->steps() > 0) made.neighbours = std::move(neighbours);
    return made;
  }

  // Whether virtual processors do these iterations.
  bool on_nodes(int low, int high) const {
    return task_.between != Between::threads && low == lg_block_ && high == task_.lg_size && low < high;
  }

  // Whether a sweep may have these iterations. Those within blocks of a given size are one sweep, and a sweep
  // between blocks has at most given_.iterations. Those that virtual processors do are one sweep.
  bool allowed(int low, int high) const {
    if (task_.between != Between::threads) {
      if (high > *lg_block_) return on_nodes(low, high);
    } else if (lg_block_ && low < *lg_block_) {
      return low == 0 && high == *lg_block_;
    }
    const bool between = low > 0 || lg_block_ == 0;
    return !between || given_.iterations == 0 || static_cast<uint64_t>(high - low) <= given_.iterations;
  }

  const SweepTask& task_;
  const SweepSizes& given_;
  SweepMaker maker_;
  std::optional<int> lg_block_;
};

/// The same for virtual processors too: for as many as usual, or as many more as make the fastest sweeps.
std::optional<SweepPlan> best_cuts(const SweepTask& task, const Setting& setting, const SweepSizes& given,
                                   std::optional<int> lg_block) {
  if (task.between == Between::threads) return Cuts(task, setting, given, lg_block).best();
  const int n = task.lg_size, usual = std::min(exact_lg(default_processors, ""), n);
  const int least = lg_block ? n - *lg_block : usual;
  if (task.between == Between::pipelined) {
    if (auto plan = Cuts(task, setting, given, n - least).whole()) return plan;
  }
  const int most = lg_block ? least : std::min(n, schedule::Network::max_dimension);
  std::vector<uint64_t> numbers(static_cast<std::size_t>(most - least) + 1);
  std::iota(numbers.begin(), numbers.end(), static_cast<uint64_t>(least));
  const auto with = [&](uint64_t p) { return Cuts(task, setting, given, n - static_cast<int>(p)).best(); };
  return choose(numbers, with, [](const SweepPlan& plan) { return plan.seconds(); });
}

/// Sweeps leave a part of the memory to what threads and queues take by themselves.
Setting for_sweeps(Setting setting) {
  setting.memory = setting.through_cache() ? setting.buffers() : setting.memory / 16 * 15;
  return setting;
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

uint64_t SweepPlan::scratch_files() const {
  if (task.resumable) return plan::scratch_files(sweeps.size());
  return sweeps.size() > 1 && task.record_bytes != task.output_bytes ? 1 : 0;
}

const NodeRuns* SweepPlan::nodes() const {
  for (const Sweep& sweep : sweeps) {
    if (sweep.nodes) return &*sweep.nodes;
  }
  return nullptr;
}

double SweepPlan::seconds() const {
  double sum = 0;
  for (const Sweep& sweep : sweeps) sum += sweep.pass.predicted_seconds;
  return sum;
}

SweepPlan plan_sweeps(const SweepTask& task, const Setting& setting, const SweepSizes& given) {
  const int n = task.lg_size;
  const uint64_t records = uint64_t{1} << n;
  std::optional<int> lg_block;
  if (given.processors != 0) {
    const int p = task.between != Between::threads ? *wanted_lg(given.processors, records, "elements")
                                                   : exact_lg(given.processors, "the number of processors");
    if (p > n)
      throw InputError(fmt::format("{} processors are more than the {} elements", given.processors, records));
    lg_block = n - p;
  }
  const Setting here = for_sweeps(setting);
  const auto within = [&](uint64_t memory) {
    return best_cuts(task, here.with_memory(memory), given, lg_block);
  };
  auto best = within(here.memory);
  // The whole schedule is there to be seen, and on a network each run starts all messages again.
  if (best && !task.link_times && !(best->nodes() && best->nodes()->whole))
    best = choose(halves(here.memory, least_memory), within,
                  [](const SweepPlan& plan) { return plan.seconds(); });
  if (best) {
    best->setting = setting;
    return *std::move(best);
  }
  if (lg_block) {
    if (const auto plan = best_cuts(task, here, given, {}))
      throw InputError(fmt::format("with {} processors this does not fit in {} of memory; {} processors fit",
                                   given.processors, size_text(setting.memory), plan->processors()));
  }
  const auto fits = [&](uint64_t memory) {
    return best_cuts(task, for_sweeps(setting.with_memory(memory)), given, {}).has_value();
  };
  if (const auto enough = enough_mebibytes(setting.memory, fits))
    throw InputError(fmt::format("{} elements of {} bytes need more memory; {} MiB would do", records,
                                 task.record_bytes, *enough));
  throw InputError(
      fmt::format("{} elements of {} bytes are too many for any memory", records, task.record_bytes));
}

}  // namespace xorder::plan
