// Finds in which step each packet crosses each dimension (routed.hpp explains how).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace xorder::schedule {

/// A packet's way: from a node across each dimension of `tag` once.
struct Trip {
  std::uint32_t from = 0;
  std::uint32_t tag = 0;
};

/// The steps in which trips cross their dimensions.
class Timetable {
 public:
  explicit Timetable(std::span<const Trip> trips);

  /// By dimension of the trip's tag, the lowest first.
  std::span<std::uint32_t> of(std::size_t trip) {
    return {crossed_.data() + first_[trip], first_[trip + 1] - first_[trip]};
  }
  std::span<const std::uint32_t> of(std::size_t trip) const {
    return {crossed_.data() + first_[trip], first_[trip + 1] - first_[trip]};
  }
  std::uint64_t crossings() const { return crossed_.size(); }
  /// One more than the last step.
  std::uint32_t steps() const;

 private:
  std::vector<std::size_t> first_;
  std::vector<std::uint32_t> crossed_;
};

/// Random numbers that are the same on every platform (the standard library's distributions differ).
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 0x1F123BB5159A55E5u) {}
  std::uint32_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<std::uint32_t>(state_ >> 32);
  }

 private:
  std::uint64_t state_;
};

Timetable greedy_timetable(std::span<const Trip> trips, int dimension, Dice& dice);

/// Shortens a timetable towards `bound` steps with at most `work` units of work. The result is always a
/// complete timetable, never a longer one.
Timetable repaired(Timetable timetable, std::span<const Trip> trips, int dimension, std::uint64_t bound,
                   std::uint64_t work, Dice& dice);

}  // namespace xorder::schedule
