// An engine executes a plan in memory, as tasks that any thread can do in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace xorder::memory {

/// One way to perform one reordering. Immutable, so several threads can use it at once.
class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  virtual std::uint64_t tasks() const = 0;
  /// Performs tasks first .. last − 1. Its stores may be streamed, so the caller must call finish_streams()
  /// after it.
  virtual void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
                       std::byte* target) const = 0;
  virtual std::string describe() const = 0;

  /// Whether exchange() works: it performs tasks first .. last − 1 in place, on an array that is both source
  /// and target.
  virtual bool exchanges() const { return false; }
  virtual void exchange(std::uint64_t /*first*/, std::uint64_t /*last*/, std::byte* /*array*/) const {}
};

}  // namespace xorder::memory
