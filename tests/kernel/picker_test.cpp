#include "kernel/vectors/picker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "kernel/instruction_sets.hpp"
#include "plan/reference.hpp"
#include "sanitized.hpp"

namespace xorder::kernel {
namespace {

using test::random_bytes;
using test::with_every_instruction_set;

// Places that are scattered, close together or in order, and the first few of them.
TEST(Picker, CopiesEachElementFromItsPlace) {
  test::Random random;
  SEED_TRACE(random);
  with_every_instruction_set([&] {
    bool by_loads = false, one_by_one = false;
    for (int i = 0; i < 300; ++i) {
      SCOPED_TRACE(i);
      const std::size_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 63};
      const std::size_t w = sizes[random.in(std::size_t{0}, std::size_t{11})];
      const std::size_t count = random.in(std::size_t{1}, std::size_t{300});
      const std::size_t spread = random.in(0, 1) == 0 ? 0 : random.in(std::size_t{1}, std::size_t{3000});
      std::vector<std::uint32_t> places;
      for (std::size_t e = 0; e < count; ++e) {
        // Elements next to each other change places within groups of a few, or lie anywhere.
        const std::size_t group = std::min<std::size_t>(4, count - e / 4 * 4);
        const std::size_t near = (e / 4 * 4 + (e % 4 * 3 + 1) % group) * w;
        places.push_back(static_cast<std::uint32_t>(spread == 0 ? near : random.in(std::size_t{0}, spread)));
      }
      const std::size_t reach = *std::ranges::max_element(places) + w;
      const auto source = random_bytes(random, reach + Picker::slack);
      const Picker picker(places, w);
      (picker.loads() != 0 ? by_loads : one_by_one) = true;
      const std::size_t some = random.in(std::size_t{1}, count);
      constexpr std::byte guard{0xA5};
      std::vector<std::byte> target(64 + some * w + Picker::slack + 64, guard), expected = target;
      for (std::size_t e = 0; e < some; ++e) std::memcpy(&expected[64 + e * w], &source[places[e]], w);
      picker.pick(target.data() + 64, source.data(), some);
      // What is in the slack does not matter, but nothing beyond it is written.
      std::fill_n(target.begin() + static_cast<std::ptrdiff_t>(64 + some * w), Picker::slack, guard);
      ASSERT_TRUE(target == expected) << count << " of " << w << ", " << picker.loads() << " loads";
    }
    EXPECT_TRUE(one_by_one);
    // CMakeLists.txt leaves an instruction set out of the builds with sanitizers.
    constexpr auto without = test::sanitized ? HWY_SCALAR | HWY_AVX3 : HWY_SCALAR;
    const bool has_vectors = (hwy::SupportedTargets() & without) == 0;
    EXPECT_EQ(by_loads, has_vectors);
  });
}

}  // namespace
}  // namespace xorder::kernel
