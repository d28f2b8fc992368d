#include "xorder/schedule/timing.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "schedule/clock.hpp"
#include "xorder/error.hpp"
#include "xorder/schedule/check.hpp"

namespace xorder::schedule {
namespace {

void check_value(double value) {
  if (!std::isfinite(value) || value < 0)
    throw InputError(fmt::format("a time or size must be finite and not negative, not {}", value));
}

}  // namespace

void check(const LinkTimes& times) {
  for (const double value : {times.startup, times.per_link, times.per_byte}) check_value(value);
}

Duration duration(const Schedule& schedule, double bytes, const LinkTimes& times, Switching switching) {
  check_value(bytes);
  const std::uint64_t nodes = schedule.network().nodes();
  if (nodes != 0 && schedule.slots() > max_checked_places / nodes) {
    throw InputError(
        fmt::format("{} virtual processors with {} slots each are too many to time: at most {} places", nodes,
                    schedule.slots(), max_checked_places));
  }
  Clock clock(schedule.network(), schedule.slots(), times, switching);
  std::vector<Message> messages;
  std::vector<Update> updates;
  std::vector<double> sizes;
  for (std::uint64_t step = 0; step < schedule.steps(); ++step) {
    schedule.messages(step, messages);
    schedule.updates(step, updates);
    sizes.assign(messages.size(), bytes);
    clock.step(messages, sizes, updates);
  }
  return clock.time();
}

}  // namespace xorder::schedule
