#include <fmt/format.h>

#include "plan/descend/sweeps.hpp"
#include "text/count_text.hpp"
#include "text/seconds_text.hpp"
#include "text/size_text.hpp"

namespace xorder::plan {
namespace {

using std::uint64_t;

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

std::string SweepPlan::describe() const {
  const uint64_t block = uint64_t{1} << lg_block;
  std::string text = fmt::format(
      "{}: {} on {} of {}, {}, {} of scratch disk\n", task.ascend ? "ascend" : "descend",
      count_text(static_cast<uint64_t>(task.lg_size), "iteration"), count_text(task.elements(), "record"),
      count_text(task.record_bytes, "byte"), count_text(sweeps.size(), "pass"), size_text(scratch_bytes()));
  text +=
      fmt::format("{} of {}\n", count_text(processors(), "virtual processor"), count_text(block, "record"));
  for (std::size_t i = 0; i < sweeps.size(); ++i) {
    const PassSummary& pass = sweeps[i].pass;
    text += fmt::format("pass {}: {}; {} of {} in requests of {}\n", i + 1, what_is_done(sweeps[i]),
                        count_text(pass.tiles, "tile"), size_text(pass.tile_bytes),
                        size_text(pass.source_block_bytes));
    text += fmt::format("        memory {}, about {} on {}\n", size_text(pass.memory),
                        seconds_text(pass.predicted_seconds), setting.device.name);
  }
  if (steps() > 0) return text + describe_schedule();
  // schedule::Descend has this number of steps; it is not made here because it takes memory for every record
  // of a block.
  text += fmt::format(
      "for comparison: on a hypercube of {} nodes Hu's schedule takes 4(lg M + V - 1) = {} steps\n",
      processors(), 4 * (static_cast<uint64_t>(task.lg_size) + block - 1));
  return text;
}

std::string SweepPlan::schedule_name() const {
  return task.between == Between::aspc ? "aspc" : task.between == Between::pipelined ? "pipelined" : "";
}

std::string SweepPlan::describe_schedule() const {
  const NodeRuns* const runs = nodes();
  const uint64_t times = runs != nullptr ? runs->times(lg_block) : 1;
  const schedule::Schedule::Load between = schedule ? schedule->total() : schedule::Schedule::Load{};
  const schedule::Schedule::Load within = neighbours ? neighbours->total() : schedule::Schedule::Load{};
  return fmt::format("schedule {}: {} with messages of {}, {}: {}, {}\n", schedule_name(),
                     count_text(steps(), "step"),
                     size_text(task.record_bytes << (runs != nullptr ? runs->lg_run : neighbours->lg_run())),
                     times == 1 ? std::string("once") : fmt::format("{} times", times),
                     count_text(times * between.messages + within.messages, "message"),
                     count_text(times * between.crossings + within.crossings, "link crossing"));
}

}  // namespace xorder::plan
