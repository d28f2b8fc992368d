// What is refused, by all ranks at once, with the data as they were.
#include <bit>
#include <string>

#include "arrays.hpp"
#include "xorder/permutation/bmmc.hpp"

namespace xorder::test {
namespace {

using testing::Test;

std::string message() { return xorder_mpi_last_error(); }
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
#define EXPECT_MESSAGE(part) EXPECT_TRUE(has(message(), part)) << message()

class MpiRefuse : public Test {
 protected:
  const int rank_ = rank_in(MPI_COMM_WORLD), ranks_ = ranks_in(MPI_COMM_WORLD);
  const bool last_ = rank_ == ranks_ - 1;
  const std::vector<std::uint64_t> shape_{40, 30};
  const std::vector<int> axes_{1, 0};
  MpiPlan plan_ = axes_plan(shape_, axes_, ranks_);
  std::vector<std::byte> data_ = std::vector<std::byte>(40 * 30 * 8, std::byte{7}), temp_ = data_;

  int perform(const xorder_mpi_plan* plan, std::uint64_t size = 8,
              const xorder_mpi_options* options = nullptr) {
    return xorder_mpi_perform(plan, MPI_COMM_WORLD, size, data_.data(), temp_.data(), options);
  }
  void TearDown() override {  // after a refusal the communicator is as good as new, and so are the data
    EXPECT_EQ(data_, std::vector<std::byte>(data_.size(), std::byte{7}));
    EXPECT_EQ(perform(plan_.get()), XORDER_OK) << message();
  }
};

TEST_F(MpiRefuse, DifferentPermutations) {
  if (ranks_ == 1) GTEST_SKIP();
  const MpiPlan other = axes_plan({30, 40}, axes_, ranks_);
  EXPECT_EQ(perform(last_ ? other.get() : plan_.get()), XORDER_ERROR_INPUT);
  EXPECT_MESSAGE("plans differ");
}

TEST_F(MpiRefuse, DifferentMatrices) {
  if (ranks_ == 1 || !std::has_single_bit(static_cast<unsigned>(ranks_))) GTEST_SKIP();
  const gf2::AffineMap map = bmmc::bit_reverse(8);
  for (const gf2::AffineMap& other : {bmmc::reverse(8), gf2::AffineMap{map.matrix, 1}}) {
    const MpiPlan plan = bmmc_plan(last_ ? other : map, ranks_, 0);
    EXPECT_EQ(perform(plan.get()), XORDER_ERROR_INPUT);
    EXPECT_MESSAGE("plans differ");
  }
  const MpiPlan plan = bmmc_plan(map, ranks_, last_ ? 1 : 0);
  EXPECT_EQ(perform(plan.get()), XORDER_ERROR_INPUT);
  EXPECT_MESSAGE("plans differ");
}

TEST_F(MpiRefuse, DifferentSizes) {
  if (ranks_ == 1) GTEST_SKIP();
  EXPECT_EQ(perform(plan_.get(), last_ ? 4 : 8), XORDER_ERROR_INPUT);
  EXPECT_MESSAGE("from 4 bytes to 8");
  const xorder_mpi_options options = sliced(1000);
  EXPECT_EQ(perform(plan_.get(), 8, last_ ? &options : nullptr), XORDER_ERROR_INPUT);
  EXPECT_MESSAGE("slices differ");
}

// One rank's mistake is told to all.
TEST_F(MpiRefuse, AMistakeOfOneRank) {
  const auto expect = [&](int own_code, const std::string& own, int code) {
    EXPECT_EQ(code, last_ ? own_code : XORDER_ERROR_INPUT);
    EXPECT_MESSAGE(last_ ? own : "rank " + std::to_string(ranks_ - 1) + " cannot take part");
  };
  expect(XORDER_ERROR_ARGUMENT, "plan is NULL", perform(last_ ? nullptr : plan_.get()));
  expect(XORDER_ERROR_ARGUMENT, "data is NULL",
         xorder_mpi_perform(plan_.get(), MPI_COMM_WORLD, 8, last_ ? nullptr : data_.data(), temp_.data(),
                            nullptr));
  expect(XORDER_ERROR_ARGUMENT, "data and temp overlap",
         xorder_mpi_perform(plan_.get(), MPI_COMM_WORLD, 8, data_.data(),
                            last_ ? data_.data() + 1 : temp_.data(), nullptr));
  expect(XORDER_ERROR_INPUT, "at least 1 byte", perform(plan_.get(), last_ ? 0 : 8));
  expect(XORDER_ERROR_INPUT, "2^63 bytes", perform(plan_.get(), last_ ? std::uint64_t{1} << 62 : 8));
  xorder_mpi_options options = sliced(last_ ? std::uint64_t{1} << 31 : 0);
  expect(XORDER_ERROR_ARGUMENT, "slices of 2147483648 bytes", perform(plan_.get(), 8, &options));
  options = sliced(0);
  options.threads = last_ ? -1 : 1;
  expect(XORDER_ERROR_ARGUMENT, "-1 threads", perform(plan_.get(), 8, &options));
  options = sliced(0);
  options.size = last_ ? 3 : sizeof options;
  expect(XORDER_ERROR_ARGUMENT, "options.size is 3", perform(plan_.get(), 8, &options));
  const MpiPlan other = axes_plan(shape_, axes_, ranks_ + 1);
  expect(XORDER_ERROR_INPUT, "the plan is for " + std::to_string(ranks_ + 1) + " ranks",
         perform(last_ ? other.get() : plan_.get()));
  expect(XORDER_ERROR_INPUT, "no coffee",
         last_ ? xorder_mpi_refuse(MPI_COMM_WORLD, "no coffee") : perform(plan_.get()));
}

TEST_F(MpiRefuse, Communicators) {
  EXPECT_EQ(xorder_mpi_perform(plan_.get(), MPI_COMM_NULL, 8, data_.data(), temp_.data(), nullptr),
            XORDER_ERROR_INPUT);
  EXPECT_MESSAGE("MPI_COMM_NULL");
  if (ranks_ == 1) return;
  MPI_Comm half = MPI_COMM_NULL, both = MPI_COMM_NULL;
  const bool first = rank_ == 0;
  MPI_Comm_split(MPI_COMM_WORLD, first, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, first ? 1 : 0, 0, &both);
  EXPECT_EQ(xorder_mpi_perform(plan_.get(), both, 8, data_.data(), temp_.data(), nullptr),
            XORDER_ERROR_INPUT);
  EXPECT_MESSAGE("intercommunicator");
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

// Plans need no communication.
class MpiRefusePlan : public Test {
 protected:
  xorder_mpi_plan* plan_ = reinterpret_cast<xorder_mpi_plan*>(this);
  void TearDown() override { EXPECT_EQ(plan_, nullptr); }
};

TEST_F(MpiRefusePlan, NoPowerOfTwoOfRanks) {
  const auto columns = bmmc::bit_reverse(8).matrix.columns();
  EXPECT_EQ(xorder_mpi_plan_bmmc(&plan_, 8, columns.data(), 0, 6, 0), XORDER_ERROR_INPUT);
  EXPECT_MESSAGE("must be a power of two, not 6; use 4");
  EXPECT_EQ(xorder_mpi_plan_bmmc(&plan_, 8, columns.data(), 0, 0, 0), XORDER_ERROR_INPUT);
}

TEST_F(MpiRefusePlan, WhatDoesNotFit) {
  auto columns = bmmc::bit_reverse(8).matrix.columns();
  EXPECT_EQ(xorder_mpi_plan_bmmc(&plan_, 8, columns.data(), 0, 512, 0), XORDER_ERROR_INPUT);
  EXPECT_MESSAGE("2^9 processors for 2^8 elements");
  EXPECT_EQ(xorder_mpi_plan_bmmc(&plan_, 8, columns.data(), 0, 4, 7), XORDER_ERROR_INPUT);
  EXPECT_MESSAGE("layout 7");
  EXPECT_EQ(xorder_mpi_plan_bmmc(&plan_, 8, columns.data(), 256, 4, 0), XORDER_ERROR_INPUT);
  EXPECT_MESSAGE("complement");
  EXPECT_EQ(xorder_mpi_plan_bmmc(&plan_, 63, columns.data(), 0, 4, 0), XORDER_ERROR_ARGUMENT);
  EXPECT_EQ(xorder_mpi_plan_bmmc(&plan_, 8, nullptr, 0, 4, 0), XORDER_ERROR_ARGUMENT);
  EXPECT_EQ(xorder_mpi_plan_expression(&plan_, "bitreverse", 63, 4, 0), XORDER_ERROR_ARGUMENT);
  EXPECT_MESSAGE("63 bits");
  EXPECT_EQ(xorder_mpi_plan_expression(&plan_, "bitrevers", 8, 4, 0), XORDER_ERROR_INPUT);
  columns[0] = columns[1];
  EXPECT_EQ(xorder_mpi_plan_bmmc(&plan_, 8, columns.data(), 0, 4, 0), XORDER_ERROR_INPUT);
  EXPECT_MESSAGE("its rank is 7, not 8");
  EXPECT_EQ(xorder_mpi_plan_bmmc(nullptr, 8, columns.data(), 0, 4, 0), XORDER_ERROR_ARGUMENT);
}

TEST_F(MpiRefusePlan, Axes) {
  const std::uint64_t shape[] = {4, 5}, large[] = {std::uint64_t{1} << 32, std::uint64_t{1} << 31};
  const int twice[] = {0, 0};
  EXPECT_EQ(xorder_mpi_plan_axes(&plan_, 2, shape, twice, 3), XORDER_ERROR_INPUT);
  EXPECT_EQ(xorder_mpi_plan_axes(&plan_, 2, large, nullptr, 3), XORDER_ERROR_INPUT);
  EXPECT_EQ(xorder_mpi_plan_axes(&plan_, 2, shape, nullptr, 0), XORDER_ERROR_INPUT);
  EXPECT_EQ(xorder_mpi_plan_axes(&plan_, -1, shape, nullptr, 3), XORDER_ERROR_ARGUMENT);
  EXPECT_EQ(xorder_mpi_plan_axes(&plan_, 2, nullptr, nullptr, 3), XORDER_ERROR_ARGUMENT);
}

}  // namespace
}  // namespace xorder::test
