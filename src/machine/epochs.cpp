#include "machine/epochs.hpp"

#include "plan/processors/processors.hpp"

#include <algorithm>
#include <utility>

namespace xorder::machine {

using schedule::Message;
using schedule::Node;
using schedule::Update;
using std::uint64_t;

// Sets `begin` to where each processor's items begin, shifted by one.
template <typename T>
template <typename NodeOf>
void Epoch::ByProcessor<T>::count(Node processors, std::size_t number, const NodeOf& node_of) {
  // begin[node + 1] is where a processor's items begin. Filling them in moves it on to where the next
  // processor's begin, as of() expects.
  begin.assign(processors + 2, 0);
  for (std::size_t i = 0; i < number; ++i) ++begin[node_of(i) + 2];
  for (std::size_t k = 2; k < begin.size(); ++k) begin[k] += begin[k - 1];
  if (items.size() < number) items.resize(number);
}

void Epoch::make(const schedule::Schedule& schedule, uint64_t first, const LinkOf& link_of, bool simulated) {
  const Node processors = schedule.network().nodes();
  auto& [messages, some_messages] = unsorted_;
  auto& [updates, some_updates] = unsorted_updates_;
  messages.clear();
  updates.clear();
  const uint64_t enough = plan::window_messages(schedule.network(), schedule.slots());
  first_ = first;
  for (end_ = first; end_ < schedule.steps() && messages.size() + updates.size() < enough; ++end_) {
    schedule.messages(end_, some_messages);
    for (const Message& message : some_messages) messages.push_back({end_, message});
    schedule.updates(end_, some_updates);
    for (const Update& update : some_updates) updates.push_back({end_, update});
  }
  sent_.count(processors, messages.size(), [&](std::size_t i) { return messages[i].what.from.node; });
  received_.count(processors, messages.size(), [&](std::size_t i) { return messages[i].what.to.node; });
  for (const auto& [step, message] : messages) {
    Envelope& envelope = sent_.items[sent_.begin[message.from.node + 1]++];
    envelope.message = message;
    envelope.step = step;
    envelope.link = link_of(message);
    envelope.arrival = &received_.items[received_.begin[message.to.node + 1]++];
    *envelope.arrival = {step, nullptr};
  }
  if (simulated) sizes_.resize(messages.size());
  const auto owner = [&](std::size_t i) { return updates[i].what.element.node; };
  updates_.count(processors, updates.size(), owner);
  update_steps_.count(processors, updates.size(), owner);
  for (const auto& [step, update] : updates) {
    updates_.items[updates_.begin[update.element.node + 1]++] = update;
    update_steps_.items[update_steps_.begin[update.element.node + 1]++] = step;
  }
}

void Epoch::replay(Simulation& simulation) {
  std::vector<std::uint32_t> next = sent_.begin;
  std::vector<Update>& updates = unsorted_updates_.of_a_step;
  auto message = unsorted_.all.begin();
  auto update = unsorted_updates_.all.begin();
  for (uint64_t step = first_; step < end_; ++step) {
    for (; message != unsorted_.all.end() && message->step == step; ++message)
      simulation.send(message->what, sizes_[next[message->what.from.node]++]);
    updates.clear();
    for (; update != unsorted_updates_.all.end() && update->step == step; ++update)
      updates.push_back(update->what);
    simulation.end_step(updates);
  }
}

void Epochs::restart() {
  made_ = next_step_ = 0;
  waiting_.clear();
  for (Open& open : open_) open.inside = 0;
}

Epoch* Epochs::enter(uint64_t number, Node node) {
  Open& open = open_[number % 2];
  if (number < made_) return &open.epoch;
  const std::lock_guard lock(mutex_);
  if (number == made_) {
    if (next_step_ == schedule_.steps()) return nullptr;
    if (open.inside != 0) {
      waiting_.push_back(node);
      return nullptr;
    }
    if (simulation_ != nullptr && number >= 2) open.epoch.replay(*simulation_);  // of the one before the last
    open.epoch.make(schedule_, next_step_, link_of_, simulation_ != nullptr);
    open.inside = schedule_.network().nodes();
    next_step_ = open.epoch.end();
    ++made_;
  }
  return &open.epoch;
}

// A processor that finds the epoch still in use, under the lock, is in waiting_ before the last one that
// leaves gets the lock.
std::vector<Node> Epochs::leave(uint64_t number) {
  if (--open_[number % 2].inside != 0) return {};
  const std::lock_guard lock(mutex_);
  return std::exchange(waiting_, {});
}

void Epochs::finish() {
  if (simulation_ == nullptr) return;
  for (uint64_t number = std::max<uint64_t>(made_, 2) - 2; number < made_; ++number)
    open_[number % 2].epoch.replay(*simulation_);
}

}  // namespace xorder::machine
