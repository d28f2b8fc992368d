#include "xorder/machine/round_plan.hpp"

#include <fmt/format.h>

#include "machine/rounds_stage.hpp"
#include "memory/scratch.hpp"
#include "text/size_text.hpp"
#include "task/workers.hpp"
#include "xorder/error.hpp"
#include "xorder/machine/machine.hpp"
#include "xorder/memory/permute.hpp"

namespace xorder::machine {
namespace {

using std::uint64_t;

// The rounds between two arrays in memory.
class ArrayProgram final : public Program {
 public:
  ArrayProgram(const plan::RoundsOnFiles& plan, const std::byte* source, std::byte* target)
      : plan_(plan), source_(source), target_(target) {}
  bool sends_what_it_received() const override { return false; }
  void send(schedule::Place from, uint64_t round, Payload& payload) override {
    payload.refer(source_ + from.node * plan_.block_bytes() + plan_.chunk(round) * plan_.chunk_bytes(),
                  plan_.chunk_bytes());
  }
  void receive(const schedule::Message& message, uint64_t round, Payload& payload) override {
    place_chunk(plan_, message, round, payload, target_ + message.to.node * plan_.block_bytes());
  }

 private:
  const plan::RoundsOnFiles& plan_;
  const std::byte* source_;
  std::byte* target_;
};

// Mapped blocks take more memory, so a plan for them holds for both kinds of access.
plan::ProcessorSetting planned_for(const RoundOptions& options) {
  if (options.link_times) schedule::check(*options.link_times);
  return {{.memory = work::effective_memory(options.memory),
           .device = options.device.value_or(plan::Device::ssd()),
           .mapped = true},
          options.processors,
          options.link_times};
}

}  // namespace

struct RoundPlan::Made {
  Made(const Reordering& what, const RoundOptions& options)
      : setting(planned_for(options)),
        device(options.device),
        rounds(std::make_shared<plan::RoundsOnFiles>(what, options.layout, setting)),
        before(rounds->on_elements(rounds->before())),
        after(rounds->on_elements(rounds->after())) {}

  plan::ProcessorSetting setting;
  std::optional<plan::Device> device;  // for runs on files
  std::shared_ptr<const plan::RoundsOnFiles> rounds;
  memory::InMemoryPlan before, after;
};

RoundPlan::RoundPlan(const Reordering& what, const RoundOptions& options) {
  check(what);
  if (what.elements() == 0) throw InputError("there are no elements to share among virtual processors");
  made_ = std::make_shared<Made>(what, options);
}

uint64_t RoundPlan::processors() const { return made_->rounds->processors(); }
uint64_t RoundPlan::rounds() const { return made_->rounds->rounds().steps(); }
std::string RoundPlan::describe() const { return made_->rounds->describe(); }

std::unique_ptr<Job> RoundPlan::on_files(io::ArrayFile input, std::vector<uint64_t> extents,
                                         std::filesystem::path output, work::Options options) const {
  const plan::RoundsOnFiles& plan = *made_->rounds;
  const io::DType dtype = input.description.dtype;
  if (input.description.elements() != plan.elements() || dtype.bytes != plan.element_bytes()) {
    throw InputError(fmt::format("{}: {} elements of {} bytes; the plan is for {} of {} bytes",
                                 input.path.string(), input.description.elements(), dtype.bytes,
                                 plan.elements(), plan.element_bytes()));
  }
  work::check_sizes(plan.bytes(), {&input, 1}, extents);
  options.memory = made_->setting.memory;
  if (made_->device) options.device = made_->device;
  work::Frame frame = work::settle({std::move(input)}, std::move(output), dtype, extents, std::move(options),
                                   files_in_memory * plan.bytes());
  if (frame.memory() < made_->setting.memory) {
    throw InputError(
        fmt::format("the plan was made for {} of memory, but only {} are available now; make a new plan",
                    size_text(made_->setting.memory), size_text(frame.memory())));
  }
  auto stages = rounds_stages(frame, made_->rounds, made_->setting.link_times);
  return std::make_unique<StagedWork>(std::move(frame), std::move(stages));
}

// The permutation before, the rounds and, with a layout, the one after: each from one array to another.
schedule::Traffic RoundPlan::execute(const std::byte* source, std::byte* target, unsigned threads) const {
  const plan::RoundsOnFiles& plan = *made_->rounds;
  const bool has_after = !plan.after().is_identity();
  const memory::Scratch scratch(plan.bytes());
  std::byte* const sent_from = has_after ? target : scratch.data();
  std::byte* const received = has_after ? scratch.data() : target;
  made_->before.execute(source, sent_from, threads);
  ArrayProgram program(plan, sent_from, received);
  schedule::Traffic traffic;
  const auto run = [&] { traffic = Machine(plan.rounds(), made_->setting.link_times).run(program); };
  if (threads == 1)
    task::execute_alone(run);
  else
    task::Workers(threads).execute(run);
  traffic.schedule = "rounds";
  if (has_after) made_->after.execute(received, target, threads);
  return traffic;
}

}  // namespace xorder::machine
