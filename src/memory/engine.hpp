// An engine executes a plan in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "memory/in_place/workspace.hpp"

namespace xorder::memory {

/// The bytes of a task, about: they take long compared with fetching a task, and little enough that all
/// threads end together.
inline constexpr std::uint64_t task_bytes = 256 * 1024;

/// One way to perform one reordering, as tasks that any thread can do in any order. Immutable, so several
/// threads can use it at once.
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
};

/// One way to perform one reordering in place. Immutable, so several threads can use it at once.
class InPlaceEngine {
 public:
  InPlaceEngine() = default;
  InPlaceEngine(const InPlaceEngine&) = delete;
  InPlaceEngine& operator=(const InPlaceEngine&) = delete;
  virtual ~InPlaceEngine() = default;

  virtual WorkspaceSize needs() const = 0;
  /// By up to `threads` threads, at least 1. The workspace has what the engine needs, for as many. While
  /// the array changes, only the tasks of several threads must be allocated.
  virtual void perform(std::byte* array, unsigned threads, Workspace& workspace) const = 0;
  virtual std::string describe() const = 0;
};

}  // namespace xorder::memory
