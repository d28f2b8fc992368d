#include "memory/scratch.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <thread>

#include "byte_units.hpp"

namespace xorder::memory {
namespace {

// In a thread of its own, which keeps nothing yet.
template <class Body>
void in_new_thread(const Body& body) {
  std::thread(body).join();
}

TEST(Scratch, AThreadKeepsABufferForTheNext) {
  in_new_thread([] {
    const std::byte* first = nullptr;
    {
      const Scratch buffer(128 * KiB);
      std::memset(buffer.data(), 1, 128 * KiB);
      first = buffer.data();
    }
    const Scratch smaller(100 * KiB);
    EXPECT_EQ(smaller.data(), first);
    const Scratch another(100 * KiB);  // at the same time
    EXPECT_NE(another.data(), first);
    std::memset(another.data(), 2, 100 * KiB);
    EXPECT_EQ(smaller.data()[0], std::byte{1});
  });
}

TEST(Scratch, TheLargestIsKeptUpToAMebibyte) {
  in_new_thread([] {
    std::optional<Scratch> small(std::in_place, 64 * KiB), large(std::in_place, 256 * KiB);
    const std::byte* const kept = large->data();
    large.reset();
    small.reset();
    { const Scratch huge(8192 * KiB); }
    EXPECT_EQ(Scratch(256 * KiB).data(), kept);
    const Scratch beyond(300 * KiB);
    EXPECT_NE(beyond.data(), kept);
    std::memset(beyond.data(), 3, 300 * KiB);
  });
}

}  // namespace
}  // namespace xorder::memory
