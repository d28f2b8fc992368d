// Executes a plan in memory and compares the target with what the definition says.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "plan/reference.hpp"
#include "xorder/memory/permute.hpp"

namespace xorder::test {

// An array that begins `before` bytes after the beginning of a line, with guards on both sides.
class Guarded {
 public:
  static constexpr std::byte guard{0xA5};

  Guarded(std::size_t bytes, std::size_t before) : memory_(bytes + 256, guard) {
    const std::size_t to_line = -reinterpret_cast<std::uintptr_t>(memory_.data()) % 64;
    offset_ = to_line + 64 + before;
  }
  std::byte* data() { return memory_.data() + offset_; }
  std::size_t offset() const { return offset_; }
  std::vector<std::byte>& memory() { return memory_; }

 private:
  std::vector<std::byte> memory_;
  std::size_t offset_;
};

// Ten lines that do what the definition says. The target begins `before` bytes after a line, the source there
// or anywhere.
inline void expect_permuted(const Reordering& what, Random& random,
                            const std::vector<unsigned>& numbers_of_threads, std::size_t before = 0) {
  const std::size_t bytes = what.bytes(), w = what.element_bytes;
  const std::size_t source_before =
      random.in(0, 1) == 0 ? before : random.in(std::size_t{0}, std::size_t{63});
  Guarded source(bytes, source_before), target(bytes, before);
  random.fill(source.data(), bytes);
  std::vector<std::byte> expected = target.memory();
  for (std::uint64_t x = 0; x < what.elements(); ++x) {
    std::memcpy(&expected[target.offset() + what.target_index(x) * w], source.data() + x * w, w);
  }
  const memory::InMemoryPlan plan(what);
  for (const unsigned threads : numbers_of_threads) {
    // memset and memcmp, because the algorithms of C++ are slow with sanitizers.
    std::memset(target.memory().data(), std::to_integer<int>(Guarded::guard), target.memory().size());
    plan.execute(source.data(), target.data(), threads);
    ASSERT_EQ(std::memcmp(target.memory().data(), expected.data(), expected.size()), 0)
        << plan.describe() << "; threads " << threads << ", misaligned by " << source_before << " and "
        << before;
  }
}

}  // namespace xorder::test
