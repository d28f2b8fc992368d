#include "band/transposition.hpp"

#include "plan/bands/band_tiling.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "byte_units.hpp"
#include "io/scratch.hpp"
#include "sanitized.hpp"
#include "seed.hpp"
#include "xorder/error.hpp"

namespace xorder::band {
namespace {

using std::uint64_t;
constexpr work::AccessChoice all_accesses[] = {work::AccessChoice::automatic, work::AccessChoice::direct,
                                               work::AccessChoice::mapped};

constexpr BandOrder all_orders[] = {BandOrder::columns, BandOrder::rows, BandOrder::diagonals,
                                    BandOrder::row_diagonals};

class BandTest : public testing::Test {
 protected:
  void make_noise(const Band& band, uint64_t element_bytes) {
    data_.resize(band.places() * element_bytes);
    random_.fill(data_.data(), data_.size());
  }
  /// A file of noise that holds a band, behind `offset` bytes of something else.
  io::ArrayFile input(const Band& band, uint64_t element_bytes, uint64_t offset = 0,
                      const std::string& name = "in.raw") {
    make_noise(band, element_bytes);
    test::write_file(directory_ / name, std::string(offset, 'x') + data_);
    io::RawLayout layout;
    layout.dtype = io::parse_dtype("V" + std::to_string(element_bytes));
    layout.extents = band.extents();
    layout.offset = offset;
    return io::open_array(directory_ / name, layout);
  }
  /// What must come of it.
  std::string transposed(const Band& band, uint64_t element_bytes) const {
    std::string result(data_.size(), '\0');
    for (uint64_t place = 0; place < band.places(); ++place) {
      if (const auto target = band.target(place))
        std::memcpy(result.data() + *target * element_bytes, data_.data() + place * element_bytes,
                    element_bytes);
    }
    return result;
  }
  std::string output() const { return test::read_file(directory_ / "out.raw"); }
  std::unique_ptr<work::Work> work(const io::ArrayFile& in, const Band& band, work::AccessChoice access,
                                   plan::BandTiling tiling = {}, uint64_t memory = 16 * MiB) {
    return transposition({in}, {band}, directory_ / "out.raw",
                         {.memory = memory, .access = access, .overwrite = true}, tiling);
  }
  void check(const Band& band, uint64_t element_bytes, work::AccessChoice access,
             plan::BandTiling tiling = {}, uint64_t offset = 0) {
    SCOPED_TRACE(testing::Message() << band.n << ": " << band.lower << ',' << band.upper
                                    << (band.cyclic ? " cyclic" : "") << ", order "
                                    << static_cast<int>(band.order) << ", " << element_bytes
                                    << " bytes, strips of " << tiling.strip << ", " << tiling.rows
                                    << " rows, " << tiling.lanes << " lanes, " << tiling.cuts << " cuts");
    const auto in = input(band, element_bytes, offset);
    const auto transposition = work(in, band, access, tiling, 128 * MiB);
    const work::Report report = transposition->run();
    EXPECT_EQ(report.passes, 1u);
    EXPECT_EQ(report.bytes_written, data_.size());
    EXPECT_EQ(transposition->summary().bytes, data_.size());
    EXPECT_GE(report.bytes_read + 2 * report.reads, transposition->summary().bytes_read / 2);
    ASSERT_TRUE(output() == transposed(band, element_bytes));
  }
  Band random_band(uint64_t most) {
    const uint64_t n = random_.in(1, most), width = random_.in(1, n), upper = random_.in(0, width - 1);
    return {n, width - 1 - upper, upper, random_.in(0, 1) == 1, all_orders[random_.in(0U, 3U)]};
  }

  test::Random random_;
  test::ScratchDirectory directory_;
  std::string data_;
};

TEST_F(BandTest, DegenerateBands) {
  SEED_TRACE(random_);
  for (const auto order : all_orders) {
    for (const bool cyclic : {false, true}) {
      for (const auto& [n, lower, upper] : std::vector<std::array<uint64_t, 3>>{{1, 0, 0},
                                                                                {2, 1, 0},
                                                                                {2, 0, 1},
                                                                                {9, 0, 0},
                                                                                {9, 8, 0},
                                                                                {9, 0, 8},
                                                                                {9, 4, 4},
                                                                                {5000, 0, 0},
                                                                                {3000, 1, 1}}) {
        for (const auto access : all_accesses) check({n, lower, upper, cyclic, order}, 3, access);
      }
    }
  }
}

TEST_F(BandTest, AnyBandInOnePiece) {
  SEED_TRACE(random_);
  for (int repeat = 0; repeat < 60; ++repeat)
    check(random_band(300), random_.in(1, 24), all_accesses[repeat % 3], {},
          random_.in(0, 1) * random_.in(0, 5000));
}

// Strips and blocks of a few elements, parts of a block.
TEST_F(BandTest, AnyBandInTinyParts) {
  SEED_TRACE(random_);
  for (int repeat = 0; repeat < 60; ++repeat) {
    const Band band = random_band(200);
    const plan::BandTiling tiling{.strip = random_.in(0, 1) * random_.in(1, band.width()),
                                  .rows = random_.in(uint64_t{1}, 30),
                                  .lanes = random_.in(1u, 5u),
                                  .part = 4096,
                                  .whole_blocks = random_.in(0, 1) == 1,
                                  .cuts = random_.in(0, 1) * random_.in(uint64_t{1}, 9)};
    check(band, random_.in(1, 24), all_accesses[repeat % 3], tiling, random_.in(0, 1) * random_.in(0, 5000));
  }
}

// Runs of more than a block, so that they do end at blocks, and single strips in several batches.
TEST_F(BandTest, BandsInPartsOfSeveralBlocks) {
  SEED_TRACE(random_);
  for (const uint64_t element_bytes : {1, 3, 8, 16, 24}) {
    for (const bool cyclic : {false, true}) {
      if (test::sanitized && random_.in(0, 3) != 0) continue;
      const uint64_t width = 20000 / element_bytes + random_.in(0, 100), n = width + random_.in(0, 100);
      const uint64_t upper = random_.in(0, width - 1);
      if (element_bytes >= 8) {
        check({n, width - 1 - upper, upper, cyclic, BandOrder::columns}, element_bytes,
              work::AccessChoice::direct,
              {.strip = 6000 / element_bytes,
               .rows = random_.in(uint64_t{20}, 500),
               .whole_blocks = cyclic,
               .cuts = random_.in(uint64_t{0}, 8)});
      }
      check({100000, 2, 1, cyclic, BandOrder::columns}, element_bytes, work::AccessChoice::direct,
            {.rows = random_.in(uint64_t{1000}, 30000)});
    }
  }
}

// Several, one after the other: their ends lie within blocks of the file. The output is the same if each has a
// file of its own, which begins anywhere.
TEST_F(BandTest, SeveralBands) {
  SEED_TRACE(random_);
  for (int repeat = 0; repeat < 60; ++repeat) {
    std::vector<Band> bands{random_band(120)};
    for (uint64_t more = random_.in(0U, 4U); more > 0; --more) {
      Band next = random_.in(0, 1) == 1 ? random_band(bands[0].n) : bands[0];
      if (next.width() > bands[0].n) next = bands[0];
      next.n = bands[0].n;
      next.order = bands[0].order;
      bands.push_back(next);
    }
    const uint64_t bytes = random_.in(1, 24);
    std::string all, expected;
    std::vector<io::ArrayFile> files;
    for (const Band& band : bands) {
      files.push_back(
          input(band, bytes, random_.in(0, 1) * random_.in(0, 5000), fmt::format("{}.raw", files.size())));
      io::ArrayDescription& in = files.back().description;
      if (random_.in(0, 1) == 1)
        in = io::ArrayDescription::contiguous(in.dtype, {band.places()}, Order::c, in.offset);
      all += data_;
      expected += transposed(band, bytes);
    }
    test::write_file(directory_ / "in.raw", all);
    io::RawLayout layout;
    layout.dtype = io::parse_dtype("V" + std::to_string(bytes));
    layout.extents = extents(bands);
    for (const auto& inputs : {std::vector{io::open_array(directory_ / "in.raw", layout)}, files}) {
      const work::Report report =
          transposition(inputs, bands, directory_ / "out.raw",
                        {.memory = 32 * MiB, .access = all_accesses[repeat % 3], .overwrite = true},
                        {.part = uint64_t{4096} * random_.in(0U, 1U)})
              ->run();
      ASSERT_TRUE(output() == expected)
          << bands.size() << " bands in " << inputs.size() << " files, N " << bands[0].n << ", order "
          << static_cast<int>(bands[0].order) << ", " << bytes << " bytes";
      EXPECT_EQ(report.passes, 1u);
      EXPECT_EQ(report.bytes_written, all.size());
    }
  }
}

// So many small ones that they take several steps.
TEST_F(BandTest, ManySmallBands) {
  SEED_TRACE(random_);
  for (const BandOrder order : {BandOrder::columns, BandOrder::row_diagonals}) {
    for (const auto access : all_accesses) {
      const uint64_t n = random_.in(30, 60), width = random_.in(2, 9), upper = random_.in(0, width - 1);
      const Band band{n, width - 1 - upper, upper, random_.in(0, 1) == 1, order};
      const uint64_t bytes = random_.in(16, 48), count = 3 * MiB / (band.places() * bytes);
      std::string all, expected;
      for (uint64_t m = 0; m < count; ++m) {
        make_noise(band, bytes);
        all += data_;
        expected += transposed(band, bytes);
      }
      test::write_file(directory_ / "in.raw", all);
      const std::vector<Band> bands(count, band);
      io::RawLayout layout;
      layout.dtype = io::parse_dtype("V" + std::to_string(bytes));
      layout.extents = extents(bands);
      const auto many =
          transposition({io::open_array(directory_ / "in.raw", layout)}, bands, directory_ / "out.raw",
                        {.memory = random_.in(1, 2) * 16 * MiB, .access = access, .overwrite = true});
      EXPECT_THAT(many->describe(), testing::HasSubstr("matrices at a time"));
      EXPECT_GT(many->summary().passes.front().tiles, 2u);
      many->run();
      ASSERT_TRUE(output() == expected) << count << " of N " << band.n << ", " << bytes << " bytes";
    }
  }
}

TEST_F(BandTest, MemoryHolds) {
  SEED_TRACE(random_);
  const Band band{2500, 1000, 1499, true, BandOrder::columns};
  const auto in = input(band, 8);
  const auto transposition = work(in, band, work::AccessChoice::direct);
  const work::Summary summary = transposition->summary();
  EXPECT_LE(summary.peak_memory(), 16 * MiB);
  EXPECT_GT(summary.passes.front().tiles, 2u);  // several strips
  EXPECT_THAT(transposition->describe(), testing::HasSubstr("strips"));
  uint64_t last = 0;
  transposition->run([&](const work::Progress& now) {
    EXPECT_GE(now.bytes_done, last);
    EXPECT_LE(now.bytes_done, now.bytes_total);
    last = now.bytes_done;
  });
  EXPECT_EQ(last, summary.bytes_read + summary.bytes_written);  // rows at the ends of strips are read twice
  EXPECT_TRUE(output() == transposed(band, 8));
}

TEST_F(BandTest, StoppingLeavesNothingBehind) {
  for (const auto order : {BandOrder::columns, BandOrder::diagonals}) {
    const Band band{100000, 16, 16, false, order};
    const auto in = input(band, 8);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_THROW(work(in, band, work::AccessChoice::direct)->run({}, stop.get_token()), Cancelled);
    EXPECT_THAT(directory_.names(), testing::ElementsAre("in.raw"));
    // A callback that fails is not worse.
    EXPECT_THROW(
        work(in, band, work::AccessChoice::direct)->run([](const work::Progress&) { throw Cancelled(); }),
        Cancelled);
    EXPECT_THAT(directory_.names(), testing::ElementsAre("in.raw"));
  }
}

TEST_F(BandTest, WhatDoesNotFitIsRefused) {
  const Band band{10, 2, 2};
  const auto in = input(band, 8);
  const auto refusal = [&](const Band& other, work::Options options = {}) {
    return test::message_of<InputError>(
        [&] { transposition({in}, {other}, directory_ / "out.raw", options); });
  };
  EXPECT_THAT(refusal({10, 2, 3}), testing::HasSubstr("(10, 5)"));
  EXPECT_THAT(refusal({10, 2, 2, false, BandOrder::diagonals}), testing::HasSubstr("(5, 10)"));
  EXPECT_THAT(refusal({4, 2, 2}), testing::HasSubstr("wider than its matrix"));
  EXPECT_THAT(refusal(band, {.memory = 1}), testing::HasSubstr("16 MiB"));
  EXPECT_THAT(directory_.names(), testing::ElementsAre("in.raw"));
}

TEST_F(BandTest, FilesThatDoNotGoTogetherAreRefused) {
  const Band band{10, 2, 2}, narrow{10, 1, 1};
  const auto in = input(band, 8), other = input(narrow, 8, 0, "other.raw"),
             words = input(narrow, 4, 0, "words.raw");
  const auto refusal = [&](std::vector<io::ArrayFile> files, std::vector<Band> bands) {
    return test::message_of<InputError>(
        [&] { transposition(std::move(files), std::move(bands), directory_ / "out.raw"); });
  };
  EXPECT_THAT(refusal({}, {band}), testing::HasSubstr("0 files for 1 banded"));
  EXPECT_THAT(refusal({in, other}, {band}), testing::HasSubstr("2 files for 1 banded"));
  EXPECT_THAT(refusal({in, other}, {band, narrow, narrow}), testing::HasSubstr("2 files for 3 banded"));
  EXPECT_THAT(refusal({other, in}, {band, narrow}), testing::HasSubstr("other.raw"));
  EXPECT_THAT(refusal({in, words}, {band, narrow}), testing::HasSubstr("'|V4', that of"));
  EXPECT_THAT(refusal({in, other}, {band, {9, 1, 1}}), testing::HasSubstr("same size"));
}

}  // namespace
}  // namespace xorder::band
