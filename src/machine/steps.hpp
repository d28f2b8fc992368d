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

namespace xorder::machine {

class Step {
 public:
  Step(const schedule::Schedule& schedule, std::uint64_t number);

  std::span<const schedule::Message> sent_by(schedule::Node node) const;
  std::span<const schedule::Update> updates_of(schedule::Node node) const;
  /// Messages for a processor, also those from itself.
  std::size_t expected_by(schedule::Node node) const;

 private:
  // No tables by processor: of a step in which few send there may be as many as processors at once.
  std::vector<schedule::Message> messages_;
  std::vector<schedule::Node> receivers_;  // one a message, sorted
  std::vector<schedule::Update> updates_;
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

}  // namespace xorder::machine
