#include "xorder/machine/scheduled_descend.hpp"

#include "descend/on_files.hpp"
#include "machine/node_strips.hpp"
#include "machine/simulation.hpp"

namespace xorder::machine {
namespace {

class ScheduledDescend final : public Job {
 public:
  ScheduledDescend(work::Frame frame, std::unique_ptr<descend::Computation> what,
                   const plan::SweepSizes& sizes, plan::Between between,
                   const std::optional<schedule::LinkTimes>& link_times)
      : Job(std::move(frame)),
        what_(std::move(what)),
        plan_(descend::plan_of(this->frame(), *what_, sizes, between, link_times)) {}

  std::string describe() const override { return plan_.describe(); }
  // All runs are alike.
  std::optional<schedule::Traffic> forecast(const std::stop_token& stop) const override {
    const auto& times = plan_.task.link_times;
    if (!times) return std::nullopt;
    schedule::Traffic all = no_traffic();
    if (plan_.schedule) {
      const plan::NodeRuns& runs = *plan_.nodes();
      const schedule::Schedule& schedule = *plan_.schedule;
      const std::uint64_t run_bytes = plan_.task.record_bytes << runs.lg_run;
      const schedule::Traffic one =
          Simulation(schedule, *times)
              .run(schedule, std::vector(schedule.network().nodes() * schedule.slots(), run_bytes), stop);
      for (std::uint64_t i = 0; i < runs.times(plan_.lg_block); ++i) all += one;
    }
    add_neighbours(all, stop);
    return all;
  }

 private:
  schedule::Traffic no_traffic() const {
    return machine::no_traffic(plan_.schedule_name(), plan_.processors(), plan_.steps(),
                               plan_.task.link_times);
  }
  // Sweeps read what lies in the blocks beside a processor's own where it is. It is counted as it would be
  // sent.
  void add_neighbours(schedule::Traffic& traffic, const std::stop_token& stop) const {
    if (!plan_.neighbours) return;
    const schedule::Neighbours& neighbours = *plan_.neighbours;
    traffic += Simulation(neighbours, plan_.task.link_times.value_or(schedule::LinkTimes{}))
                   .run(neighbours, neighbours.place_bytes(plan_.task.record_bytes), stop);
  }
  std::vector<work::PassSummary> passes() const override { return descend::passes_of(plan_); }
  std::uint64_t scratch_bytes() const override { return plan_.scratch_bytes(); }
  void move(work::Run& run) override {
    schedule::Traffic traffic = no_traffic();
    descend::run_sweeps(plan_, *what_, run, [&](const plan::Sweep&) {
      const auto strips = std::make_shared<NodeStrips>(plan_, *what_, traffic, run.stop());
      return [strips](const descend::Strip& strip, std::byte* records) { strips->compute(strip, records); };
    });
    add_neighbours(traffic, run.stop());
    sent_ = traffic;
  }

  std::unique_ptr<descend::Computation> what_;
  plan::SweepPlan plan_;
};

}  // namespace

std::unique_ptr<Job> scheduled_descend(std::vector<io::ArrayFile> inputs,
                                       std::unique_ptr<descend::Computation> what, const io::DType& element,
                                       const std::vector<std::uint64_t>& extents,
                                       std::filesystem::path output, work::Options options,
                                       DescendSchedule schedule, const plan::SweepSizes& sizes,
                                       const std::optional<schedule::LinkTimes>& link_times) {
  if (link_times) schedule::check(*link_times);
  const auto between = schedule == DescendSchedule::aspc ? plan::Between::aspc : plan::Between::pipelined;
  work::Frame frame = descend::frame_of(std::move(inputs), *what, between, element, extents,
                                        std::move(output), std::move(options));
  return std::make_unique<ScheduledDescend>(std::move(frame), std::move(what), sizes, between, link_times);
}

}  // namespace xorder::machine
