// Memory for working in place, allocated before anything moves: later there would be no way back.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

#include "memory/scratch.hpp"

namespace xorder::memory {

/// What an engine needs, in bytes.
struct WorkspaceSize {
  std::size_t shared = 0;
  std::size_t for_each_thread = 0;
};

class Workspace {
 public:
  /// Throws std::bad_alloc if there is not so much memory.
  Workspace(WorkspaceSize size, unsigned threads) {
    if (size.shared != 0) shared_.emplace(size.shared);
    if (size.for_each_thread == 0) return;
    buffers_.reserve(threads);
    for (unsigned i = 0; i < threads; ++i) buffers_.emplace_back(size.for_each_thread);
    for (const Scratch& buffer : buffers_) free_.push_back(buffer.data());
  }

  std::byte* shared() const { return shared_ ? shared_->data() : nullptr; }

  /// One thread's buffer, for as long as this lives.
  class Buffer {
   public:
    explicit Buffer(Workspace& all) : all_(all) {
      const std::lock_guard lock(all_.mutex_);
      data_ = all_.free_.back();
      all_.free_.pop_back();
    }
    ~Buffer() {
      const std::lock_guard lock(all_.mutex_);
      all_.free_.push_back(data_);
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    std::byte* data() const { return data_; }

   private:
    Workspace& all_;
    std::byte* data_;
  };

 private:
  std::optional<Scratch> shared_;
  std::vector<Scratch> buffers_;
  std::mutex mutex_;
  std::vector<std::byte*> free_;
};

}  // namespace xorder::memory
