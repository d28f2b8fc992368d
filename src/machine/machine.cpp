#include "xorder/machine/machine.hpp"

#include <oneapi/tbb/spin_mutex.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "machine/epochs.hpp"
#include "machine/simulation.hpp"
#include "rounding.hpp"
#include "schedule/path.hpp"
#include "task/flow.hpp"
#include "task/lock.hpp"
#include "xorder/error.hpp"

namespace xorder::machine {
namespace {

using schedule::Node;
using std::uint64_t;

constexpr std::size_t two_cache_lines = 128;  // CPUs fetch them together
constexpr uint64_t no_step = std::numeric_limits<uint64_t>::max();

}  // namespace

class Machine::Graph {
 public:
  Graph(const schedule::Schedule& schedule, const std::optional<schedule::LinkTimes>& link_times);
  schedule::Traffic run(Program& program, const std::stop_token& stop);

 private:
  // A processor runs when there is something to do: at the beginning, when the last message of its step
  // arrives, and when the epoch opens for which it waits. Waking it for each message would cost a task each.

  // If there are many processors, few are in the cache, so the members that are used most come first.
  struct alignas(two_cache_lines) Processor {
    // Guards what other processors change: `missing`, and the Arrivals of what this one receives.
    oneapi::tbb::spin_mutex lock;
    // It does its steps one by one or, if what it sends does not depend on what it receives, all steps of a
    // epoch together. `last` is the last step in progress.
    bool under_way = false;
    uint64_t missing = 0;  // while it rests: how many messages of steps up to `last` have not arrived
    uint64_t last = 0;

    // What is left of its epoch.
    uint64_t epochs = 0;  // how many it has left behind
    Epoch* epoch = nullptr;
    std::span<Envelope> to_send;
    std::unique_ptr<task::FlowNode> node;
    std::span<Arrival> to_receive;
    std::span<const uint64_t> update_steps;
    std::span<const schedule::Update> updates;
    schedule::Traffic traffic;

    uint64_t step() const;                     // the next one in which it has something to do
    std::span<const Arrival> awaited() const;  // in the steps in progress
    bool rest_until_complete();
  };

  void act(Node self);
  bool has_epoch(Node self);
  bool advance(Node self);
  void send_all(Node self);
  void receive_all(Node self);
  bool arrive(Envelope& envelope);
  uint64_t last_link(const schedule::Message& message) const;
  Link* link(const schedule::Message& message);
  void wake(Node node) { processors_[node].node->try_put(task::Wake()); }

  const schedule::Network network_;
  Program* program_ = nullptr;
  bool together_ = false;
  std::stop_token stop_;
  std::optional<Simulation> simulation_;
  Epochs epochs_;
  oneapi::tbb::flow::graph graph_;
  std::vector<Processor> processors_;
  std::vector<std::unique_ptr<Link>> links_;  // by last_link(); null until the schedule uses it
  uint64_t steps_;
};

Machine::Graph::Graph(const schedule::Schedule& schedule,
                      const std::optional<schedule::LinkTimes>& link_times)
    : network_(schedule.network()),
      simulation_(link_times ? std::optional<Simulation>(std::in_place, schedule, *link_times)
                             : std::nullopt),
      epochs_(
          schedule, [this](const schedule::Message& message) { return link(message); },
          simulation_ ? &*simulation_ : nullptr),
      processors_(network_.nodes()),
      links_(network_.link_numbers()),
      steps_(schedule.steps()) {
  for (Node self = 0; self < processors_.size(); ++self)
    processors_[self].node = task::flow_node(graph_, [this, self] { act(self); });
}

uint64_t Machine::Graph::Processor::step() const {
  uint64_t first = no_step;
  if (!to_send.empty()) first = to_send.front().step;
  if (!to_receive.empty()) first = std::min(first, to_receive.front().step);
  if (!update_steps.empty()) first = std::min(first, update_steps.front());
  return first;
}

std::span<const Arrival> Machine::Graph::Processor::awaited() const {
  std::size_t count = 0;
  while (count < to_receive.size() && to_receive[count].step <= last) ++count;
  return to_receive.first(count);
}

// False if everything is here already. Otherwise the last missing message wakes the processor.
bool Machine::Graph::Processor::rest_until_complete() {
  const auto arrivals = awaited();
  const task::Lock under(lock);
  missing = static_cast<uint64_t>(std::ranges::count(arrivals, nullptr, &Arrival::envelope));
  return missing != 0;
}

// Does everything that can be done now.
void Machine::Graph::act(Node self) {
  while (!stop_.stop_requested() && has_epoch(self) && advance(self)) {
  }
}

// Enters the next epoch when the processor has finished one. If that is not open yet, the processor rests
// until the epoch opens. Messages that arrive before do not wake it.
bool Machine::Graph::has_epoch(Node self) {
  Processor& me = processors_[self];
  while (me.epoch == nullptr || me.step() == no_step) {
    if (std::exchange(me.epoch, nullptr) != nullptr) {
      for (const Node node : epochs_.leave(me.epochs++)) wake(node);
    }
    Epoch* const epoch = epochs_.enter(me.epochs, self);
    if (epoch == nullptr) return false;
    me.epoch = epoch;
    me.to_send = epoch->sent_by(self);
    me.to_receive = epoch->received_by(self);
    me.update_steps = epoch->update_steps_of(self);
    me.updates = epoch->updates_of(self);
  }
  return true;
}

// Does one step, or one epoch, if everything it needs is there.
bool Machine::Graph::advance(Node self) {
  Processor& me = processors_[self];
  if (!std::exchange(me.under_way, true)) {
    me.last = together_ ? me.epoch->end() - 1 : me.step();
    send_all(self);
  }
  if (me.rest_until_complete()) return false;
  receive_all(self);
  me.under_way = false;
  return true;
}

void Machine::Graph::send_all(Node self) {
  Processor& me = processors_[self];
  const bool simulated = simulation_.has_value();
  // What the messages will touch is seldom in the cache, so all of it is fetched at the same time.
  for (const Envelope& envelope : me.to_send) {
    if (envelope.step > me.last) break;
    __builtin_prefetch(&processors_[envelope.message.to.node], 1);
    __builtin_prefetch(envelope.arrival, 1);
  }
  for (; !me.to_send.empty() && me.to_send.front().step <= me.last; me.to_send = me.to_send.subspan(1)) {
    Envelope& envelope = me.to_send.front();
    const schedule::Message& message = envelope.message;
    program_->send(message.from, envelope.step, envelope.payload);
    if (simulated) me.epoch->note_size(envelope);
    if (schedule::stays(message)) {
      envelope.arrival->envelope = &envelope;
      continue;
    }
    count(me.traffic, network_, message, envelope.payload.size());
    envelope.link->put(envelope, [this](Envelope& arrived) { return arrive(arrived); });
  }
}

// Called at the end of a link. Returns whether the receiver has to be woken, because this was the last
// missing message.
bool Machine::Graph::arrive(Envelope& envelope) {
  Processor& receiver = processors_[envelope.message.to.node];
  const task::Lock lock(receiver.lock);
  envelope.arrival->envelope = &envelope;
  return receiver.missing != 0 && envelope.step <= receiver.last && --receiver.missing == 0;
}

// The number of the link by which a message reaches its receiver: the last one of its path. A crossbar has
// one link into each node.
uint64_t Machine::Graph::last_link(const schedule::Message& message) const {
  const Node to = message.to.node;
  if (network_.kind() == schedule::Network::Kind::crossbar) return to;
  const Node corner = schedule::last_turn(message);
  const Node before = network_.has_rows() ? network_.next(to, corner) : corner;
  return network_.link(before, to).value();
}

// Makes the link if no message has used it before. All links of a hypercube would be too many: 14 for each of
// 16,384 nodes.
Link* Machine::Graph::link(const schedule::Message& message) {
  if (schedule::stays(message)) return nullptr;
  std::unique_ptr<Link>& link = links_[last_link(message)];
  if (link == nullptr) {
    link = std::make_unique<Link>(graph_, *processors_[message.to.node].node);
  }
  return link.get();
}

void Machine::Graph::receive_all(Node self) {
  Processor& me = processors_[self];
  const auto arrivals = me.awaited();
  me.to_receive = me.to_receive.subspan(arrivals.size());
  for (const Arrival& arrival : arrivals) __builtin_prefetch(arrival.envelope);
  for (const Arrival& arrival : arrivals) __builtin_prefetch(arrival.envelope->payload.data());
  for (const Arrival& arrival : arrivals) {
    Envelope& envelope = *arrival.envelope;
    program_->receive(envelope.message, envelope.step, envelope.payload);
  }
  std::size_t updates = 0;
  while (updates < me.update_steps.size() && me.update_steps[updates] <= me.last) ++updates;
  if (updates == 0) return;
  program_->update(me.updates.first(updates));
  me.updates = me.updates.subspan(updates);
  me.update_steps = me.update_steps.subspan(updates);
}

schedule::Traffic Machine::Graph::run(Program& program, const std::stop_token& stop) {
  program_ = &program;
  together_ = !program.sends_what_it_received();
  stop_ = stop;
  epochs_.restart();
  if (simulation_) simulation_->restart();
  for (Processor& processor : processors_) processor.epochs = 0;
  task::flow(graph_, [this] {
    for (Node node = 0; node < processors_.size(); ++node) wake(node);
  });
  if (stop_.stop_requested()) throw Cancelled();
  epochs_.finish();
  schedule::Traffic traffic{.schedule = {}, .processors = network_.nodes(), .steps = steps_};
  for (Processor& processor : processors_) traffic += std::exchange(processor.traffic, {});
  if (simulation_) traffic.time = simulation_->traffic().time;
  return traffic;
}

Machine::Machine(const schedule::Schedule& schedule, const std::optional<schedule::LinkTimes>& link_times)
    : graph_(std::make_unique<Graph>(schedule, link_times)) {}
Machine::~Machine() = default;
schedule::Traffic Machine::run(Program& program, const std::stop_token& stop) {
  return graph_->run(program, stop);
}

// Large buffers come from the system and go back to it. The heap would keep freed ones of other sizes.
constexpr std::size_t line = 64, page = 4096, large = std::size_t{128} << 10;

void Payload::Free::operator()(std::byte* buffer) const {
  if (mapped != 0) {
    munmap(buffer, mapped);
  } else {
    std::free(buffer);
  }
}

void Payload::refer(const std::byte* data, std::size_t bytes) {
  elsewhere_ = data;
  bytes_ = bytes;
}

std::byte* Payload::reset(std::size_t bytes) {
  elsewhere_ = nullptr;
  if (bytes > capacity_ || !buffer_) {  // data() is not null even for no bytes
    buffer_.reset();
    bytes_ = capacity_ = 0;
    const std::size_t unit = bytes < page ? line : page;
    const std::size_t size = std::max<std::size_t>(ceil_div(bytes, unit), 1) * unit;
    void* const got = size >= large
                          ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                          : std::aligned_alloc(unit, size);
    if (got == nullptr || got == MAP_FAILED) throw std::bad_alloc();
    buffer_ = {static_cast<std::byte*>(got), Free{size >= large ? size : 0}};
    capacity_ = size;
  }
  bytes_ = bytes;
  return buffer_.get();
}

void Program::update(std::span<const schedule::Update>) {}

}  // namespace xorder::machine
