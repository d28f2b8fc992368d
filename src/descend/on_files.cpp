#include "descend/on_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "run/executor.hpp"
#include "task/workers.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::descend {
namespace {

using std::uint64_t;

uint64_t checked_count(const std::vector<io::ArrayFile>& inputs, const std::vector<uint64_t>& extents,
                       bool any) {
  const uint64_t count = inputs.front().description.elements();
  for (const io::ArrayFile& input : inputs) {
    work::check_c_order(input);
    if (const uint64_t other = input.description.elements(); other != count) {
      throw InputError(fmt::format("{} has {} elements and {} has {}", inputs.front().path.string(), count,
                                   input.path.string(), other));
    }
  }
  if (!any) exact_lg(count, fmt::format("{}: the number of elements", inputs.front().path.string()));
  const uint64_t made = checked_bytes({extents, 1, Order::c});
  if (made != count) throw InputError(fmt::format("the output has {} elements, not {}", made, count));
  return count;
}

}  // namespace

work::Frame frame_of(std::vector<io::ArrayFile> inputs, const Computation& what, plan::Between between,
                     const io::DType& element, const std::vector<uint64_t>& extents,
                     std::filesystem::path output, work::Options options) {
  const bool any = what.is_causal() && between == plan::Between::threads;
  const uint64_t count = checked_count(inputs, extents, any);
  uint64_t working = count * (element.bytes + 2 * what.record_bytes());
  for (const io::ArrayFile& input : inputs) working += count * input.description.dtype.bytes;
  return work::settle(std::move(inputs), std::move(output), element, extents, std::move(options), working);
}

plan::SweepPlan plan_of(const work::Frame& frame, const Computation& what, const plan::SweepSizes& sizes,
                        plan::Between between, const std::optional<schedule::LinkTimes>& link_times) {
  const uint64_t count = frame.input().description.elements();
  uint64_t input_bytes = 0;
  for (const io::ArrayFile& input : frame.inputs) input_bytes += input.description.dtype.bytes;
  plan::SweepTask task{.lg_size = std::countr_zero(std::bit_ceil(count)),
                       .missing = std::bit_ceil(count) - count,
                       .ascend = what.direction() == Direction::ascend,
                       .record_bytes = what.record_bytes(),
                       .inputs = frame.inputs.size(),
                       .input_bytes = input_bytes,
                       .output_bytes = count == 0 ? what.record_bytes() : frame.output.bytes / count,
                       .between = between,
                       .reads = {0, 0},
                       .link_times = link_times};
  for (int b = 0; b < task.lg_size; ++b) {
    const Computation::Reads reads = what.reads(b);
    task.reads.plus |= uint64_t{reads.plus} << b;
    task.reads.minus |= uint64_t{reads.minus} << b;
  }
  return plan::plan_sweeps(task, frame.setting, sizes);
}

std::vector<plan::PassSummary> passes_of(const plan::SweepPlan& plan) {
  std::vector<plan::PassSummary> all;
  for (const plan::Sweep& sweep : plan.sweeps) all.push_back(sweep.pass);
  return all;
}

void run_sweeps(const plan::SweepPlan& plan, Computation& what, work::Run& run, const MakeStrips& make) {
  const work::Frame& frame = run.frame();
  Records input{.arrays = {}, .converter = &what};
  for (std::size_t i = 0; i < frame.inputs.size(); ++i)
    input.arrays.push_back({run.source(i), frame.inputs[i].description.dtype.bytes});
  std::optional<io::File> scratch;
  if (plan.scratch_bytes() != 0) scratch.emplace(run.scratch(plan.scratch_bytes()));
  const Records between{{{scratch ? io::Location{*scratch, 0} : run.target(), what.record_bytes()}}};
  const Records output{{{run.target(), plan.task.output_bytes}}, &what};
  const std::size_t last = plan.sweeps.size() - 1;
  const auto from = [&](std::size_t i) -> const Records& { return i == 0 ? input : between; };
  const auto to = [&](std::size_t i) -> const Records& { return i == last ? output : between; };

  task::Workers workers(plan.threads), computing(plan.threads);
  run.say(workers.note());
  run.say(computing.note());
  // Requests that go through the page cache hold pages there.
  const auto queue = run.queue(plan.setting.through_cache() ? static_cast<unsigned>(2 * plan.slots)
                                                            : 2 * frame.disks.target.depth);
  uint64_t most = 0;
  for (std::size_t i = 0; i <= last; ++i)
    most = std::max(most, memory_for(plan, plan.sweeps[i], from(i), to(i)));
  io::BlockMemory memory(most);
  const run::Environment environment{memory, workers, [&] { run.tick(); }, run.stop()};
  for (std::size_t i = 0; i <= last; ++i) {
    const plan::Sweep& sweep = plan.sweeps[i];
    run.begin(sweep.pass.bytes_read + sweep.pass.bytes_written, i + 1);
    Groups groups(what, plan.task.lg_size, plan.cache, run.stop());
    ComputeStrip compute_strip;
    if (sweep.nodes) task::execute_in(computing.arena, [&] { compute_strip = make(sweep); });
    const auto pass = make_pass(plan, sweep, groups, from(i), to(i), memory.data(), computing, compute_strip);
    const io::Location target = to(i).arrays.front().begin;
    io::Carry carry(target.offset, target.offset + sweep.pass.bytes_written, pass->rules().write_alignment,
                    plan.setting.memory / 64);
    run::execute(*pass, carry, *queue, environment);
    what.check();
    if (i < last) target.file.finish_writing();
  }
}

}  // namespace xorder::descend
