#include "machine/simulation.hpp"

#include <utility>

#include "schedule/path.hpp"
#include "xorder/error.hpp"

namespace xorder::machine {

using schedule::Switching;
using std::uint64_t;

schedule::Traffic no_traffic(std::string schedule, uint64_t processors, uint64_t steps,
                             const std::optional<schedule::LinkTimes>& times) {
  schedule::Traffic none{.schedule = std::move(schedule), .processors = processors, .steps = steps};
  if (times) none.time = {.times = *times};
  return none;
}

void count(schedule::Traffic& traffic, const schedule::Network& network, const schedule::Message& message,
           uint64_t bytes) {
  if (bytes == 0 || schedule::stays(message)) return;
  ++traffic.messages;
  traffic.crossings += schedule::links(network, message);
  traffic.bytes_moved += bytes;
}

Simulation::Simulation(const schedule::Schedule& schedule, const schedule::LinkTimes& times)
    : network_(schedule.network()),
      times_(times),
      store_and_forward_(network_, schedule.slots(), times, Switching::store_and_forward),
      wormhole_(network_, schedule.slots(), times, Switching::wormhole) {
  restart();
}

void Simulation::restart() {
  traffic_ = {};
  store_and_forward_.restart();
  wormhole_.restart();
}

void Simulation::send(const schedule::Message& message, uint64_t bytes) {
  if (bytes == 0) return;
  messages_.push_back(message);
  bytes_.push_back(static_cast<double>(bytes));
  count(traffic_, network_, message, bytes);
}

void Simulation::end_step(std::span<const schedule::Update> updates) {
  store_and_forward_.step(messages_, bytes_, updates);
  wormhole_.step(messages_, bytes_, updates);
  messages_.clear();
  bytes_.clear();
}

schedule::Traffic Simulation::traffic() const {
  schedule::Traffic traffic = traffic_;
  traffic.time = {times_, 1, store_and_forward_.time(), wormhole_.time()};
  return traffic;
}

// All messages of a step are read before any is written.
schedule::Traffic Simulation::run(const schedule::Schedule& schedule, std::vector<uint64_t> sizes,
                                  const std::stop_token& stop) {
  std::vector<schedule::Message> messages;
  std::vector<schedule::Update> updates;
  std::vector<uint64_t> carried;
  const auto at = [&](schedule::Place place) -> uint64_t& {
    return sizes[place.node * schedule.slots() + place.slot];
  };
  restart();
  for (uint64_t step = 0; step < schedule.steps(); ++step) {
    if (stop.stop_requested()) throw Cancelled();
    schedule.messages(step, messages);
    schedule.updates(step, updates);
    carried.clear();
    for (const schedule::Message& message : messages) {
      carried.push_back(at(message.from));
      send(message, carried.back());
    }
    for (std::size_t i = 0; i < messages.size(); ++i) at(messages[i].to) = carried[i];
    end_step(updates);
  }
  return traffic();
}

}  // namespace xorder::machine
