#include "xorder/machine/scheduled_descend.hpp"

#include "descend/on_files.hpp"
#include "machine/node_strips.hpp"

namespace xorder::machine {
namespace {

class ScheduledDescend final : public work::Work {
 public:
  ScheduledDescend(work::Frame frame, std::unique_ptr<descend::Computation> what,
                   const descend::DescendSizes& sizes, plan::Between between)
      : Work(std::move(frame)),
        what_(std::move(what)),
        plan_(descend::plan_of(this->frame(), *what_, sizes, between)) {}

  std::string describe() const override { return plan_.describe(); }

 private:
  std::vector<work::PassSummary> passes() const override { return descend::passes_of(plan_); }
  std::uint64_t scratch_bytes() const override { return plan_.scratch_bytes(); }
  void move(work::Run& run) override {
    work::Traffic traffic{.schedule = plan_.schedule_name(),
                          .processors = plan_.processors(),
                          .steps = plan_.schedule ? plan_.schedule->steps() : 0};
    descend::run_sweeps(plan_, *what_, run, [&](const plan::Sweep&) {
      return std::make_unique<NodeStrips>(plan_, *what_, traffic, run.stop());
    });
    run.traffic = traffic;
  }

  std::unique_ptr<descend::Computation> what_;
  plan::SweepPlan plan_;
};

}  // namespace

std::unique_ptr<work::Work> scheduled_descend(std::vector<io::ArrayFile> inputs,
                                              std::unique_ptr<descend::Computation> what,
                                              const io::DType& element,
                                              const std::vector<std::uint64_t>& extents,
                                              std::filesystem::path output, work::Options options,
                                              DescendSchedule schedule, const descend::DescendSizes& sizes) {
  work::Frame frame =
      descend::frame_of(std::move(inputs), *what, element, extents, std::move(output), std::move(options));
  const auto between = schedule == DescendSchedule::aspc ? plan::Between::aspc : plan::Between::pipelined;
  return std::make_unique<ScheduledDescend>(std::move(frame), std::move(what), sizes, between);
}

}  // namespace xorder::machine
