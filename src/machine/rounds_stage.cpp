#include "machine/rounds_stage.hpp"

#include <atomic>
#include <limits>

#include "io/memory.hpp"
#include "kernel/pieces.hpp"
#include "machine/storage.hpp"
#include "task/in_turn.hpp"
#include "xorder/machine/machine.hpp"

namespace xorder::machine {
namespace {

using std::uint64_t;

/// The rounds as far as the processors of a batch receive in them.
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

/// What all processors have for those of the batch, as far as it has been read.
class Outgoing {
 public:
  Outgoing(const plan::RoundsPlan& plan, io::Location source, Storage& storage)
      : plan_(plan),
        source_(source),
        storage_(storage),
        memory_(plan.batch() * plan.block_bytes()),
        runs_(plan.processors()) {}

  void begin() {
    used_ = 0;
    std::ranges::fill(runs_, Run());
  }
  /// The chunk that a processor sends. Reads it with those that lie beside it and go to the same batch: chunks are sent
  /// in an order in which a run is left when it is over.
  const std::byte* chunk(schedule::Node sender, uint64_t round) {
    const uint64_t chunk = plan_.chunk(round), number = chunk / plan_.chunks_together();
    const uint64_t bytes = plan_.chunk_bytes(), run_bytes = plan_.chunks_together() * bytes;
    Run& run = runs_[sender];
    if (run.number != number) {
      run = {number, memory_.data() + used_.fetch_add(run_bytes, std::memory_order_relaxed)};
      storage_.read(source_, sender * plan_.block_bytes() + number * run_bytes, run.content, run_bytes);
    }
    return run.content + chunk % plan_.chunks_together() * bytes;
  }

 private:
  struct Run {
    uint64_t number = std::numeric_limits<uint64_t>::max();
    std::byte* content = nullptr;
  };
  const plan::RoundsPlan& plan_;
  io::Location source_;
  Storage& storage_;
  io::BlockMemory memory_;
  std::atomic<uint64_t> used_ = 0;
  std::vector<Run> runs_;  // of each sender
};

/// The blocks of a batch of processors, in memory.
class Blocks final : public Program {
 public:
  Blocks(const plan::RoundsPlan& plan, Outgoing& outgoing)
      : plan_(plan), outgoing_(outgoing), memory_(plan.batch() * plan.block_bytes()) {}

  void begin(schedule::Node first) { first_ = first; }
  schedule::Node first() const { return first_; }
  const io::BlockMemory& memory() const { return memory_; }

  bool sends_what_it_received() const override { return false; }
  void send(schedule::Place from, uint64_t round, Payload& payload) override {
    payload.refer(outgoing_.chunk(from.node, round), plan_.chunk_bytes());
  }
  void receive(const schedule::Message& message, uint64_t round, Payload& payload) override {
    const auto to = plan_.scatter(message.from.node, round);
    std::byte* const block = memory_.data() + (message.to.node - first_) * plan_.block_bytes();
    kernel::scatter_pieces(block, payload.data(), to.places, to.offset, to.piece_bytes);
  }

 private:
  const plan::RoundsPlan& plan_;
  Outgoing& outgoing_;
  io::BlockMemory memory_;
  schedule::Node first_ = 0;
};

}  // namespace

void RoundsStage::move(work::Run& run, io::Location source, io::Location target, std::size_t pass) {
  const uint64_t processors = plan_.processors();
  Storage storage(run.stop());
  task::Workers workers = transfer_workers(run.frame());
  Outgoing outgoing(plan_, source, storage);
  Blocks batches[] = {Blocks(plan_, outgoing), Blocks(plan_, outgoing)};
  work::Traffic traffic{.schedule = "rounds", .processors = processors, .steps = plan_.rounds().steps()};

  run.begin(2 * plan_.block_bytes() * processors, pass);
  run.with(workers, [&] {
    schedule::Node next = 0;
    RoundsFor receivers(plan_.rounds(), plan_.batch());
    Machine machine(receivers);
    const auto make = [&](Blocks& batch) {
      if (next == processors) return false;
      batch.begin(next);
      outgoing.begin();
      receivers.begin(next);
      traffic += machine.run(batch, run.stop());
      next += plan_.batch();
      return true;
    };
    const auto write = [&](const Blocks& batch) {
      storage.write(target, batch.first() * plan_.block_bytes(), batch.memory().data(),
                    batch.memory().size());
    };
    task::in_turn(batches, make, write);
  });
  run.traffic = traffic;
}

}  // namespace xorder::machine
