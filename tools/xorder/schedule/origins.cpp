#include "schedule/origins.hpp"

#include <numeric>

namespace xorder::cli {

using schedule::Message;
using schedule::Place;

Origins::Origins(const schedule::Schedule& schedule) : slots_(schedule.slots()), origins_(schedule.steps()) {
  const auto number = [this](const Place& p) { return p.node * slots_ + p.slot; };
  std::vector<std::uint64_t> content(schedule.network().nodes() * slots_);
  std::iota(content.begin(), content.end(), std::uint64_t{0});
  std::vector<Message> messages;
  for (std::uint64_t step = 0; step < schedule.steps(); ++step) {
    schedule.messages(step, messages);
    auto& origins = origins_[step];
    for (const Message& m : messages) origins[number(m.from)] = content[number(m.from)];
    for (const Message& m : messages) content[number(m.to)] = origins[number(m.from)];
  }
}

Place Origins::of(std::uint64_t step, const Message& message) const {
  const std::uint64_t origin = origins_[step].at(message.from.node * slots_ + message.from.slot);
  return {origin / slots_, origin % slots_};
}

}  // namespace xorder::cli
