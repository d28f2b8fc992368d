// A buffer for one thread's tiles.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace xorder::memory {

/// Aligned to a page; what it holds at first is undefined.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes) : data_(static_cast<std::byte*>(::operator new(bytes, alignment))) {}
  std::byte* data() const { return data_.get(); }

 private:
  static constexpr std::align_val_t alignment{4096};
  struct Free {
    void operator()(std::byte* p) const { ::operator delete(p, alignment); }
  };
  std::unique_ptr<std::byte, Free> data_;
};

}  // namespace xorder::memory
