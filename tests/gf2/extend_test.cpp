#include "gf2/extend.hpp"

#include <gtest/gtest.h>

#include "gf2/random_gf2.hpp"

namespace xorder::gf2 {
namespace {

using test::Random;

TEST(Extend, FurtherBitsStayWhereTheyAre) {
  Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 200; ++i) {
    const int n = random.in(0, 30), more = random.in(0, 30);
    const AffineMap map = test::random_bmmc(random, n);
    const AffineMap low = with_low_bits(map, more), high = with_high_bits(map, more);
    const Word x = random() & low_mask(n), extra = random() & low_mask(more);
    EXPECT_EQ(low(x << more | extra), map(x) << more | extra);
    EXPECT_EQ(high(extra << n | x), extra << n | map(x));
  }
}

}  // namespace
}  // namespace xorder::gf2
