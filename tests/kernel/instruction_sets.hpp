// Highway chooses the instructions when the program runs; tests choose them all, one after the other.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdint>
#include <vector>

namespace xorder::test {

/// Runs `body` with each instruction set that this machine has, and with none if it can.
template <class Body>
void with_every_instruction_set(const Body& body) {
  std::vector<std::int64_t> targets{HWY_AVX3_DL, HWY_AVX3, HWY_AVX2, HWY_SSE4, HWY_NEON};
  hwy::SetSupportedTargetsForTest(0);
  const std::int64_t supported = hwy::SupportedTargets();
  std::erase_if(targets, [&](std::int64_t t) { return (supported & t) == 0; });
  if constexpr ((HWY_TARGETS & HWY_SCALAR) != 0)
    targets.push_back(HWY_SCALAR);  // not where NEON is always there
  for (const std::int64_t target : targets) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace xorder::test
