#include "kernel/gather.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernel/instruction_sets.hpp"
#include "plan/reference.hpp"

namespace xorder::kernel {
namespace {

TEST(Gather, TakesEveryElementFromItsPlace) {
  test::Random random;
  SEED_TRACE(random);
  test::with_every_instruction_set([&] {
    for (int i = 0; i < 1000; ++i) {
      const auto bytes = random.in(std::size_t{1}, std::size_t{40});
      const auto count = random.in(std::size_t{0}, std::size_t{1} << random.in(0, 9));
      const bool dense = random.in(0, 1) == 0, target_dense = random.in(0, 1) == 0;
      const auto step = static_cast<std::int64_t>(bytes + (dense ? 0 : random.in(std::size_t{0}, bytes + 3)));
      const auto target_step = static_cast<std::int64_t>(bytes + (target_dense ? 0 : 5));
      const bool back = random.in(0, 1) == 0;
      const std::vector<std::byte> source =
          test::random_bytes(random, count * static_cast<std::size_t>(step) + bytes);
      std::vector<std::byte> target(count * static_cast<std::size_t>(target_step) + bytes, std::byte{0x5A});
      std::vector<std::byte> expected = target;
      const std::byte* const begin =
          source.data() + (back && count > 0 ? (count - 1) * static_cast<std::size_t>(step) : 0);
      const std::int64_t signed_step = back ? -step : step;
      for (std::size_t e = 0; e < count; ++e)
        std::copy_n(begin + static_cast<std::int64_t>(e) * signed_step, bytes,
                    expected.data() + e * static_cast<std::size_t>(target_step));
      gather(begin, signed_step, target.data(), target_step, count, bytes);
      ASSERT_EQ(target, expected) << "case " << i << ": " << count << " of " << bytes;
    }
  });
}

TEST(Gather, SwapsTheBytesOfNumbers) {
  test::Random random;
  SEED_TRACE(random);
  test::with_every_instruction_set([&] {
    for (const std::size_t bytes : {2, 3, 4, 8, 10, 16}) {
      for (const std::size_t count : {0, 1, 2, 7, 31, 64, 65, 1000}) {
        std::vector<std::byte> numbers = test::random_bytes(random, bytes * count);
        std::vector<std::byte> expected = numbers;
        for (std::size_t i = 0; i < count; ++i)
          std::reverse(expected.data() + i * bytes, expected.data() + (i + 1) * bytes);
        swap_numbers(numbers.data(), count, bytes);
        ASSERT_EQ(numbers, expected) << count << " of " << bytes;
      }
    }
  });
}

}  // namespace
}  // namespace xorder::kernel
