#include "xorder/schedule/schedule.hpp"

#include <algorithm>

#include "schedule/path.hpp"

namespace xorder::schedule {

Recurrence Recurrence::all(int lg_elements, int lowest, bool ascending, const Reads& reads) {
  Recurrence recurrence{lg_elements, {}};
  for (int b = lowest; b < lg_elements; ++b) {
    recurrence.iterations.push_back({b, (reads.plus >> b & 1) != 0, (reads.minus >> b & 1) != 0});
  }
  if (!ascending) std::ranges::reverse(recurrence.iterations);
  return recurrence;
}

void Schedule::updates(std::uint64_t, std::vector<Update>& out) const { out.clear(); }

Schedule::Load Schedule::load(std::uint64_t step) const {
  std::vector<Message> sent;
  messages(step, sent);
  Load load;
  for (const Message& m : sent) {
    if (stays(m)) continue;
    ++load.messages;
    load.crossings += links(network_, m);
  }
  return load;
}

Schedule::Load Schedule::total() const {
  Load sum;
  for (std::uint64_t step = 0; step < steps_; ++step) {
    const Load part = load(step);
    sum.messages += part.messages;
    sum.crossings += part.crossings;
  }
  return sum;
}

}  // namespace xorder::schedule
