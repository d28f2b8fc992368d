// Strips, batches and shifts: together they are the whole target, each element once, and what each needs is
// there.
#include <gtest/gtest.h>

#include <vector>

#include "plan/bands/band_shifts.hpp"
#include "plan/bands/band_strips.hpp"
#include "rounding.hpp"
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

// Every element of the target is in one batch's run, its source in the columns of one of the strip's cuts and
// in one of the blocks that the batch may look at.
void expect_strips_are_complete(const BandStrips& plan) {
  const Band& band = plan.band();
  const uint64_t width = band.width();
  std::vector<int> written(band.places());
  const auto write = [&](uint64_t strip, uint64_t batch, uint64_t i, uint64_t k) {
    ++written[i * width + k];
    const uint64_t source_k = width - 1 - k;
    int found = 0;
    BandStrips::Range columns;
    for (uint64_t cut = 0; cut < plan.cuts(); ++cut) {
      const BandStrips::Range some = plan.columns(strip, cut);
      if (source_k < some.begin || some.end <= source_k) continue;
      columns = some;
      ++found;
    }
    ASSERT_EQ(found, 1);
    const int64_t v = static_cast<int64_t>(i + k) - static_cast<int64_t>(band.lower);
    EXPECT_LT(v, plan.end_row(columns));
    const int64_t from_first = v - plan.first_row(columns);
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
      const std::vector<BandStrips::Range> ranges = plan.writes(strip, batch);
      const uint64_t most = ranges.size() == 1 ? plan.batch_bytes() : plan.target_pitch();
      EXPECT_TRUE(ranges.size() == 1 || ranges.size() * plan.target_pitch() <= plan.batch_bytes());
      for (const BandStrips::Range& range : ranges) {
        EXPECT_LE(range.size() * plan.element_bytes(), most);
        for (uint64_t at = range.begin; at < range.end; ++at) write(strip, batch, at / width, at % width);
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
    const Setting setting{.memory = ~uint64_t{0} >> 1,
                          .source_offset = random.in(uint64_t{0}, 100),
                          .target_offset = random.in(uint64_t{0}, 100),
                          .read_alignment = uint64_t{1} << random.in(0, 5),
                          .write_alignment = uint64_t{1} << random.in(0, 6)};
    const BandTiling tiling{.strip = random.in(uint64_t{1}, band.width()),
                            .rows = random.in(uint64_t{1}, band.n),
                            .lanes = random.in(1u, 3u),
                            .whole_blocks = random.in(0, 1) == 1,
                            .cuts = random.in(uint64_t{0}, 5)};
    expect_strips_are_complete(BandStrips(band, random.in(uint64_t{1}, 24), setting, tiling));
    if (testing::Test::HasFailure()) return;
  }
}

// A block's rows are each cut's columns of h rows, those outside the matrix without any, and what is read
// around them fits in the block's memory.
TEST(BandStrips, ReadTheRowsOfTheirBlocks) {
  test::Random random;
  SEED_TRACE(random);
  for (int repeat = 0; repeat < 300; ++repeat) {
    const Band band = random_band(random, 60, BandOrder::columns);
    const BandTiling tiling{.strip = random.in(uint64_t{1}, band.width()),
                            .rows = random.in(uint64_t{1}, band.n),
                            .cuts = random.in(uint64_t{0}, 5)};
    const uint64_t alignment = uint64_t{1} << random.in(0, 5);
    const BandStrips plan(band, 4, {.memory = ~uint64_t{0} >> 1, .read_alignment = alignment}, tiling);
    const auto n = static_cast<int64_t>(band.n);
    uint64_t read = 0;
    for (uint64_t strip = 0; strip < plan.strips(); ++strip) {
      std::vector<int64_t> next;  // of each cut
      for (uint64_t cut = 0; cut < plan.cuts(); ++cut) {
        const BandStrips::Range columns = plan.columns(strip, cut);
        next.push_back(columns.empty() ? 0 : plan.first_row(columns));
      }
      for (uint64_t block = 0; block < plan.batches() + plan.lag(); ++block) {
        for (uint64_t cut = 0; cut < plan.cuts(); ++cut) {
          const BandStrips::Range columns = plan.columns(strip, cut);
          if (columns.empty()) continue;
          EXPECT_TRUE(next[cut] == plan.end_row(columns) ||
                      next[cut] == plan.first_row(columns) + static_cast<int64_t>(block * plan.rows()));
        }
        uint64_t memory = 0;
        for (const BandStrips::Rows& rows : plan.reads(strip, block)) {
          const BandStrips::Range columns = plan.columns(strip, rows.cut);
          EXPECT_EQ(rows.first, next[rows.cut]);
          next[rows.cut] += static_cast<int64_t>(rows.count);
          read += rows.elements.size() * 4;
          if (rows.elements.empty()) {
            EXPECT_TRUE(!band.cyclic && (next[rows.cut] <= 0 || rows.first >= n));
            continue;
          }
          const auto first = static_cast<uint64_t>((rows.first % n + n) % n);
          EXPECT_EQ(rows.elements.begin, first * band.width() + columns.begin);
          EXPECT_EQ(rows.elements.end, (first + rows.count - 1) * band.width() + columns.end);
          EXPECT_LE(first + rows.count, band.n);
          const uint64_t begin = round_down(rows.elements.begin * 4, alignment);
          EXPECT_LE(round_up(rows.elements.end * 4, alignment) - begin,
                    plan.read_room(rows.elements.size() * 4));
          memory += plan.read_room(rows.elements.size() * 4);
        }
        EXPECT_LE(memory, plan.block_bytes());
      }
      for (uint64_t cut = 0; cut < plan.cuts(); ++cut) {
        const BandStrips::Range columns = plan.columns(strip, cut);
        EXPECT_TRUE(columns.empty() || next[cut] == plan.end_row(columns));
      }
    }
    ASSERT_EQ(read, plan.pass().bytes_read);
  }
}

// Where runs may end at blocks they do, but for the ends of rows.
TEST(BandStrips, RunsAreWholeBlocks) {
  const Band band{3000, 1200, 1000, true, BandOrder::columns};
  const Setting setting{
      .memory = uint64_t{24} << 20, .target_offset = 4096, .read_alignment = 512, .write_alignment = 4096};
  const BandStrips plan(band, 8, setting);
  EXPECT_GT(plan.strips(), 1u);
  for (uint64_t strip = 1; strip < plan.strips(); ++strip) {
    for (uint64_t batch = 0; batch < plan.batches(); ++batch) {
      for (const BandStrips::Range& run : plan.writes(strip, batch))
        EXPECT_EQ((4096 + run.begin * 8) % 4096, 0u);
    }
  }
}

// Also of a band that is so wide that strips of a block's width would not fit: its columns are cut.
TEST(BandStrips, RunsAreWholeBlocksInLittleMemory) {
  for (const uint64_t element_bytes : {1, 2}) {
    const uint64_t width = (16 << 10) / element_bytes;
    const Band band{32768, width / 2 - 1, width / 2, false, BandOrder::columns};
    const Setting setting{
        .memory = (uint64_t{16} << 20) / element_bytes, .read_alignment = 512, .write_alignment = 4096};
    const BandStrips plan(band, element_bytes, setting);
    EXPECT_GT(plan.cuts(), 1u);
    EXPECT_LE(plan.memory(), setting.memory);
    for (uint64_t strip = 0; strip < plan.strips(); ++strip) {
      for (const BandStrips::Range& run : plan.writes(strip, 1))
        EXPECT_TRUE(run.begin * element_bytes % 4096 == 0 && run.end * element_bytes % 4096 == 0);
    }
  }
}

TEST(BandStrips, KeepWithinTheMemory) {
  for (const uint64_t element_bytes : {1, 2, 8, 24, 4096, 1 << 20}) {
    for (const uint64_t width : {1, 3, 33, 1001, 20001, 1000001}) {
      for (const uint64_t memory : {14 << 20, 64 << 20, 1 << 30}) {
        const Band band{1 << 21, width / 3, width - 1 - width / 3, false, BandOrder::columns};
        const Setting setting{.memory = memory, .read_alignment = 512, .write_alignment = 4096};
        const BandStrips plan(band, element_bytes, setting);
        EXPECT_LE(plan.memory(), memory);
        if (width * width * element_bytes * 3 < memory && width * element_bytes < memory / 64) {
          EXPECT_EQ(plan.strips(), 1u);
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

TEST(BandShifts, PartsAreEverythingWithinTheMemory) {
  test::Random random;
  SEED_TRACE(random);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const Band band = random_band(random, uint64_t{1} << random.in(0, 22), BandOrder::diagonals);
    const uint64_t bytes = random.in(uint64_t{1}, 24);
    const Setting setting{.memory = uint64_t{10} << random.in(20, 26),
                          .target_offset = random.in(uint64_t{0}, 5000),
                          .read_alignment = uint64_t{1} << random.in(0, 12),
                          .write_alignment = uint64_t{1} << random.in(0, 12)};
    const BandShifts plan(band, bytes, setting);
    EXPECT_LE(plan.pass().memory, setting.memory);
    uint64_t next = 0;
    for (uint64_t part = 0; part < std::min<uint64_t>(plan.parts(), 100); ++part) {
      EXPECT_EQ(plan.begin(part), next);
      next = plan.end(part);
      EXPECT_LE(next - plan.begin(part) + (part == 0 ? plan.skew() : 0), plan.target_bytes());
      if (part > 0) {
        EXPECT_EQ((setting.target_offset + plan.begin(part)) % setting.write_alignment, 0u);
      }
    }
    if (plan.parts() <= 100) {
      EXPECT_EQ(next, band.places() * bytes);
    }
  }
}

}  // namespace
}  // namespace xorder::plan
