#include "machine/steps.hpp"

#include <algorithm>

namespace xorder::machine {
namespace {

using schedule::Node;

Node sender(const schedule::Message& message) { return message.from.node; }
Node owner(const schedule::Update& update) { return update.element.node; }

// What belongs to a processor, of what is sorted by processor.
template <typename T, typename NodeOf>
std::span<const T> part(const std::vector<T>& all, Node node, NodeOf node_of) {
  const auto range = std::ranges::equal_range(all, node, {}, node_of);
  return {range.begin(), range.end()};
}

}  // namespace

Step::Step(const schedule::Schedule& schedule, std::uint64_t number) {
  schedule.messages(number, messages_);
  messages_.shrink_to_fit();
  receivers_.reserve(messages_.size());
  for (const schedule::Message& message : messages_) receivers_.push_back(message.to.node);
  std::ranges::sort(receivers_);
  std::ranges::stable_sort(messages_, {}, sender);
  schedule.updates(number, updates_);
  updates_.shrink_to_fit();
  std::ranges::stable_sort(updates_, {}, owner);
}

std::span<const schedule::Message> Step::sent_by(Node node) const { return part(messages_, node, sender); }
std::span<const schedule::Update> Step::updates_of(Node node) const { return part(updates_, node, owner); }
std::size_t Step::expected_by(Node node) const { return std::ranges::equal_range(receivers_, node).size(); }

std::shared_ptr<const Step> Steps::at(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  Entry& entry = entries_[number];
  if (!entry.step) entry.step = std::make_shared<const Step>(schedule_, number);
  return entry.step;
}

void Steps::leave(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(number);
  if (++entry->second.left == schedule_.network().nodes()) entries_.erase(entry);
}

}  // namespace xorder::machine
