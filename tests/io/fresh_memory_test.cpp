#include "io/measure/fresh_memory.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "io/memory.hpp"

namespace xorder::io {
namespace {

std::vector<double> pieces(std::size_t fast, std::size_t slow, double slow_rate) {
  std::vector<double> seconds(fast, FreshMemory::piece_bytes / 16e9);
  seconds.insert(seconds.end(), slow, FreshMemory::piece_bytes / slow_rate);
  return seconds;
}

TEST(FreshMemory, TheRateIsThatOfMemoryNotAtHand) {
  for (const bool virtual_machine : {false, true}) {
    EXPECT_EQ((FreshMemory{pieces(10, 30, 0.55e9), virtual_machine}.rate()), std::exp2(29));
    EXPECT_EQ((FreshMemory{pieces(0, 40, 0.7e9), virtual_machine}.rate()), std::exp2(29));
    EXPECT_EQ((FreshMemory{pieces(32, 8, 1.1e9), virtual_machine}.rate()), std::exp2(30));
  }
}

TEST(FreshMemory, MemoryAtHandSaysNothingOnAVirtualMachine) {
  EXPECT_EQ((FreshMemory{pieces(40, 0, 1), true}.rate()), std::nullopt);
  EXPECT_EQ((FreshMemory{pieces(33, 7, 0.5e9), true}.rate()), std::nullopt);
  EXPECT_EQ((FreshMemory{pieces(40, 0, 1), false}.rate()), std::exp2(34));
  EXPECT_EQ((FreshMemory{{}, false}.rate()), std::nullopt);
}

TEST(FreshMemory, AllPiecesAreTouched) {
  const FreshMemory fresh = touch_fresh_memory();
  EXPECT_EQ(fresh.seconds.size() * FreshMemory::piece_bytes, touched_fresh_memory);
  for (const double seconds : fresh.seconds) EXPECT_GT(seconds, 0);
  EXPECT_GE(peak_resident_memory(), touched_fresh_memory / 2);
  if (const auto rate = fresh.rate()) {
    EXPECT_GT(*rate, 1e7);
    EXPECT_LT(*rate, 1e12);
  }
}

}  // namespace
}  // namespace xorder::io
