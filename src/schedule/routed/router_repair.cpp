#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <limits>
#include <optional>

#include "schedule/routed/router.hpp"
#include "xorder/schedule/network.hpp"

namespace xorder::schedule {
namespace {

using std::size_t;
using std::uint32_t;
using std::uint64_t;

constexpr uint32_t unheld = ~uint32_t{0};
constexpr uint32_t never = std::numeric_limits<uint32_t>::max();
// A link that is taken costs `taken`, and `dearer` more each time that a packet loses it. Jitter only decides
// between equals.
constexpr uint32_t taken = 1 << 12, dearer = 1 << 11, jitter_mask = 7;

// Larger timetables are not repaired: that takes 12 bytes for each link and step.
constexpr uint64_t most_links_and_steps = uint64_t{1} << 25;

// An attempt to perform all trips in a given number of steps.
class Attempt {
 public:
  Attempt(std::span<const Trip> trips, int dimension, const Timetable& timetable, uint32_t steps, Dice& dice)
      : trips_(trips),
        dimension_(static_cast<size_t>(dimension)),
        steps_(steps),
        timetable_(timetable),
        holder_((static_cast<size_t>(steps) << dimension) * dimension_, unheld),
        price_(holder_.size(), 0),
        fought_(holder_.size(), 0) {
    for (uint32_t& j : jitter_) j = dice.next() & jitter_mask;
    for (uint32_t trip = 0; trip < trips.size(); ++trip) {
      if (trips[trip].tag == 0) continue;
      if (*std::ranges::max_element(timetable_.of(trip)) >= steps) {
        waiting_.push_back(trip);
      } else {
        each_crossing(trip, [&](size_t at) { take(at, trip); });
      }
    }
  }

  /// The timetable, or nothing if `work` was used up first.
  std::optional<Timetable> run(uint64_t& work) {
    while (!waiting_.empty()) {
      const uint32_t trip = waiting_.front();
      waiting_.pop_front();
      const uint64_t cost = cost_of_search(trip);
      if (cost > work) return std::nullopt;
      work -= cost;
      search(trip);
      put(trip);
    }
    return std::move(timetable_);
  }

 private:
  size_t link(uint32_t step, uint32_t node, size_t j) const {
    return ((static_cast<size_t>(step) << dimension_) + node) * dimension_ + j;
  }

  void take(size_t at, uint32_t trip) {
    holder_[at] = trip;
    price_[at] = taken + fought_[at];
  }

  // The links and steps of a trip, in the order in which it takes them.
  template <class Visit>
  void each_crossing(uint32_t trip, Visit visit) {
    std::array<std::pair<uint32_t, size_t>, Network::max_dimension> order;
    size_t count = 0;
    const auto times = timetable_.of(trip);
    for (uint32_t r = trips_[trip].tag; r != 0; r &= r - 1, ++count) {
      order[count] = {times[count], static_cast<size_t>(std::countr_zero(r))};
    }
    std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count));
    uint32_t node = trips_[trip].from;
    for (size_t i = 0; i < count; ++i) {
      visit(link(order[i].first, node, order[i].second));
      node ^= uint32_t{1} << order[i].second;
    }
  }

  void take_out(uint32_t trip) {
    each_crossing(trip, [&](size_t at) {
      if (holder_[at] != trip) return;  // another trip has taken it
      holder_[at] = unheld;
      price_[at] = 0;
    });
    waiting_.push_back(trip);
  }

  // search() finds the cheapest way through links × steps. A state is the set of dimensions crossed so far,
  // as a number whose bit i stands for the i-th dimension of the tag.
  uint64_t cost_of_search(uint32_t trip) const {
    const auto k = static_cast<uint64_t>(std::popcount(trips_[trip].tag));
    return (steps_ * k << k) / 2 + 1;
  }
  void search(uint32_t trip) {
    const Trip& t = trips_[trip];
    dimensions_.clear();
    for (uint32_t r = t.tag; r != 0; r &= r - 1)
      dimensions_.push_back(static_cast<size_t>(std::countr_zero(r)));
    const size_t k = dimensions_.size(), states = size_t{1} << k;
    node_.resize(states);
    node_[0] = t.from;
    for (size_t s = 1; s < states; ++s) {
      node_[s] = node_[s & (s - 1)] ^ uint32_t { 1 } << dimensions_[static_cast<size_t>(std::countr_zero(s))];
    }
    cost_.assign(states, never);
    cost_[0] = 0;
    crossed_.assign(states * steps_, -1);
    const uint32_t* const jitter = jitter_.data() + (++searches_ & 255);
    for (uint32_t step = 0; step < steps_; ++step) {
      const size_t least = k > steps_ - step ? k - (steps_ - step) : 0;
      std::int8_t* const crossed = crossed_.data() + static_cast<size_t>(step) * states;
      const uint32_t* const prices = price_.data() + link(step, 0, 0);
      // Downwards, because a state's successors are larger and must not cross twice in this step.
      for (size_t s = states; s-- > 0;) {
        if (cost_[s] == never || static_cast<size_t>(std::popcount(s)) < least) continue;
        const uint32_t* const here = prices + static_cast<size_t>(node_[s]) * dimension_;
        for (size_t i = 0; i < k; ++i) {
          if (s >> i & 1) continue;
          const uint32_t cost = cost_[s] + here[dimensions_[i]] + jitter[(step * 5 + s * 3 + i) & 511];
          uint32_t& next = cost_[s | size_t{1} << i];
          if (cost < next) {
            next = cost;
            crossed[s | size_t{1} << i] = static_cast<std::int8_t>(i);
          }
        }
      }
    }
  }

  // Puts the trip on the way that was found, and takes out those that it meets there.
  void put(uint32_t trip) {
    size_t s = node_.size() - 1;
    const size_t states = node_.size();
    for (uint32_t step = steps_; step-- > 0;) {
      const int i = crossed_[static_cast<size_t>(step) * states + s];
      if (i < 0) continue;
      s ^= size_t{1} << i;
      const size_t at = link(step, node_[s], dimensions_[static_cast<size_t>(i)]);
      if (const uint32_t loser = holder_[at]; loser != unheld) {
        if (fought_[at] < never / 64) fought_[at] += dearer;
        take_out(loser);
      }
      take(at, trip);
      timetable_.of(trip)[static_cast<size_t>(i)] = step;
    }
  }

  std::span<const Trip> trips_;
  size_t dimension_;
  uint32_t steps_;
  Timetable timetable_;
  std::vector<uint32_t> holder_;  // by link and step: the trip that uses it
  std::vector<uint32_t> price_;
  std::vector<uint32_t> fought_;
  std::deque<uint32_t> waiting_;
  std::array<uint32_t, 768> jitter_{};
  uint64_t searches_ = 0;
  // These belong to the trip that is searched for.
  std::vector<size_t> dimensions_;
  std::vector<uint32_t> node_;        // by state
  std::vector<uint32_t> cost_;        // by state
  std::vector<std::int8_t> crossed_;  // by step and state: the last dimension, if the step crosses one
};

}  // namespace

Timetable repaired(Timetable timetable, std::span<const Trip> trips, int dimension, uint64_t bound,
                   uint64_t work, Dice& dice) {
  const uint64_t links = static_cast<uint64_t>(dimension) << dimension;
  for (uint32_t steps = timetable.steps(); steps > bound && steps <= most_links_and_steps / links;) {
    auto better = Attempt(trips, dimension, timetable, --steps, dice).run(work);
    if (!better) break;
    timetable = std::move(*better);
  }
  return timetable;
}

}  // namespace xorder::schedule
