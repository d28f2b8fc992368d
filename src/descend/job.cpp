#include "xorder/descend/job.hpp"

#include "descend/on_files.hpp"

namespace xorder::descend {

using std::uint64_t;

DescendJob::DescendJob(std::vector<io::ArrayFile> inputs, std::unique_ptr<Computation> what,
                       io::DType element, std::vector<uint64_t> extents, std::filesystem::path output,
                       work::Options options, plan::SweepSizes sizes)
    : Work(frame_of(std::move(inputs), *what, plan::Between::threads, element, extents, std::move(output),
                    std::move(options))),
      what_(std::move(what)),
      plan_(std::make_unique<plan::SweepPlan>(plan_of(frame(), *what_, sizes, plan::Between::threads))) {}

DescendJob::~DescendJob() = default;

uint64_t DescendJob::processors() const { return plan_->processors(); }
uint64_t DescendJob::scratch_bytes() const { return plan_->scratch_bytes(); }
std::string DescendJob::describe() const { return plan_->describe(); }
std::vector<work::PassSummary> DescendJob::passes() const { return passes_of(*plan_); }
void DescendJob::move(work::Run& run) { run_sweeps(*plan_, *what_, run); }

}  // namespace xorder::descend
