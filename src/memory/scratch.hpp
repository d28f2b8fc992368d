// A buffer for one thread's tiles.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "rounding.hpp"

namespace xorder::memory {

/// Aligned to a page, or to a huge page if it is large: the first touch of each page costs as much as copying
/// it many times. Its content is undefined at first.
///
/// A thread keeps the memory of one buffer, up to most_kept, for the next: one task follows another, and the
/// system would take 128 KiB and more back from each and clear them for the next. Threads would also wait for
/// each other there.
class Scratch {
 public:
  static constexpr std::size_t most_kept = std::size_t{1} << 20;

  explicit Scratch(std::size_t bytes) {
    if (kept().bytes >= bytes) {
      memory_ = std::exchange(kept(), {});
      return;
    }
    constexpr std::size_t page = 4096, huge = std::size_t{1} << 21;
    const std::size_t alignment = bytes < 2 * huge ? page : huge;
    bytes = round_up(bytes, alignment);
    memory_ = {decltype(memory_.data)(static_cast<std::byte*>(std::aligned_alloc(alignment, bytes))), bytes};
    if (!memory_.data) throw std::bad_alloc();
    if (alignment == huge) madvise(data(), bytes, MADV_HUGEPAGE);
  }
  ~Scratch() {
    if (memory_.bytes <= most_kept && memory_.bytes > kept().bytes) kept() = std::move(memory_);
  }
  Scratch(Scratch&& other) noexcept : memory_(std::exchange(other.memory_, {})) {}
  Scratch& operator=(Scratch&&) = delete;
  std::byte* data() const { return memory_.data.get(); }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  struct Memory {
    std::unique_ptr<std::byte, Free> data;
    std::size_t bytes = 0;
  };
  static Memory& kept() {
    static thread_local Memory memory;
    return memory;
  }
  Memory memory_;
};

}  // namespace xorder::memory
