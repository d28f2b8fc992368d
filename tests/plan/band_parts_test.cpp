// Strips, batches and shifts: together they are the whole target, each element once, and what each needs is
// there.
#include <gtest/gtest.h>

#include <vector>

#include "plan/band_shifts.hpp"
#include "plan/band_strips.hpp"
#include "seed.hpp"
#include "xorder/error.hpp"

namespace xorder::plan {
namespace {

using std::int64_t;
using std::uint64_t;

Band random_band(test::Random& random, uint64_t most, BandOrder order) {
  const uint64_t n = random.in(uint64_t{1}, most), width = random.in(uint64_t{1}, n);
  const uint64_t upper = random.in(uint64_t{0}, width - 1);
  return {n, width - 1 - upper, upper, random.in(0, 1) == 1, order};
}

// Every element of the target is in one batch's run, its source in the strip's columns and in one of the
// blocks that the batch may look at.
void expect_strips_are_complete(const BandStrips& plan) {
  const Band& band = plan.band();
  const uint64_t width = band.width();
  std::vector<int> written(band.places());
  const auto write = [&](uint64_t strip, uint64_t batch, uint64_t i, uint64_t k) {
    ++written[i * width + k];
    const BandStrips::Range columns = plan.columns(strip);
    const uint64_t source_k = width - 1 - k;
    EXPECT_TRUE(columns.begin <= source_k && source_k < columns.end);
    const int64_t v = static_cast<int64_t>(i + k) - static_cast<int64_t>(band.lower);
    EXPECT_LT(v, plan.end_row(strip));
    const int64_t from_first = v - plan.first_row(strip);
    ASSERT_GE(from_first, 0);
    const uint64_t block = static_cast<uint64_t>(from_first) / plan.rows();
    EXPECT_TRUE(batch <= block && block <= batch + plan.lag());
    // And v is the source row.
    const auto source = band.source(i * width + k);
    const auto n = static_cast<int64_t>(band.n);
    if (source) {
      EXPECT_EQ(static_cast<int64_t>(*source / width), (v % n + n) % n);
      EXPECT_EQ(*source % width, source_k);
    } else {
      EXPECT_TRUE(v < 0 || v >= n);
    }
  };
  for (uint64_t strip = 0; strip < plan.strips(); ++strip) {
    for (uint64_t batch = 0; batch < plan.batches(); ++batch) {
      if (plan.single()) {
        const BandStrips::Range flat = plan.flat_batch(batch);
        EXPECT_LE(flat.size() * plan.element_bytes(), plan.batch_bytes());
        for (uint64_t at = flat.begin; at < flat.end; ++at) write(strip, batch, at / width, at % width);
        continue;
      }
      const BandStrips::Range rows = plan.batch(batch);
      for (uint64_t i = rows.begin; i < rows.end; ++i) {
        const BandStrips::Range run = plan.run(strip, i);
        EXPECT_LE(run.size() * plan.element_bytes(), plan.target_pitch());
        for (uint64_t k = run.begin; k < run.end; ++k) write(strip, batch, i, k);
      }
    }
  }
  for (uint64_t at = 0; at < written.size(); ++at) ASSERT_EQ(written[at], 1) << at;
}

TEST(BandStrips, WriteEverythingOnceAndHaveWhatTheyNeed) {
  test::Random random;
  SEED_TRACE(random);
  for (int repeat = 0; repeat < 500; ++repeat) {
    const Band band = random_band(random, 60, BandOrder::columns);
    const BandConditions conditions{.memory = ~uint64_t{0} >> 1,
                                    .source_offset = random.in(uint64_t{0}, 100),
                                    .target_offset = random.in(uint64_t{0}, 100),
                                    .read_alignment = uint64_t{1} << random.in(0, 5),
                                    .write_alignment = uint64_t{1} << random.in(0, 6)};
    const BandTiling tiling{.strip = random.in(uint64_t{1}, band.width()),
                            .rows = random.in(uint64_t{1}, band.n),
                            .lanes = random.in(1u, 3u),
                            .whole_blocks = random.in(0, 1) == 1};
    expect_strips_are_complete(BandStrips(band, random.in(uint64_t{1}, 24), conditions, tiling));
    if (testing::Test::HasFailure()) return;
  }
}

// Where runs may end at blocks they do, but for the ends of rows.
TEST(BandStrips, RunsAreWholeBlocks) {
  const Band band{3000, 1200, 1000, true, BandOrder::columns};
  const BandConditions conditions{
      .memory = uint64_t{24} << 20, .target_offset = 4096, .read_alignment = 512, .write_alignment = 4096};
  const BandStrips plan(band, 8, conditions);
  EXPECT_GT(plan.strips(), 1u);
  for (uint64_t i = 0; i < band.n; ++i) {
    for (uint64_t strip = 1; strip < plan.strips(); ++strip) {
      const BandStrips::Range run = plan.run(strip, i);
      EXPECT_EQ((4096 + (i * band.width() + run.begin) * 8) % 4096, 0u);
      EXPECT_EQ(run.begin, plan.run(strip - 1, i).end);
    }
  }
}

TEST(BandStrips, KeepWithinTheMemory) {
  for (const uint64_t element_bytes : {1, 2, 8, 24, 4096, 1 << 20}) {
    for (const uint64_t width : {1, 3, 33, 1001, 20001, 1000001}) {
      for (const uint64_t memory : {14 << 20, 64 << 20, 1 << 30}) {
        const Band band{1 << 21, width / 3, width - 1 - width / 3, false, BandOrder::columns};
        const BandConditions conditions{.memory = memory, .read_alignment = 512, .write_alignment = 4096};
        const BandStrips plan(band, element_bytes, conditions);
        EXPECT_LE(plan.memory(), memory);
        if (width * width * element_bytes * 3 < memory && width * element_bytes < memory / 64) {
          EXPECT_TRUE(plan.single());
        }
      }
    }
  }
  EXPECT_THROW(BandStrips({100, 50, 40, false, BandOrder::columns}, 8 << 20, {.memory = 14 << 20}),
               InputError);
}

TEST(BandShifts, CopyEverythingOnce) {
  test::Random random;
  SEED_TRACE(random);
  for (int repeat = 0; repeat < 500; ++repeat) {
    const Band band = random_band(random, 40, BandOrder::diagonals);
    const uint64_t bytes = random.in(uint64_t{1}, 9), all = band.places() * bytes;
    const uint64_t begin = random.in(uint64_t{0}, all - 1), end = random.in(begin + 1, all);
    const uint64_t gap = random.in(0, 1) * random.in(uint64_t{0}, 100);
    constexpr uint64_t zero = ~uint64_t{0};
    std::vector<uint64_t> from(end - begin, zero);
    uint64_t last = 0;
    for (const BandRange& range : band_shifts(band, bytes, begin, end, gap, 200)) {
      EXPECT_GE(range.begin, last);
      last = range.end;
      for (const BandCopy& copy : range.copies) {
        ASSERT_TRUE(range.begin <= copy.source && copy.source + copy.bytes <= range.end);
        ASSERT_TRUE(begin <= copy.target && copy.target + copy.bytes <= end);
        for (uint64_t i = 0; i < copy.bytes; ++i) {
          EXPECT_EQ(from[copy.target - begin + i], zero);
          from[copy.target - begin + i] = copy.source + i;
        }
      }
    }
    for (uint64_t at = begin; at < end; ++at) {
      const auto source = band.source(at / bytes);
      ASSERT_EQ(from[at - begin], source ? *source * bytes + at % bytes : zero);
    }
  }
}

}  // namespace
}  // namespace xorder::plan
