// The messages of a schedule's steps, sorted by the processor that sends them; made when the first processor
// comes to a step, and gone when the last one has left it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "xorder/schedule/schedule.hpp"

namespace xorder::run {

class Step {
 public:
  Step(const schedule::Schedule& schedule, std::uint64_t number);

  std::span<const schedule::Message> sent_by(schedule::Node node) const {
    return part(messages_, sends_, node);
  }
  std::span<const schedule::Update> updates_of(schedule::Node node) const {
    return part(updates_, computes_, node);
  }
  /// Messages for a processor, also those from itself.
  std::uint32_t expected_by(schedule::Node node) const { return expects_[node]; }

 private:
  template <typename T>
  static std::span<const T> part(const std::vector<T>& all, const std::vector<std::size_t>& begins,
                                 schedule::Node node) {
    if (all.empty()) return {};
    return std::span(all).subspan(begins[node], begins[node + 1] - begins[node]);
  }

  std::vector<schedule::Message> messages_;
  std::vector<schedule::Update> updates_;
  std::vector<std::size_t> sends_, computes_;  // where a processor's begin
  std::vector<std::uint32_t> expects_;
};

/// May be used by many threads.
class Steps {
 public:
  explicit Steps(const schedule::Schedule& schedule) : schedule_(schedule) {}

  std::shared_ptr<const Step> at(std::uint64_t number);
  /// To be called once by each processor for each step.
  void leave(std::uint64_t number);

 private:
  struct Entry {
    std::shared_ptr<const Step> step;
    std::uint64_t left = 0;
  };

  const schedule::Schedule& schedule_;
  std::mutex mutex_;
  std::map<std::uint64_t, Entry> entries_;
};

}  // namespace xorder::run
