// What a plan in memory comes down to: tasks that can be done in any order by any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace xorder::memory {

/// One way to perform one reordering; immutable, so that several threads can execute it at once.
class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  virtual std::uint64_t tasks() const = 0;
  /// Performs tasks first .. last − 1. Its stores may be streamed: finish_streams() must follow.
  virtual void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
                       std::byte* target) const = 0;
  virtual std::string describe() const = 0;

  /// Whether it can also work in place, by exchange(), which does tasks first .. last − 1 on an array that is
  /// source and target.
  virtual bool exchanges() const { return false; }
  virtual void exchange(std::uint64_t /*first*/, std::uint64_t /*last*/, std::byte* /*array*/) const {}
};

}  // namespace xorder::memory
