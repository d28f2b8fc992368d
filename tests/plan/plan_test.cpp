#include "plan/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "byte_units.hpp"
#include "plan/reference.hpp"
#include "plan/simulate.hpp"
#include "plan/tiles/factor.hpp"
#include "rounding.hpp"
#include "sanitized.hpp"
#include "xorder/error.hpp"

namespace xorder::plan {
namespace {

Reordering matrix(std::uint64_t rows, std::uint64_t columns, std::uint64_t element_bytes) {
  return transposition({{rows, columns}, element_bytes, Order::c}, {});
}

Setting direct(std::uint64_t memory, Device device = Device::ssd()) {
  Setting c;
  c.memory = memory;
  c.device = std::move(device);
  c.read_alignment = 512;
  c.write_alignment = 4096;
  return c;
}

void expect_within_memory(const Plan& plan) {
  EXPECT_LE(plan.peak_memory(), plan.setting.memory);
  for (const Pass& pass : plan.passes) {
    const std::uint64_t tile = pass.tiling.target_shape().run_count * pass.chunk.per_run;
    EXPECT_GE(pass.chunk_count, tile);
    if (pass.tiling.tile_count() > 1) {
      EXPECT_GT(pass.chunk_count, tile);  // room for the next one to begin
    }
    EXPECT_GE(pass.write_slots, 1u);
    EXPECT_GE(pass.group_slots, 1u);
    // What the pipeline keeps of chunks and runs, of which the program itself has room for 8 MiB.
    const std::uint64_t pointers = pass.chunk_count + (pass.tile_slots + pass.group_slots) * tile;
    const std::uint64_t runs = pass.tile_slots * pass.tiling.target_shape().run_count;
    EXPECT_GE(pass.lists + 8 * MiB, pointers * sizeof(void*) + runs * sizeof(Run));
  }
}

// The slot of a run has room for all blocks that the run touches.
void expect_runs_fit_in_slots(const Pass& pass, std::uint64_t source_offset, std::uint64_t alignment) {
  std::vector<Run> runs;
  for (std::uint64_t t = 0; t < pass.tiling.tile_count(); ++t) {
    const Tile tile = pass.tiling.tile(t);
    for (std::uint64_t g = 0; g < tile.groups; ++g) {
      pass.tiling.source_runs(pass.tiling.group(tile, g), runs);
      for (const Run& run : runs) {
        if (run.length == 0) continue;
        const std::uint64_t begin = source_offset + run.offset * pass.element_bytes;
        const std::uint64_t end = begin + run.length * pass.element_bytes;
        ASSERT_LE(round_up(end, alignment) - round_down(begin, alignment), pass.group_pitch) << t << " " << g;
      }
    }
  }
}

// The planned block is the average of what is read at once.
void expect_planned_blocks(const Pass& pass) {
  std::vector<Run> runs;
  std::uint64_t elements = 0, count = 0;
  for (std::uint64_t t = 0; t < pass.tiling.tile_count(); ++t) {
    const Tile tile = pass.tiling.tile(t);
    for (std::uint64_t g = 0; g < tile.groups; ++g) {
      pass.tiling.source_runs(pass.tiling.group(tile, g), runs);
      for (const Run& run : runs) {
        elements += run.length;
        count += run.length != 0 ? 1 : 0;
      }
    }
  }
  EXPECT_NEAR(static_cast<double>(pass.source_block_bytes),
              static_cast<double>(elements * pass.element_bytes) / static_cast<double>(count), 1);
}

// Tiles that begin within a block, although their groups are whole blocks long.
TEST(Plan, GroupsOfTilesThatBeginAnywhere) {
  test::Random random;
  SEED_TRACE(random);
  const std::vector<int> same_order = {0};
  for (int i = 0; i < test::rounds(60); ++i) {
    Setting setting = direct(random.in(8, 16) * MiB, Device::ssd().through_windows());
    setting.read_alignment = 4096;
    const std::uint64_t elements = random.in(std::uint64_t{1'000'000}, std::uint64_t{4'000'000});
    const Plan plan = make_plan(transposition({{elements}, 3, Order::c}, same_order), setting);
    for (const Pass& pass : plan.passes)
      ASSERT_NO_FATAL_FAILURE(expect_runs_fit_in_slots(pass, 0, 4096)) << elements << "\n" << plan.describe();
  }
}

TEST(Plan, SmallPlansPerformTheReordering) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < test::rounds(150); ++i) {
    const Reordering what = test::random_reordering(random, 4);
    Device device = Device::ssd();
    // With requests worth no more than this, even small arrays are cut into many tiles.
    const std::uint64_t largest = std::uint64_t{1} << random.in(4, 12);
    device.points = {{largest / 4, 1e9, 1e9}, {largest, 2e9, 2e9}};
    Setting setting = direct(least_plan_memory, device);
    setting.read_alignment = std::uint64_t{1} << random.in(0, 12);
    setting.write_alignment = std::uint64_t{1} << random.in(0, 12);
    setting.group_bytes = std::uint64_t{1} << random.in(6, 20);
    setting.source_offset = random.in(0, 1) ? 0 : random.in(std::uint64_t{0}, 5000);
    const Plan plan = make_plan(what, setting);
    expect_within_memory(plan);
    for (std::size_t p = 0; p < plan.passes.size(); ++p) {
      ASSERT_NO_FATAL_FAILURE(expect_runs_fit_in_slots(plan.passes[p], p == 0 ? setting.source_offset : 0,
                                                       setting.read_alignment))
          << "case " << i;
      expect_planned_blocks(plan.passes[p]);
    }
    if (plan.passes.size() == 1) {
      ASSERT_NO_FATAL_FAILURE(test::expect_performs(plan.passes[0].tiling)) << "case " << i;
    }
  }
}

TEST(Plan, LargeTranspositionHasSquareishTiles) {
  const Plan plan = make_plan(matrix(16384, 32768, 8), direct(512 * MiB));
  ASSERT_EQ(plan.passes.size(), 1u);
  EXPECT_GE(plan.passes[0].source_block_bytes, 32 * KiB);
  EXPECT_GE(plan.passes[0].target_block_bytes, 32 * KiB);
  expect_within_memory(plan);
}

// Groups cut an axis that is short in the target, not the columns, of which each row would be read in parts.
TEST(Plan, TargetRunsOfSeveralShortAxes) {
  const Reordering what = transposition({{8, 5, 100, 16777}, 4, Order::c}, std::vector<int>{3, 1, 0, 2});
  const Plan plan = make_plan(what, direct(512 * MiB));
  ASSERT_EQ(plan.passes.size(), 1u);
  EXPECT_GE(plan.passes[0].source_block_bytes, 8 * KiB);
  expect_within_memory(plan);
}

// Groups that cut the columns begin at whole blocks of the source, as their tiles do.
TEST(Plan, EqualGroupsOfWholeBlocks) {
  Setting setting = direct(64 * MiB);
  setting.read_alignment = 4096;
  int cut = 0;
  for (const std::uint64_t columns : {30'699'520, 34'793'472, 51'169'280}) {
    const Plan plan = make_plan(matrix(16, columns, 2), setting);
    ASSERT_EQ(plan.passes.size(), 1u);
    const TileChoice& choice = plan.passes[0].tiling.choice();
    const std::uint64_t tile = choice.tile[1], group = choice.group[1];
    if (group == tile || tile * 2 % 4096 != 0) continue;
    EXPECT_EQ(group * 2 % 4096, 0u) << columns << "\n" << plan.describe();
    ++cut;
  }
  EXPECT_GT(cut, 0);
}

// Otherwise reads would fill much fresh memory before the first tile is written.
TEST(Plan, SmallTilesShareASmallPool) {
  int small = 0;
  for (int lg = 24; lg <= 30; ++lg) {
    for (const std::uint64_t width : {1, 8}) {
      const std::uint64_t elements = (std::uint64_t{1} << lg) / width, rows = 64;
      const Plan plan = make_plan(matrix(rows, elements / rows, width), direct(4 * GiB));
      for (const Pass& pass : plan.passes) {
        if (pass.tiling.tile_count() == 1) continue;
        const std::uint64_t chunk = pass.chunk_bytes(), pool = pass.chunk_count * chunk;
        const std::uint64_t tile = pass.tiling.target_shape().run_count * pass.chunk.per_run * chunk;
        EXPECT_LE(pool, std::max(std::clamp(3 * tile, 16 * MiB, 64 * MiB), tile + tile / 4 + chunk))
            << plan.describe();
        small += pool < 64 * MiB;
      }
    }
  }
  EXPECT_GT(small, 0);
}

// Nothing overflows on the way.
TEST(Plan, TheLargestArraysHaveOne) {
  constexpr std::uint64_t most = (std::uint64_t{1} << 63) - 1, large = (std::uint64_t{1} << 31) - 1;
  for (const Reordering& what :
       {transposition({{most}, 1, Order::c}, {}), transposition({{large}, large, Order::c}, {}),
        matrix(2 * large, large, 1), matrix(2, most / 2, 1), matrix(most / 3, 3, 1)}) {
    const Plan plan = make_plan(what, direct(64 * MiB));
    EXPECT_GE(plan.passes.size(), 1u);
    expect_within_memory(plan);
  }
}

TEST(Plan, SixtyFourMebibytesDoForATebibyte) {
  for (const std::uint64_t w : {1, 2, 4, 8, 16}) {
    const int n = 40 - std::countr_zero(w);
    for (const auto& map : {bmmc::bit_reverse(n), bmmc::transpose(n / 2, n - n / 2), bmmc::gray(n)}) {
      expect_within_memory(make_plan(test::flat(map, w), direct(64 * MiB)));
      expect_within_memory(make_plan(test::flat(map, w), direct(64 * MiB, Device::hdd())));
    }
    expect_within_memory(make_plan(matrix(1048573, TiB / w / 1048573, w), direct(64 * MiB)));
  }
}

TEST(Plan, LargeMemoryHasRoomForTheListsOfItsChunks) {
  const Plan small = make_plan(matrix(1 << 18, 1 << 18, 1), direct(512 * MiB));
  const Plan large = make_plan(matrix(1 << 18, 1 << 18, 1), direct(512 * GiB, Device::hdd()));
  expect_within_memory(small);
  expect_within_memory(large);
  EXPECT_EQ(small.passes[0].lists, 0u);
  EXPECT_GT(large.passes[0].lists, large.peak_memory() / 200);
}

TEST(Plan, TheInputsDiskPricesOnlyTheFirstPass) {
  const auto what = test::flat(bmmc::bit_reverse(32), 8);
  Setting setting = direct(256 * MiB, Device::hdd());
  const Plan alone = make_plan(what, setting);
  setting.source = Device::parse(R"({"points": [[1048576, 1e6, 1e6]]})", "slow");
  const Plan slow = make_plan(what, setting);
  ASSERT_GT(alone.passes.size(), 1u);
  ASSERT_GT(slow.passes.size(), 1u);
  EXPECT_GT(slow.passes[0].seconds, 10 * alone.passes[0].seconds);
  EXPECT_LT(slow.passes[1].seconds, 2 * alone.passes[1].seconds);
}

TEST(Plan, ASpinningDiskGetsLargerBlocksAndMorePasses) {
  const auto what = test::flat(bmmc::bit_reverse(32), 8);
  const Plan ssd = make_plan(what, direct(256 * MiB));
  const Plan hdd = make_plan(what, direct(256 * MiB, Device::hdd()));
  EXPECT_EQ(ssd.passes.size(), 1u);
  EXPECT_GT(hdd.passes.size(), 1u);
  EXPECT_GT(hdd.passes[0].source_block_bytes, ssd.passes[0].source_block_bytes);
  EXPECT_EQ(hdd.bytes_read(), hdd.passes.size() * what.bytes());
  expect_within_memory(hdd);
  gf2::AffineMap all = gf2::AffineMap::identity(32);
  for (const Pass& pass : hdd.passes)
    all = pass.tiling.what().map.bits() == 0 ? all : pass.tiling.what().map * all;
  EXPECT_EQ(all, what.map);
}

// The largest tile of a power of two may leave too little for its windows. Fresh memory is another matter.
TEST(Plan, WithMoreMemoryPassesAreNotSlower) {
  const Reordering what = matrix(1 << 13, 1 << 13, 8);
  for (const Device& device : {Device::ssd(), Device::hdd()}) {
    double least = std::numeric_limits<double>::infinity();
    for (std::uint64_t memory = 16; memory <= 64; ++memory) {
      Setting c = direct(memory * MiB, device);
      c.only.passes = 2;
      c.host.ready_memory = c.memory;
      const double seconds = make_plan(what, c).seconds();
      EXPECT_LE(seconds, 1.03 * least) << memory << " MiB, " << device.name;
      least = std::min(least, seconds);
    }
  }
}

TEST(Plan, ScratchFilesFitInTheirRoom) {
  const Reordering axes = matrix(30'000, 30'003, 8), map = matrix(1 << 15, 1 << 15, 8);
  for (const Reordering& what : {axes, map}) {
    Setting c = direct(32 * MiB, Device::hdd());
    const Plan free = make_plan(what, c);
    ASSERT_GT(free.scratch_bytes(), 0u);
    for (const std::uint64_t room :
         {std::uint64_t{0}, what.bytes() - 1, what.bytes(), 2 * what.bytes() - 1}) {
      c.scratch_room = room;
      const Plan plan = make_plan(what, c);
      EXPECT_LE(plan.scratch_bytes(), room);
      EXPECT_GE(plan.seconds(), free.seconds());
    }
    c.scratch_room = free.scratch_bytes();
    EXPECT_EQ(make_plan(what, c).describe(), free.describe());
  }
}

TEST(Plan, ThoseThatAreAskedFor) {
  const Reordering what = matrix(1 << 13, 1 << 14, 8);
  Setting c = direct(64 * MiB);
  c.only = {.least_read = 64 * KiB, .most_read = 128 * KiB, .most_written = 8 * KiB, .passes = 1};
  const Plan plan = make_plan(what, c);
  ASSERT_EQ(plan.passes.size(), 1u);
  EXPECT_THAT(plan.passes[0].source_block_bytes,
              testing::AllOf(testing::Ge(64 * KiB), testing::Le(128 * KiB)));
  EXPECT_LE(plan.passes[0].target_block_bytes, 8 * KiB);
  for (const std::size_t passes : {2, 3}) {
    c.only = {.passes = passes};
    EXPECT_EQ(make_plan(what, c).passes.size(), passes);
  }
  c.only = {.least_read = 64 * MiB, .least_written = 64 * MiB};
  EXPECT_THROW(make_plan(what, c), InputError);
}

// A power-of-two matrix is an axis permutation, but can be factored like every other bit permutation.
TEST(Plan, PowerOfTwoAxesAreFactoredToo) {
  const Plan plan = make_plan(matrix(1 << 17, 1 << 18, 8), direct(64 * MiB, Device::hdd()));
  EXPECT_GT(plan.passes.size(), 1u);
  expect_within_memory(plan);
}

// A few long rows make columns of a few bytes. A chunk for each would take more memory than the data.
TEST(Plan, ShortColumnsShareChunks) {
  for (const std::uint64_t rows : {2, 3, 4, 8, 16, 64, 200}) {
    for (std::uint64_t memory = 16 * MiB; memory <= GiB; memory *= 2) {
      for (const std::uint64_t bytes : {1, 4, 8}) {
        const Plan plan = make_plan(matrix(rows, GiB / rows / bytes, bytes), direct(memory));
        for (const Pass& pass : plan.passes)
          EXPECT_LE(40 * pass.chunk_count, memory / 8) << rows << " " << bytes << "\n" << plan.describe();
      }
    }
  }
}

TEST(Plan, HugeElementsAreCut) {
  const Plan plan = make_plan(matrix(3, 5, 100'000'000), direct(64 * MiB));
  ASSERT_EQ(plan.passes.size(), 1u);
  expect_within_memory(plan);
}

TEST(Plan, EmptyArraysNeedNoPass) {
  EXPECT_TRUE(make_plan(matrix(0, 5, 8), direct(64 * MiB)).passes.empty());
}

TEST(Plan, TooLittleMemoryIsRefused) {
  EXPECT_THAT([] { make_plan(matrix(10, 10, 8), direct(least_plan_memory - 1)); },
              testing::ThrowsMessage<InputError>(testing::HasSubstr("8 MiB")));
}

TEST(Plan, IsAFunctionOfItsArguments) {
  const auto a = make_plan(matrix(23171, 23167, 8), direct(512 * MiB));
  const auto b = make_plan(matrix(23171, 23167, 8), direct(512 * MiB));
  EXPECT_EQ(a.describe(), b.describe());
  EXPECT_EQ(a.passes[0].tiling.choice(), b.passes[0].tiling.choice());
}

}  // namespace
}  // namespace xorder::plan
