#include "kernel/vectors/batch.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "kernel/instruction_sets.hpp"
#include "plan/reference.hpp"

namespace xorder::kernel {
namespace {

using test::random_bytes;
using test::with_every_instruction_set;

// The source has no byte more than needed, which shows reads behind it to the address sanitizer.
TEST(Batch, TransposesEachMatrixAndNothingElse) {
  test::Random random;
  SEED_TRACE(random);
  with_every_instruction_set([&] {
    int found = 0;
    for (int i = 0; i < 600; ++i) {
      SCOPED_TRACE(i);
      const std::size_t w = std::size_t{1} << random.in(0, 4);
      const std::size_t rows = std::size_t{1} << random.in(0, 7), columns = random.in(1u, 5u)
                                                                            << random.in(0, 5);
      const BatchFunction function = batch_function(w, rows, columns);
      if (function == nullptr) continue;
      ++found;
      const std::size_t bytes = rows * columns * w, count = random.in(1u, 9u);
      const std::size_t source_step = bytes + random.in(0u, 70u), target_step = bytes + random.in(0u, 70u);
      const auto source = random_bytes(random, (count - 1) * source_step + bytes);
      std::vector<std::byte> target(64 + count * target_step + 64, std::byte{0xA5}), expected = target;
      for (std::size_t m = 0; m < count; ++m) {
        for (std::size_t r = 0; r < rows; ++r) {
          for (std::size_t c = 0; c < columns; ++c)
            std::memcpy(&expected[64 + m * target_step + (c * rows + r) * w],
                        &source[m * source_step + (r * columns + c) * w], w);
        }
      }
      function({source.data(), source_step, target.data() + 64, target_step, count, rows, columns});
      ASSERT_TRUE(target == expected) << count << " of " << rows << " x " << columns << " of " << w;
    }
    if (batch_function(8, 4, 4) != nullptr) {
      EXPECT_GT(found, 50);
    }
  });
}

}  // namespace
}  // namespace xorder::kernel
