#include "machine/slots_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "io/memory.hpp"
#include "machine/in_steps.hpp"
#include "machine/simulation.hpp"
#include "machine/storage.hpp"
#include "task/parallel.hpp"
#include "text/count_text.hpp"
#include "xorder/machine/machine.hpp"

namespace xorder::machine {
namespace {

using std::uint64_t;

/// The same bytes of all slots, place by place.
class SlotBytes final : public Program {
 public:
  SlotBytes(const plan::SlotPlan& plan, Storage& storage) : plan_(plan), storage_(storage) {}

  void load(io::Location source, uint64_t first, uint64_t width) {
    first_ = first;
    width_ = width;
    if (memory_.size() == 0) memory_ = io::BlockMemory(plan_.places() * plan_.stripe_bytes);
    transfer(io::read_range, source);
  }
  void store(io::Location target) { transfer(io::write_range, target); }

  // Copied, because what arrives in the slot may come before the receiver has read it.
  void send(schedule::Place from, uint64_t, Payload& payload) override {
    std::memcpy(payload.reset(width_), at(from), width_);
  }
  void receive(const schedule::Message& message, uint64_t, Payload& payload) override {
    std::memcpy(at(message.to), payload.data(), width_);
  }

 private:
  std::byte* at(schedule::Place place) {
    return memory_.data() + (place.node * plan_.schedule->slots() + place.slot) * width_;
  }
  // Whole slots lie side by side in the file, too.
  template <typename Transfer>
  void transfer(const Transfer& range, io::Location place) {
    if (width_ == plan_.slot_bytes)
      return storage_.transfer(range, place, 0, memory_.data(), plan_.places() * width_);
    task::each(plan_.places(), [&](uint64_t i) {
      storage_.transfer(range, place, i * plan_.slot_bytes + first_, memory_.data() + i * width_, width_);
    });
  }

  const plan::SlotPlan& plan_;
  Storage& storage_;
  io::BlockMemory memory_;
  uint64_t first_ = 0, width_ = 0;
};

}  // namespace

schedule::Traffic SlotsStage::no_traffic() const {
  return machine::no_traffic("file", plan_.schedule->network().nodes(), plan_.schedule->steps(), link_times_);
}

std::string SlotsStage::describe() const {
  return fmt::format("{} among {} with {} each, in {}\n", count_text(plan_.schedule->steps(), "step"),
                     count_text(plan_.schedule->network().nodes(), "virtual processor"),
                     count_text(plan_.schedule->slots(), "slot"), count_text(plan_.stripes(), "stripe"));
}

std::string SlotsStage::steps() const {
  return fmt::format("{} bytes of each of {} slots", plan_.stripe_bytes, plan_.places());
}

std::optional<schedule::Traffic> SlotsStage::forecast(const std::stop_token& stop) const {
  if (!link_times_) return std::nullopt;
  Simulation simulation(*plan_.schedule, *link_times_);
  schedule::Traffic all = no_traffic();
  for (uint64_t first = 0; first < plan_.slot_bytes; first += plan_.stripe_bytes)
    all += simulation.run(*plan_.schedule, std::vector(plan_.places(), width(first)), stop);
  return all;
}

void SlotsStage::move(work::Run& run, const work::Relay& relay, std::size_t first) {
  const io::Location source = relay.source(first), target = relay.target(first);
  Storage storage(run.stop());
  SlotBytes stripes[] = {SlotBytes(plan_, storage), SlotBytes(plan_, storage)};
  schedule::Traffic traffic = no_traffic();
  const auto exchange_stripes = [&](const auto& each_step) {
    Machine machine(*plan_.schedule, link_times_);
    const auto load = [&](SlotBytes& stripe, uint64_t number) {
      const uint64_t begin = number * plan_.stripe_bytes;
      stripe.load(source, begin, width(begin));
    };
    const auto exchange = [&](SlotBytes& stripe) { traffic += machine.run(stripe, run.stop()); };
    const auto store = [&](SlotBytes& stripe) { stripe.store(target); };
    each_step(load, exchange, store);
  };
  in_steps(run, steps_of(plan_.pass, first, plan_.stripes()), target.file, stripes, exchange_stripes);
  sent_ = traffic;
}

}  // namespace xorder::machine
