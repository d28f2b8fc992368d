#include "gf2/left_inverse.hpp"

#include <gtest/gtest.h>

#include "gf2/random_gf2.hpp"

namespace xorder::gf2 {
namespace {

TEST(LeftInverse, UndoesEveryInjectiveMap) {
  test::Random random;
  SEED_TRACE(random);
  for (const int n : test::matrix_sizes()) {
    const BitMatrix whole = test::random_nonsingular(random, n);
    const int columns = random.in(0, n);
    const BitMatrix a(n, {whole.columns().begin(), whole.columns().begin() + columns});
    for (const BitMatrix& injective : {whole, a}) {
      const BitMatrix back = left_inverse(injective);
      EXPECT_EQ(back * injective, BitMatrix::identity(injective.cols()));
    }
  }
}

}  // namespace
}  // namespace xorder::gf2
