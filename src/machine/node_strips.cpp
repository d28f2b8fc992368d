#include "machine/node_strips.hpp"

#include <cstring>
#include <utility>
#include <vector>

#include "schedule/bits.hpp"

namespace xorder::machine {

using std::uint64_t;

/// Some runs of every block, which lie in the strip, and the slots in which processors receive other
/// processors' runs.
class NodeStrips::Runs final : public Program {
 public:
  Runs(const plan::SweepPlan& plan, descend::Computation& what)
      : what_(what),
        lg_block_(plan.lg_block),
        lg_run_(plan.nodes()->lg_run),
        lg_runs_(plan.nodes()->lg_runs),
        run_bytes_(what.record_bytes() << lg_run_),
        arrivals_(plan.schedule->slots() - (uint64_t{1} << lg_runs_)),
        arrived_(plan.schedule->network().nodes() * arrivals_) {}

  /// The runs of block 0 begin at `records`, those of each next block `pitch` bytes further. `offset` is the
  /// offset of their first record within its block.
  void begin(std::byte* records, uint64_t pitch, uint64_t offset) {
    records_ = records;
    pitch_ = pitch;
    offset_ = offset;
  }

  // Own runs are copied. What only passes through a processor is sent on in the buffer in which it came.
  void send(schedule::Place from, uint64_t, Payload& payload) override {
    if (is_own(from)) {
      std::memcpy(payload.reset(run_bytes_), own(from), run_bytes_);
    } else {
      std::swap(payload, arrived(from));
    }
  }
  void receive(const schedule::Message& message, uint64_t, Payload& payload) override {
    std::swap(payload, arrived(message.to));
  }
  void update(std::span<const schedule::Update> updates) override {
    const auto results = std::make_unique_for_overwrite<std::byte[]>(updates.size() * run_bytes_);
    for (std::size_t i = 0; i < updates.size(); ++i) {
      const schedule::Update& u = updates[i];
      const uint64_t index = block_of(u.element.node) << lg_block_ | (offset_ + (u.element.slot << lg_run_));
      what_.step(u.iteration + lg_block_ - lg_runs_, index, std::size_t{1} << lg_run_, at(u.element),
                 at(u.plus), at(u.minus), results.get() + i * run_bytes_);
    }
    for (std::size_t i = 0; i < updates.size(); ++i) {
      std::memcpy(own(updates[i].element), results.get() + i * run_bytes_, run_bytes_);
    }
  }

 private:
  // Block i belongs to the processor whose number is the Gray code of i.
  static uint64_t block_of(schedule::Node node) { return schedule::gray_inverse(node); }
  bool is_own(schedule::Place place) const { return place.slot >> lg_runs_ == 0; }
  std::byte* own(schedule::Place place) const {
    return records_ + block_of(place.node) * pitch_ + place.slot * run_bytes_;
  }
  Payload& arrived(schedule::Place place) {
    return arrived_[place.node * arrivals_ + place.slot - (uint64_t{1} << lg_runs_)];
  }
  const std::byte* at(schedule::Place place) { return is_own(place) ? own(place) : arrived(place).data(); }

  descend::Computation& what_;
  int lg_block_, lg_run_, lg_runs_;
  std::size_t run_bytes_;
  uint64_t arrivals_;
  std::vector<Payload> arrived_;
  std::byte* records_ = nullptr;
  uint64_t pitch_ = 0, offset_ = 0;
};

NodeStrips::NodeStrips(const plan::SweepPlan& plan, descend::Computation& what, schedule::Traffic& traffic,
                       std::stop_token stop)
    : plan_(plan),
      nodes_(*plan.nodes()),
      traffic_(traffic),
      stop_(std::move(stop)),
      runs_(std::make_unique<Runs>(plan, what)),
      machine_(*plan.schedule, plan.task.link_times) {}

NodeStrips::~NodeStrips() = default;

void NodeStrips::compute(const descend::Strip& strip, std::byte* records) {
  const uint64_t record = plan_.task.record_bytes, together = uint64_t{1} << (nodes_.lg_run + nodes_.lg_runs);
  const uint64_t row = nodes_.whole ? together : strip.columns();
  for (uint64_t column = 0; column < row; column += together) {
    runs_->begin(records + column * record, row * record, strip.column + column);
    traffic_ += machine_.run(*runs_, stop_);
  }
}

}  // namespace xorder::machine
