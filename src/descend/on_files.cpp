#include "descend/on_files.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "run/executor.hpp"
#include "task/workers.hpp"
#include "work/resuming.hpp"
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

// All that decides which bytes a slice has.
std::string text_of(const plan::SweepPlan& plan) {
  std::string text = fmt::format("records of {} bytes", plan.task.record_bytes);
  for (const plan::Sweep& sweep : plan.sweeps)
    text += fmt::format("; iterations {} to {}, 2^{} columns, slices of 2^{} by {}", sweep.iterations.low,
                        sweep.iterations.high, sweep.lg_columns, sweep.lg_slice, plan.schedule_name());
  return text;
}

}  // namespace

work::Frame frame_of(std::vector<io::ArrayFile> inputs, const Computation& what, plan::Between between,
                     const io::DType& element, const std::vector<uint64_t>& extents,
                     std::filesystem::path output, work::Options options) {
  const bool any = what.is_causal() && between == plan::Between::threads;
  const uint64_t count = checked_count(inputs, extents, any);
  uint64_t working = count * (element.bytes + 2 * what.record_bytes());
  for (const io::ArrayFile& input : inputs) working += count * input.description.dtype.bytes;
  if (options.resumable && what.name().empty())
    throw InputError(
        "a function of one's own cannot be resumable: nothing tells whether the next run has the same "
        "(Computation::set_name() in C++ does)");
  work::Frame frame =
      work::settle(std::move(inputs), std::move(output), element, extents, std::move(options), working);
  work::settle_journal(frame,
                       fmt::format("{}, ({}) of {}", what.name(), fmt::join(extents, ", "), element.descr));
  return frame;
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
                       .link_times = link_times,
                       .resumable = frame.journal != nullptr};
  for (int b = 0; b < task.lg_size; ++b) {
    const Computation::Reads reads = what.reads(b);
    task.reads.plus |= uint64_t{reads.plus} << b;
    task.reads.minus |= uint64_t{reads.minus} << b;
  }
  plan::SweepPlan plan = plan::plan_sweeps(task, frame.setting, sizes);
  for (const plan::Sweep& sweep : plan.sweeps) work::require_memory_to_go_on(frame, sweep.pass.memory);
  return plan;
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
  std::vector<io::File> scratch;
  while (scratch.size() < plan.scratch_files()) scratch.push_back(run.scratch(plan.scratch_file_bytes()));
  const std::size_t last = plan.sweeps.size() - 1;
  std::vector<Records> after;  // each sweep
  for (std::size_t i = 0; i < last; ++i)
    after.push_back({{{scratch.empty() ? run.target() : io::Location{scratch[i % scratch.size()], 0},
                       what.record_bytes()}}});
  after.push_back({{{run.target(), plan.task.output_bytes}}, &what});
  const auto from = [&](std::size_t i) -> const Records& { return i == 0 ? input : after[i - 1]; };

  task::Workers workers(plan.threads), computing(plan.threads);
  run.say(workers.note());
  run.say(computing.note());
  // Requests that go through the page cache hold pages there.
  const auto queue = run.queue(plan.setting.through_cache() ? static_cast<unsigned>(2 * plan.slots)
                                                            : 2 * frame.disks.target.depth);
  uint64_t most = 0;
  for (std::size_t i = 0; i <= last; ++i)
    most = std::max(most, memory_for(plan, plan.sweeps[i], from(i), after[i]));
  io::BlockMemory memory(most);
  const run::Environment environment{memory, workers, [&] { run.tick(); }, run.stop()};
  if (run.resumable()) run.begin_resumable(text_of(plan));
  for (std::size_t i = 0; i <= last; ++i) {
    const plan::Sweep& sweep = plan.sweeps[i];
    Groups groups(what, plan.task.lg_size, plan.cache, run.stop());
    ComputeStrip compute_strip;
    if (sweep.nodes) task::execute_in(computing.arena, [&] { compute_strip = make(sweep); });
    const io::Location target = after[i].arrays.front().begin;
    const auto perform = [&](uint64_t first, uint64_t end) {
      const auto pass = make_pass(plan, sweep, {first, end}, groups, from(i), after[i], memory.data(),
                                  computing, compute_strip);
      io::Carry carry(target.offset, target.offset + sweep.pass.bytes_written, pass->rules().write_alignment,
                      plan.setting.memory / 64);
      run::execute(*pass, carry, *queue, environment);
      io::write_parts(target.file, carry.take_rest());
      what.check();
    };
    const uint64_t count = slices(plan, sweep);
    // A part that begins within a strip reads some slices again.
    const uint64_t least = sweep.reads_input && what.checks_whole_input() ? count
                           : sweep.gathered                               ? 1
                                                                          : 16 * (1 + sweep.halo_slices());
    run.perform(
        {i, count, sweep.pass.bytes_read + sweep.pass.bytes_written, sweep.pass.predicted_seconds, least},
        target.file, perform);
    if (i < last) target.file.finish_writing();
  }
}

}  // namespace xorder::descend
