#include "machine/rounds_stage.hpp"

#include <fmt/format.h>

#include <limits>

#include "kernel/pieces.hpp"
#include "machine/in_steps.hpp"
#include "machine/processor_block.hpp"
#include "machine/simulation.hpp"
#include "machine/storage.hpp"
#include "task/parallel.hpp"
#include "xorder/machine/machine.hpp"

namespace xorder::machine {
namespace {

using std::uint64_t;

/// The rounds with only those messages that the processors of a batch receive.
class RoundsFor final : public schedule::Schedule {
 public:
  RoundsFor(const schedule::Rounds& rounds, uint64_t count)
      : Schedule(rounds.network(), rounds.slots(), rounds.steps(), rounds.lower_bound()),
        rounds_(rounds),
        count_(count) {}
  void begin(schedule::Node first) { first_ = first; }
  void messages(uint64_t step, std::vector<schedule::Message>& out) const override {
    out.clear();
    for (schedule::Node k = first_; k < first_ + count_; ++k) {
      out.push_back({{rounds_.source(k, step), step}, {k, step}, k});
    }
  }
  std::optional<schedule::Place> goal(schedule::Place start) const override {
    const auto place = rounds_.goal(start);
    return place && place->node - first_ < count_ ? place : std::nullopt;
  }

 private:
  const schedule::Rounds& rounds_;
  schedule::Node first_ = 0;
  uint64_t count_;
};

/// What all processors send to those of the batch, as far as it has been read.
class Outgoing {
 public:
  Outgoing(const plan::RoundsOnFiles& plan, io::Location source, Storage& storage, task::BufferPool& pool)
      : plan_(plan), source_(source), storage_(storage), room_(pool), runs_(plan.processors()) {}

  void begin() {
    blocks_.clear();
    room_.clear();
    std::ranges::fill(runs_, Run());
    blocks_.reserve(plan_.processors());
    for (schedule::Node k = 0; k < plan_.processors(); ++k) {
      blocks_.emplace_back(storage_, source_, k * plan_.block_bytes(), plan_.block_bytes(),
                           ProcessorBlock::Use::read, plan_.least_in_place());
    }
  }
  /// The chunk that a processor sends in a round. Reads it together with those beside it that go to the same
  /// batch, as a run. The order of chunks is such that a run is finished before the next one begins.
  const std::byte* chunk(schedule::Node sender, uint64_t round) {
    const uint64_t chunk = plan_.chunk(round), number = chunk / plan_.chunks_together();
    const uint64_t bytes = plan_.chunk_bytes(), run_bytes = plan_.chunks_together() * bytes;
    Run& run = runs_[sender];
    if (run.number != number) run = {number, blocks_[sender].fill(number * run_bytes, run_bytes, room_)};
    return run.content + chunk % plan_.chunks_together() * bytes;
  }

 private:
  struct Run {
    uint64_t number = std::numeric_limits<uint64_t>::max();
    const std::byte* content = nullptr;
  };
  const plan::RoundsOnFiles& plan_;
  io::Location source_;
  Storage& storage_;
  Room room_;
  std::vector<ProcessorBlock> blocks_;  // of each sender
  std::vector<Run> runs_;
};

/// The blocks of a batch of processors, while they are being made and written.
class Blocks final : public Program {
 public:
  Blocks(const plan::RoundsOnFiles& plan, Outgoing& outgoing, io::Location target, Storage& storage,
         task::BufferPool& pool)
      : plan_(plan),
        outgoing_(outgoing),
        target_(target),
        storage_(storage),
        room_(pool),
        together_(target.file.access() == io::Access::mapped ? plan.blocks_together() : plan.batch()) {}

  void begin(schedule::Node first) {
    first_ = first;
    const uint64_t bytes = plan_.block_bytes();
    for (schedule::Node k = first; k < first + plan_.batch(); k += together_) {
      blocks_.emplace_back(storage_, target_, k * bytes, together_ * bytes, ProcessorBlock::Use::write,
                           plan_.least_in_place());
    }
    memory_.resize(blocks_.size());
    task::each(blocks_.size(),
               [&](uint64_t i) { memory_[i] = blocks_[i].make(0, together_ * bytes, room_); });
  }
  void write() {
    task::each(blocks_.size(), [&](uint64_t i) { blocks_[i].empty(); });
    blocks_.clear();
    room_.clear();
  }

  bool sends_what_it_received() const override { return false; }
  void send(schedule::Place from, uint64_t round, Payload& payload) override {
    payload.refer(outgoing_.chunk(from.node, round), plan_.chunk_bytes());
  }
  // Goes from the sender's block into the receiver's without a copy between.
  void receive(const schedule::Message& message, uint64_t round, Payload& payload) override {
    const uint64_t k = message.to.node - first_;
    std::byte* const block = memory_[k / together_] + k % together_ * plan_.block_bytes();
    place_chunk(plan_, message, round, payload, block);
  }

 private:
  const plan::RoundsOnFiles& plan_;
  Outgoing& outgoing_;
  io::Location target_;
  Storage& storage_;
  Room room_;
  const uint64_t together_;  // how many neighbours share a mapping, or memory that is written at once
  std::vector<ProcessorBlock> blocks_;
  std::vector<std::byte*> memory_;
  schedule::Node first_ = 0;
};

}  // namespace

std::string RoundsStage::steps() const {
  return fmt::format("{}, batches of {} blocks of {}", describe(), plan_->batch(), plan_->block_bytes());
}

std::optional<schedule::Traffic> RoundsStage::forecast(const std::stop_token& stop) const {
  if (!link_times_) return std::nullopt;
  const schedule::Rounds& rounds = plan_->rounds();
  const uint64_t places = plan_->processors() * rounds.slots();
  RoundsFor receivers(rounds, plan_->batch());
  Simulation simulation(receivers, *link_times_);
  schedule::Traffic traffic = no_traffic("rounds", plan_->processors(), rounds.steps(), link_times_);
  for (schedule::Node next = 0; next < plan_->processors(); next += plan_->batch()) {
    receivers.begin(next);
    traffic += simulation.run(receivers, std::vector(places, plan_->chunk_bytes()), stop);
  }
  return traffic;
}

void RoundsStage::move(work::Run& run, const work::Relay& relay, std::size_t first) {
  const io::Location source = relay.source(first), target = relay.target(first);
  const plan::RoundsOnFiles& plan = *plan_;
  const uint64_t processors = plan.processors();
  Storage storage(run.stop());
  task::BufferPool pool(Room::bytes_for(plan.batch() * plan.block_bytes()));
  Outgoing outgoing(plan, source, storage, pool);
  Blocks batches[] = {Blocks(plan, outgoing, target, storage, pool),
                      Blocks(plan, outgoing, target, storage, pool)};
  schedule::Traffic traffic = no_traffic("rounds", processors, plan.rounds().steps(), link_times_);

  const auto exchange_batches = [&](const auto& each_step) {
    RoundsFor receivers(plan.rounds(), plan.batch());
    Machine machine(receivers, link_times_);
    const auto make = [&](Blocks& batch, uint64_t number) {
      const schedule::Node next = number * plan.batch();
      batch.begin(next);
      outgoing.begin();
      receivers.begin(next);
      traffic += machine.run(batch, run.stop());
    };
    const auto write = [&](Blocks& batch) { batch.write(); };
    each_step(make, write);
  };
  in_steps(run, steps_of(passes().front(), first, processors / plan.batch()), target.file, batches,
           exchange_batches);
  sent_ = traffic;
}

std::vector<std::unique_ptr<Stage>> rounds_stages(const work::Frame& frame,
                                                  std::shared_ptr<const plan::RoundsOnFiles> plan,
                                                  const std::optional<schedule::LinkTimes>& link_times) {
  const gf2::AffineMap before = plan->before(), after = plan->after();
  const auto by_tiles = [&](const gf2::AffineMap& map, bool first, bool last, const char* what) {
    return tile_stage(frame, plan->on_elements(map), first, last, what);
  };
  std::vector<std::unique_ptr<Stage>> stages;
  if (!before.is_identity()) stages.push_back(by_tiles(before, true, false, "within processors"));
  stages.push_back(std::make_unique<RoundsStage>(plan, link_times));
  if (!after.is_identity()) stages.push_back(by_tiles(after, false, true, "back to the layout"));
  return stages;
}

void place_chunk(const plan::RoundsOnFiles& plan, const schedule::Message& message, uint64_t round,
                 const Payload& payload, std::byte* block) {
  const auto to = plan.scatter(message.from.node, round);
  kernel::scatter_pieces(block, payload.data(), to.places, to.offset, to.piece_bytes);
}

}  // namespace xorder::machine
