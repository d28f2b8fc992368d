#include "xorder/descend/job.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/info.h>

#include <functional>
#include <numeric>
#include <optional>

#include "descend/sweeps.hpp"
#include "plan/sweeps.hpp"
#include "task/workers.hpp"
#include "work/frame.hpp"
#include "work/run.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::descend {
namespace {

using std::uint64_t;

int checked_lg(const std::vector<io::ArrayFile>& inputs, const std::vector<uint64_t>& extents) {
  const uint64_t count = inputs.front().description.elements();
  for (const io::ArrayFile& input : inputs) {
    if (const uint64_t other = input.description.elements(); other != count) {
      throw InputError(fmt::format("{} has {} elements and {} has {}", inputs.front().path.string(), count,
                                   input.path.string(), other));
    }
  }
  const int lg = exact_lg(count, fmt::format("{}: the number of elements", inputs.front().path.string()));
  const uint64_t made = std::accumulate(extents.begin(), extents.end(), uint64_t{1}, std::multiplies<>());
  if (made != count) throw InputError(fmt::format("the output has {} elements, not {}", made, count));
  return lg;
}

work::Frame framed(std::vector<io::ArrayFile> inputs, const Computation& what, const io::DType& element,
                   const std::vector<uint64_t>& extents, std::filesystem::path output,
                   work::Options options) {
  const uint64_t count = uint64_t{1} << checked_lg(inputs, extents);
  uint64_t working = count * (element.bytes + 2 * what.record_bytes());
  for (const io::ArrayFile& input : inputs) working += count * input.description.dtype.bytes;
  return work::settle(std::move(inputs), std::move(output), element, extents, std::move(options), working);
}

plan::SweepPlan planned(const work::Frame& frame, const Computation& what, uint64_t element_bytes,
                        const DescendSizes& sizes) {
  const work::Circumstances& c = frame.circumstances;
  const work::Options& options = frame.options;
  const uint64_t count = frame.input().description.elements();
  return plan::plan_sweeps(
      {.lg_size = exact_lg(count, ""),
       .ascend = what.direction() == Direction::ascend,
       .record_bytes = what.record_bytes(),
       .input_bytes = frame.input_bytes() / count,
       .output_bytes = element_bytes,
       .memory = c.through_cache() ? c.buffers() : c.memory / 16 * 15,
       .threads = options.threads != 0 ? options.threads
                                       : static_cast<unsigned>(oneapi::tbb::info::default_concurrency()),
       .device = options.device},
      sizes);
}

}  // namespace

DescendJob::DescendJob(std::vector<io::ArrayFile> inputs, std::unique_ptr<Computation> what,
                       io::DType element, std::vector<uint64_t> extents, std::filesystem::path output,
                       work::Options options, DescendSizes sizes)
    : Work(framed(std::move(inputs), *what, element, extents, std::move(output), std::move(options))),
      what_(std::move(what)),
      plan_(std::make_unique<plan::SweepPlan>(planned(frame(), *what_, element.bytes, sizes))) {}

DescendJob::~DescendJob() = default;

uint64_t DescendJob::processors() const { return plan_->processors(); }
uint64_t DescendJob::scratch_bytes() const { return plan_->scratch_bytes(); }
std::string DescendJob::describe() const { return plan_->describe(); }

std::vector<work::PassSummary> DescendJob::passes() const {
  std::vector<work::PassSummary> all;
  for (const plan::Sweep& sweep : plan_->sweeps) all.push_back(sweep.pass);
  return all;
}

void DescendJob::move(work::Run& run) {
  const plan::SweepPlan& plan = *plan_;
  Computation& what = *what_;
  const std::stop_token stop = run.stop();
  std::vector<Elements> inputs;
  for (std::size_t i = 0; i < frame().inputs.size(); ++i)
    inputs.push_back({run.source(i), frame().inputs[i].description.dtype.bytes});
  std::optional<io::File> scratch;
  if (plan.scratch_bytes() != 0) scratch.emplace(run.scratch(plan.scratch_bytes()));
  const Elements output{run.target(), plan.conditions.output_bytes};
  const Elements between{scratch ? io::Location{*scratch, 0} : run.target(), what.record_bytes()};

  task::Workers workers(plan.threads);
  for (std::size_t i = 0; i < plan.sweeps.size(); ++i) {
    const plan::Sweep& sweep = plan.sweeps[i];
    run.begin(sweep.pass.bytes_read + sweep.pass.bytes_written, i + 1);
    RecordSource from = i == 0 ? RecordSource(what, inputs, plan.request_bytes) : RecordSource(what, between);
    RecordSink to = i + 1 == plan.sweeps.size() ? RecordSink(what, output, plan.request_bytes)
                                                : RecordSink(what, between);
    Groups groups(what, plan.conditions.lg_size, plan.cache, stop);
    run.with(workers, [&] { perform(plan, sweep, groups, from, to, stop); });
    what.check();
  }
}

}  // namespace xorder::descend
