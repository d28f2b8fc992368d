#include "xorder/machine/scheduled.hpp"

#include <fmt/ranges.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "band/input.hpp"
#include "machine/band_stage.hpp"
#include "machine/rounds_stage.hpp"
#include "machine/slots_stage.hpp"
#include "machine/stage.hpp"
#include "machine/stripe_stage.hpp"
#include "machine/transpose_stage.hpp"
#include "permutation/reordering_text.hpp"
#include "text/count_text.hpp"
#include "work/resuming.hpp"
#include "xorder/error.hpp"
#include "xorder/schedule/check.hpp"

namespace xorder::machine {
namespace {

using std::uint64_t;
using Stages = std::vector<std::unique_ptr<Stage>>;

plan::ProcessorSetting processor_setting(const work::Frame& frame, std::optional<uint64_t> processors,
                                         const std::optional<schedule::LinkTimes>& link_times) {
  if (link_times) schedule::check(*link_times);
  return {frame.setting, processors, link_times};
}

Stages stages_of_rounds(const work::Frame& frame, const Reordering& what, const ScheduleChoice& choice,
                        const plan::ProcessorSetting& c) {
  return rounds_stages(frame, std::make_shared<plan::RoundsOnFiles>(what, choice.layout, c), c.link_times);
}

Stages exchange_stages(const work::Frame& frame, const Reordering& what, const ScheduleChoice& choice,
                       const plan::ProcessorSetting& c) {
  plan::ExchangePlan plan = plan::plan_exchange(what, c, choice.array);
  Stages stages;
  stages.push_back(tile_stage(frame, plan.within, true, false, "within processors"));
  stages.push_back(std::make_unique<StripeStage>(std::move(plan.stripes), c.link_times));
  return stages;
}

Stages mesh_stages(const work::Frame& frame, const Reordering& what, const ScheduleChoice& choice,
                   const plan::ProcessorSetting& c) {
  plan::MeshPlan plan = plan::plan_mesh(what, choice.routing, choice.torus, c);
  Stages stages;
  stages.push_back(std::make_unique<TransposeStage>(plan.within, setting_of(frame, true, false)));
  stages.push_back(std::make_unique<StripeStage>(std::move(plan.stripes), c.link_times));
  return stages;
}

// The data between two stages depend on the choice.
std::string text_of(const Reordering& what, const std::vector<uint64_t>& extents,
                    const ScheduleChoice& choice) {
  std::string text =
      fmt::format("{}, shape ({}), by virtual processors {} {} {} {}", text_of(what),
                  fmt::join(extents, ", "), static_cast<int>(choice.kind), choice.processors.value_or(0),
                  static_cast<int>(choice.routing), choice.torus);
  if (choice.layout) text += fmt::format(", layout {}", *choice.layout);
  if (choice.array) text += fmt::format(", by {}", fmt::join(choice.array->words, " "));
  return text;
}

// All messages, one after the other.
std::string text_of(const schedule::Schedule& schedule) {
  uint64_t digest = 0;
  std::vector<schedule::Message> messages;
  for (uint64_t step = 0; step < schedule.steps(); ++step) {
    schedule.messages(step, messages);
    for (const schedule::Message& m : messages) {
      const uint64_t all[] = {digest, step, m.from.node, m.from.slot, m.to.node, m.to.slot};
      digest = XXH3_64bits(all, sizeof all);
    }
  }
  return fmt::format("slots by the schedule {:016x}", digest);
}

}  // namespace

std::unique_ptr<Job> scheduled(io::ArrayFile input, const Reordering& what, std::vector<uint64_t> extents,
                               std::filesystem::path output, work::Options options,
                               const ScheduleChoice& choice,
                               const std::optional<schedule::LinkTimes>& link_times) {
  if (what.elements() == 0) {
    throw InputError(input.path.string() +
                     ": there are no elements to share among virtual processors; the tile engine needs none");
  }
  if (choice.layout && choice.kind != ScheduleChoice::Kind::rounds) {
    throw InputError("a layout is for schedule rounds only");
  }
  if (choice.array && choice.kind != ScheduleChoice::Kind::exchange) {
    throw InputError("an array is for schedule exchange only");
  }
  if (choice.kind != ScheduleChoice::Kind::mesh &&
      (choice.routing != schedule::Mesh::Routing::any || choice.torus)) {
    throw InputError("a routing or a torus is for schedule mesh only");
  }
  work::check_sizes(what.bytes(), {&input, 1}, extents);
  const io::DType dtype = input.description.dtype;
  options.kept_axes = work::kept_axes(what);
  work::Frame frame = work::settle({std::move(input)}, std::move(output), dtype, extents, std::move(options),
                                   files_in_memory * what.bytes());
  work::settle_journal(frame, text_of(what, extents, choice));
  const auto make = choice.kind == ScheduleChoice::Kind::rounds     ? stages_of_rounds
                    : choice.kind == ScheduleChoice::Kind::exchange ? exchange_stages
                                                                    : mesh_stages;
  Stages stages = make(frame, what, choice, processor_setting(frame, choice.processors, link_times));
  return std::make_unique<StagedWork>(std::move(frame), std::move(stages));
}

std::unique_ptr<Job> scheduled_slots(io::ArrayFile input, std::shared_ptr<const schedule::Schedule> schedule,
                                     std::filesystem::path output, work::Options options,
                                     const std::optional<schedule::LinkTimes>& link_times) {
  if (schedule->recurrence()) throw InputError("a schedule that computes cannot move the slots of a file");
  schedule::require_correct(*schedule);
  const io::ArrayDescription& array = input.description;
  const uint64_t nodes = schedule->network().nodes(), places = nodes * schedule->slots();
  const uint64_t elements = array.elements();
  if (elements == 0 || elements % places != 0) {
    throw InputError(fmt::format("{}: {} are not {} blocks of {} equal slots", input.path.string(),
                                 count_text(elements, "element"), nodes, schedule->slots()));
  }
  const io::DType dtype = array.dtype;
  const std::vector<uint64_t> extents = array.extents;
  const uint64_t slot_bytes = elements / places * dtype.bytes;
  options.output_order = array.order();
  work::Frame frame = work::settle({std::move(input)}, std::move(output), dtype, extents, std::move(options),
                                   2 * places * slot_bytes);
  work::settle_journal(frame, text_of(*schedule));
  const plan::ProcessorSetting c = processor_setting(frame, nodes, link_times);
  Stages stages;
  stages.push_back(
      std::make_unique<SlotsStage>(plan::plan_slots(std::move(schedule), slot_bytes, c), link_times));
  return std::make_unique<StagedWork>(std::move(frame), std::move(stages));
}

std::unique_ptr<Job> scheduled_bands(std::vector<io::ArrayFile> inputs, const std::vector<Band>& bands,
                                     std::filesystem::path output, work::Options options,
                                     std::optional<uint64_t> processors,
                                     const std::optional<schedule::LinkTimes>& link_times) {
  work::Frame frame =
      band::frame_of(std::move(inputs), bands, std::move(output), std::move(options), files_in_memory);
  const plan::ProcessorSetting c = processor_setting(frame, processors, link_times);
  plan::BandExchangePlan plan = plan::plan_band_exchange(bands, frame.input().description.dtype.bytes, c);
  Stages stages;
  stages.push_back(std::make_unique<BandStage>(plan));
  stages.push_back(std::make_unique<StripeStage>(std::move(plan.stripes), c.link_times));
  return std::make_unique<StagedWork>(std::move(frame), std::move(stages));
}

}  // namespace xorder::machine
