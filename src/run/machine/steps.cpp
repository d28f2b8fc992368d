#include "run/machine/steps.hpp"

#include <utility>

namespace xorder::run {
namespace {

// Counting sort: `begins[k]` is where the items of processor k begin.
template <typename T, typename NodeOf>
void sort_by_node(std::vector<T>& items, std::vector<std::size_t>& begins, std::uint64_t nodes,
                  NodeOf node_of) {
  if (items.empty()) return;
  begins.assign(nodes + 1, 0);
  for (const T& item : items) ++begins[node_of(item) + 1];
  for (std::uint64_t k = 0; k < nodes; ++k) begins[k + 1] += begins[k];
  std::vector<std::size_t> next(begins.begin(), begins.end() - 1);
  std::vector<T> sorted(items.size());
  for (const T& item : items) sorted[next[node_of(item)]++] = item;
  items = std::move(sorted);
}

}  // namespace

Step::Step(const schedule::Schedule& schedule, std::uint64_t number)
    : expects_(schedule.network().nodes(), 0) {
  const std::uint64_t nodes = schedule.network().nodes();
  schedule.messages(number, messages_);
  for (const schedule::Message& m : messages_) ++expects_[m.to.node];
  sort_by_node(messages_, sends_, nodes, [](const schedule::Message& m) { return m.from.node; });
  schedule.updates(number, updates_);
  sort_by_node(updates_, computes_, nodes, [](const schedule::Update& u) { return u.element.node; });
}

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

}  // namespace xorder::run
