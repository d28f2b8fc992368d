#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "schedule/routed/router.hpp"
#include "xorder/schedule/network.hpp"

namespace xorder::schedule {

using std::size_t;
using std::uint32_t;
using std::uint64_t;

Timetable::Timetable(std::span<const Trip> trips) : first_(trips.size() + 1, 0) {
  for (size_t i = 0; i < trips.size(); ++i) {
    first_[i + 1] = first_[i] + static_cast<size_t>(std::popcount(trips[i].tag));
  }
  crossed_.assign(first_.back(), 0);
}

uint32_t Timetable::steps() const { return crossed_.empty() ? 0 : 1 + *std::ranges::max_element(crossed_); }

namespace {

constexpr uint32_t nobody = ~uint32_t{0};

class Greedy {
 public:
  Greedy(std::span<const Trip> trips, int dimension, Dice& dice)
      : trips_(trips),
        dimension_(static_cast<size_t>(dimension)),
        dice_(dice),
        timetable_(trips),
        left_(trips.size()),
        waiting_(size_t{1} << dimension),
        urgency_(size_t{1} << dimension, 0),
        demand_(dimension_, 0),
        busiest_(dimension_) {
    for (uint32_t i = 0; i < trips.size(); ++i) {
      left_[i] = trips[i].tag;
      if (left_[i] == 0) continue;
      ++under_way_;
      waiting_[trips[i].from].push_back(i);
      for (uint32_t r = left_[i]; r != 0; r &= r - 1) ++demand_[dimension_of(r)];
    }
    std::iota(busiest_.begin(), busiest_.end(), size_t{0});
  }

  Timetable run() {
    std::vector<std::pair<uint32_t, uint32_t>> arrivals;  // node, trip
    for (uint32_t step = 0; under_way_ > 0; ++step) {
      std::ranges::stable_sort(busiest_, std::ranges::greater{}, [&](size_t j) { return demand_[j]; });
      for (uint32_t tag = 1; tag < urgency_.size(); ++tag) {
        urgency_[tag] = urgency_[tag & (tag - 1)] + demand_[dimension_of(tag)];
      }
      arrivals.clear();
      for (uint32_t v = 0; v < waiting_.size(); ++v) {
        if (waiting_[v].empty()) continue;
        match(v);
        for (size_t j = 0; j < dimension_; ++j) {
          if (sent_[j] != nobody) arrivals.emplace_back(v ^ uint32_t{1} << j, sent_[j]);
        }
        depart(v, step);
      }
      for (const auto& [v, trip] : arrivals) {
        if (left_[trip] != 0)
          waiting_[v].push_back(trip);
        else
          --under_way_;
      }
    }
    return std::move(timetable_);
  }

 private:
  static size_t dimension_of(uint32_t tag) { return static_cast<size_t>(std::countr_zero(tag)); }

  // sent_[j] becomes the packet that node v sends across dimension j.
  void match(uint32_t v) {
    sent_.fill(nobody);
    uint32_t wanted = 0;
    urgent_.clear();
    for (const uint32_t trip : waiting_[v]) {
      wanted |= left_[trip];
      urgent_.emplace_back(urgency_[left_[trip]] << 10 | (dice_.next() & 1023), trip);
    }
    std::ranges::make_heap(urgent_);
    for (int links = std::popcount(wanted); links > 0 && !urgent_.empty(); urgent_.pop_back()) {
      std::ranges::pop_heap(urgent_);
      uint32_t tried = 0;
      if (place(urgent_.back().second, tried)) --links;
    }
  }

  // Gives the packet a link, if necessary by moving others to other links.
  bool place(uint32_t trip, uint32_t& tried) {
    for (const size_t j : busiest_) {
      if (!(left_[trip] >> j & 1) || tried >> j & 1) continue;
      tried |= uint32_t{1} << j;
      if (sent_[j] == nobody || place(sent_[j], tried)) {
        sent_[j] = trip;
        return true;
      }
    }
    return false;
  }

  void depart(uint32_t v, uint32_t step) {
    for (size_t j = 0; j < dimension_; ++j) {
      const uint32_t trip = sent_[j];
      if (trip == nobody) continue;
      const uint32_t below = trips_[trip].tag & ((uint32_t{1} << j) - 1);
      timetable_.of(trip)[static_cast<size_t>(std::popcount(below))] = step;
      left_[trip] ^= uint32_t{1} << j;
      --demand_[j];
      auto& queue = waiting_[v];
      *std::ranges::find(queue, trip) = queue.back();
      queue.pop_back();
    }
  }

  std::span<const Trip> trips_;
  size_t dimension_;
  Dice& dice_;
  Timetable timetable_;
  std::vector<uint32_t> left_;                  // by trip: the dimensions still to cross
  std::vector<std::vector<uint32_t>> waiting_;  // by node
  std::vector<uint64_t> urgency_;               // by the dimensions still to cross: their demand
  std::vector<uint64_t> demand_;                // by dimension: the crossings still to be made
  std::vector<size_t> busiest_;                 // dimensions, that of most demand first
  std::array<uint32_t, Network::max_dimension> sent_{};
  std::vector<std::pair<uint64_t, uint32_t>> urgent_;
  uint64_t under_way_ = 0;
};

}  // namespace

Timetable greedy_timetable(std::span<const Trip> trips, int dimension, Dice& dice) {
  return Greedy(trips, dimension, dice).run();
}

}  // namespace xorder::schedule
