#include "plan/tiles/axis_factors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "byte_units.hpp"
#include "plan/plan.hpp"
#include "plan/reference.hpp"
#include "plan/simulate.hpp"

namespace xorder::plan {
namespace {

// By bytes, since canonical() makes elements of several.
std::uint64_t target_byte(const Reordering& what, std::uint64_t source) {
  return what.target_index(source / what.element_bytes) * what.element_bytes + source % what.element_bytes;
}

void expect_product(const std::vector<Reordering>& factors, const Reordering& what) {
  for (std::uint64_t byte = 0; byte < what.bytes(); ++byte) {
    std::uint64_t at = byte;
    for (const Reordering& factor : factors) at = target_byte(factor, at);
    ASSERT_EQ(at, target_byte(what, byte)) << byte;
  }
}

TEST(AxisFactors, ProductIsTheReordering) {
  test::Random random;
  SEED_TRACE(random);
  int found = 0;
  for (int i = 0; i < 200; ++i) {
    Reordering what = test::random_reordering(random, 4);
    what.mapped.reset();
    what.map = {};
    what = canonical(what);
    for (const auto& [first, second] :
         axis_factors(what, random.in(std::uint64_t{1}, std::uint64_t{10000}))) {
      ++found;
      EXPECT_EQ(canonical(first), first);
      EXPECT_EQ(canonical(second), second);
      ASSERT_NO_FATAL_FAILURE(expect_product({first, second}, what)) << "case " << i;
    }
  }
  EXPECT_GT(found, 100);
}

TEST(AxisFactors, NoneOfPrimesOfMapsAndOfWhatStays) {
  EXPECT_THAT(axis_factors(transposition({{65521, 65537}, 1, Order::c}, {}), MiB), testing::IsEmpty());
  EXPECT_THAT(axis_factors(test::flat(bmmc::bit_reverse(20), 8), MiB), testing::IsEmpty());
  EXPECT_THAT(axis_factors({1, {100000}, {0}, std::nullopt, {}}, MiB), testing::IsEmpty());
}

TEST(AxisFactors, AnExtentWithoutDivisorsThatCanBeTriedIsNoWorkWithoutEnd) {
  const std::uint64_t prime = 4611686018427387847;  // below 2^62
  EXPECT_THAT(axis_factors({1, {2, prime}, {1, 0}, std::nullopt, {}}, MiB), testing::IsEmpty());
}

TEST(AxisFactors, LittleMemoryTakesTwoPassesWithLargeBlocks) {
  Setting setting;
  setting.memory = 64 * MiB;
  setting.read_alignment = 512;
  setting.write_alignment = 4096;
  for (const auto& shape :
       {std::vector<std::uint64_t>{65535, 65537}, {65537, 65535}, {3, 65536, 65536}, {40000, 3, 40000}}) {
    const Plan plan = make_plan(transposition({shape, 1, Order::c}, {}), setting);
    ASSERT_EQ(plan.passes.size(), 2u) << shape[0] << " " << shape[1];
    EXPECT_LE(plan.peak_memory(), setting.memory);
    for (const Pass& pass : plan.passes) {
      EXPECT_GE(pass.source_block_bytes, 20 * KiB);
      EXPECT_GE(pass.target_block_bytes, 20 * KiB);
    }
  }
}

TEST(AxisFactors, PassesOfSmallPlansPerformTheReordering) {
  test::Random random;
  SEED_TRACE(random);
  Setting setting;
  setting.memory = least_plan_memory;
  setting.device.points = {{64, 1e3, 1e3}, {4096, 1e6, 1e6}, {1 << 20, 1e9, 1e9}};  // requests are dear
  int several = 0;
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t rows = 12 * random.in(std::uint64_t{80}, std::uint64_t{120}),
                        columns = 10 * random.in(std::uint64_t{300}, std::uint64_t{400});
    const Plan plan = make_plan(transposition({{rows, columns}, 4, Order::c}, {}), setting);
    several += plan.passes.size() > 1;
    std::vector<Reordering> factors;
    for (const Pass& pass : plan.passes) {
      ASSERT_NO_FATAL_FAILURE(test::expect_performs(pass.tiling)) << rows << " " << columns;
      factors.push_back(pass.tiling.what());
    }
    for (int j = 0; j < 1000; ++j) {
      const std::uint64_t byte = random.in(std::uint64_t{0}, plan.what.bytes() - 1);
      std::uint64_t at = byte;
      for (const Reordering& factor : factors) at = target_byte(factor, at);
      ASSERT_EQ(at, target_byte(plan.what, byte)) << rows << " " << columns;
    }
  }
  EXPECT_GT(several, 0);
}

}  // namespace
}  // namespace xorder::plan
