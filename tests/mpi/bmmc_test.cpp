#include <bit>

#include "arrays.hpp"
#include "xorder/permutation/expression.hpp"

namespace xorder::test {
namespace {

// With other numbers of ranks there is nothing to test here; refuse_test.cpp has what happens.
class MpiBmmc : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::has_single_bit(static_cast<unsigned>(ranks_))) GTEST_SKIP() << ranks_ << " ranks";
  }
  const int ranks_ = ranks_in(MPI_COMM_WORLD);
  const int p_ = std::countr_zero(static_cast<unsigned>(ranks_));
};

TEST_F(MpiBmmc, RandomMapsInEveryLayout) {
  Random random;
  SEED_TRACE(random);
  for (int n = p_; n <= p_ + 6; ++n) {
    for (int f = 0; f <= n - p_; ++f) {
      const gf2::AffineMap map = random_map(random, n);
      const auto size = any_size(random);
      const xorder_mpi_options options = sliced(any_slice(random));
      SCOPED_TRACE(testing::Message() << "n " << n << ", f " << f << ", elements of " << size
                                      << " bytes, slices of " << options.slice_bytes);
      expect_bmmc(bmmc_plan(map, ranks_, f).get(), map, MPI_COMM_WORLD, f, size, random(), &options);
    }
  }
}

TEST_F(MpiBmmc, NamedMaps) {
  Random random;
  SEED_TRACE(random);
  const int n = p_ + 5;
  for (const char* name : {"identity", "reverse", "bitreverse", "gray", "gray^-1", "shuffle", "unshuffle",
                           "rotate(2)", "xor(1)", "bitreverse * xor(5)"}) {
    for (const int f : {0, 5}) {
      SCOPED_TRACE(testing::Message() << name << ", f " << f);
      xorder_mpi_plan* plan = nullptr;
      EXPECT_EQ(xorder_mpi_plan_expression(&plan, name, n, ranks_, f), XORDER_OK) << xorder_mpi_last_error();
      expect_bmmc(MpiPlan(plan).get(), parse_expression(name, n), MPI_COMM_WORLD, f, 8, random());
    }
  }
}

// Pieces long enough to be received where they belong, cut into slices or not, and shorter ones.
TEST_F(MpiBmmc, LongAndShortPieces) {
  Random random;
  SEED_TRACE(random);
  const int n = p_ + 12;
  for (const char* name : {"xor(-1)", "rotate(3)", "transpose(4,-4)", "reverse"}) {
    std::string text = name;
    if (text == "xor(-1)") text = "xor(" + std::to_string((1u << n) - 1) + ")";
    if (text == "transpose(4,-4)") text = "transpose(4," + std::to_string(n - 4) + ")";
    for (const std::uint64_t slice : {0, 1 << 15, 100'000}) {
      SCOPED_TRACE(testing::Message() << text << ", slices of " << slice);
      const gf2::AffineMap map = parse_expression(text, n);
      const xorder_mpi_options options = sliced(slice);
      expect_bmmc(bmmc_plan(map, ranks_, n - p_).get(), map, MPI_COMM_WORLD, n - p_, 64, random(), &options);
    }
  }
}

// One plan: elements of other sizes, other data, a communicator of some ranks, and one with the ranks in
// another order.
TEST_F(MpiBmmc, FactoredOncePerformedOften) {
  Random random;
  SEED_TRACE(random);
  const int fewer = std::max(1, ranks_ / 2);
  const int n = p_ + 6, f = 2;
  const gf2::AffineMap map = random_map(random, n);
  const MpiPlan all = bmmc_plan(map, ranks_, f), some = bmmc_plan(map, fewer, f);
  const int rank = rank_in(MPI_COMM_WORLD);
  MPI_Comm reversed = MPI_COMM_NULL, part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  MPI_Comm_split(MPI_COMM_WORLD, rank / fewer, rank % fewer, &part);
  for (const std::uint64_t size : {8, 1, 24}) {
    expect_bmmc(all.get(), map, MPI_COMM_WORLD, f, size, random());
    expect_bmmc(all.get(), map, reversed, f, size, random());
    expect_bmmc(some.get(), map, part, f, size, random());
  }
  MPI_Comm_free(&reversed);
  MPI_Comm_free(&part);
}

TEST_F(MpiBmmc, ThereAndBack) {
  Random random;
  SEED_TRACE(random);
  const int n = p_ + 7;
  const gf2::AffineMap map = random_map(random, n);
  const MpiPlan there = bmmc_plan(map, ranks_, 3), back = bmmc_plan(map.inverse(), ranks_, 3);
  const auto before = bytes_of(std::uint64_t{1} << (n - p_), 4,
                               from(static_cast<std::uint64_t>(rank_in(MPI_COMM_WORLD)) << 32), random());
  auto data = before, temp = before;
  EXPECT_EQ(xorder_mpi_perform(there.get(), MPI_COMM_WORLD, 4, data.data(), temp.data(), nullptr), XORDER_OK);
  EXPECT_EQ(xorder_mpi_perform(back.get(), MPI_COMM_WORLD, 4, data.data(), temp.data(), nullptr), XORDER_OK);
  EXPECT_EQ(data, before);
}

// Enough that more than one thread is worth it.
TEST_F(MpiBmmc, SeveralThreads) {
  if (ranks_ > 4) GTEST_SKIP() << "enough was seen with fewer ranks";
  Random random;
  SEED_TRACE(random);
  const int n = p_ + 19;
  const gf2::AffineMap map = random_map(random, n);
  xorder_mpi_options options = sliced(0);
  options.threads = 3;
  expect_bmmc(bmmc_plan(map, ranks_, n - p_).get(), map, MPI_COMM_WORLD, n - p_, 8, random(), &options);
}

}  // namespace
}  // namespace xorder::test
