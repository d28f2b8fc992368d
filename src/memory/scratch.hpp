// A buffer for one thread's tiles.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#include "rounding.hpp"

namespace xorder::memory {

/// Aligned to a page, or to a huge page if it is large: the first touch of each page costs as much as copying
/// it many times. Its content is undefined at first.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes) {
    constexpr std::size_t page = 4096, huge = std::size_t{1} << 21;
    const std::size_t alignment = bytes < 2 * huge ? page : huge;
    bytes = round_up(bytes, alignment);
    data_.reset(static_cast<std::byte*>(std::aligned_alloc(alignment, bytes)));
    if (!data_) throw std::bad_alloc();
    if (alignment == huge) madvise(data_.get(), bytes, MADV_HUGEPAGE);
  }
  std::byte* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte, Free> data_;
};

}  // namespace xorder::memory
