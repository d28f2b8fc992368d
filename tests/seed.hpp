// Random tests print their seed, and run again with XORDER_TEST_SEED=<it>.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>

namespace xorder::test {

/// A generator with a fresh seed (or XORDER_TEST_SEED) that is recorded with the test's result.
class Random : public std::mt19937_64 {
 public:
  Random() : Random(pick()) {}
  explicit Random(std::uint64_t seed) : std::mt19937_64(seed), seed_(seed) {
    ::testing::Test::RecordProperty("seed", std::to_string(seed));
  }
  std::uint64_t seed() const { return seed_; }
  /// Uniform in [low, high].
  template <typename Low, typename High>
  std::common_type_t<Low, High> in(Low low, High high) {
    using Int = std::common_type_t<Low, High>;
    return std::uniform_int_distribution<Int>(static_cast<Int>(low), static_cast<Int>(high))(*this);
  }
  /// Fills memory, eight bytes per number.
  void fill(void* memory, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; i += 8) {
      const std::uint64_t word = (*this)();
      std::memcpy(static_cast<char*>(memory) + i, &word, bytes - i < 8 ? bytes - i : 8);
    }
  }

 private:
  static std::uint64_t pick() {
    if (const char* given = std::getenv("XORDER_TEST_SEED")) return std::strtoull(given, nullptr, 0);
    return std::random_device{}();
  }
  std::uint64_t seed_;
};

/// Put `SEED_TRACE(random);` at the head of a random test: failures then print the seed.
#define SEED_TRACE(random) SCOPED_TRACE("XORDER_TEST_SEED=" + std::to_string((random).seed()))

}  // namespace xorder::test
