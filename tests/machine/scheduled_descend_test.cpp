// Descend and ascend computations by virtual processors: the bytes of the sweeps and of the definition,
// whatever the cut, and the traffic that the plan has said.
#include "xorder/machine/scheduled_descend.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "byte_units.hpp"
#include "descend/reference.hpp"
#include "io/scratch.hpp"
#include "sanitized.hpp"
#include "seed.hpp"
#include "xorder/descend/computations.hpp"
#include "xorder/error.hpp"

namespace xorder::machine {
namespace {

using namespace test::plus_minus;
using descend::Computation;
using plan::SweepSizes;

constexpr DescendSchedule schedules[] = {DescendSchedule::aspc, DescendSchedule::pipelined};

// Each iteration reads one of its partners, both or neither.
class Choosy final : public Computation {
 public:
  Choosy(Direction direction, uint64_t plus, uint64_t minus)
      : Computation(direction, sizeof(uint64_t)), plus_(plus), minus_(minus) {}
  uint64_t one(int b, uint64_t i, uint64_t x, uint64_t plus, uint64_t minus) const {
    if (!reads(b).plus) plus = 0;
    if (!reads(b).minus) minus = 0;
    return reads(b).plus || reads(b).minus ? mixed(b, i, x, plus, minus) : x;
  }
  Reads reads(int b) const override { return {(plus_ >> b & 1) != 0, (minus_ >> b & 1) != 0}; }
  void step(int b, uint64_t first, std::size_t count, const std::byte* x, const std::byte* plus,
            const std::byte* minus, std::byte* out) override {
    const auto at = [](const std::byte* a, std::size_t k) {
      uint64_t value = 0;
      std::memcpy(&value, a + 8 * k, 8);
      return value;
    };
    for (std::size_t k = 0; k < count; ++k) {
      const uint64_t y = one(b, first + k, at(x, k), at(plus, k), at(minus, k));
      std::memcpy(out + 8 * k, &y, 8);
    }
  }

 private:
  uint64_t plus_, minus_;
};

class ScheduledDescendTest : public testing::Test {
 protected:
  io::ArrayFile file(const std::string& name, const std::string& content, const std::string& type) {
    test::write_file(directory_ / name, content);
    io::RawLayout layout;
    layout.dtype = io::parse_dtype(type);
    return io::open_array(directory_ / name, layout);
  }
  io::ArrayFile file(const std::string& name, const std::vector<uint64_t>& a) {
    return file(name, {reinterpret_cast<const char*>(a.data()), a.size() * sizeof(uint64_t)}, "u8");
  }
  std::unique_ptr<Job> work(std::vector<io::ArrayFile> in, std::unique_ptr<Computation> what,
                            DescendSchedule schedule, const SweepSizes& sizes = {},
                            work::AccessChoice access = work::AccessChoice::direct,
                            uint64_t memory = 32 * MiB) {
    const auto description = in.front().description;
    return scheduled_descend(std::move(in), std::move(what), description.dtype, description.extents,
                             directory_ / "out.raw", {.memory = memory, .access = access, .overwrite = true},
                             schedule, sizes, schedule::LinkTimes{5, 2, 0.25});
  }
  std::string output() { return test::read_file(directory_ / "out.raw"); }
  std::vector<uint64_t> output_numbers() {
    const std::string content = output();
    std::vector<uint64_t> a(content.size() / sizeof(uint64_t));
    std::memcpy(a.data(), content.data(), content.size());
    return a;
  }
  // Runs it and expects what it said before.
  work::Report run(Job& work) {
    const std::string text = work.describe();
    const work::Report report = work.run();
    EXPECT_TRUE(work.traffic().has_value());
    std::smatch said;
    const bool sends =
        std::regex_search(text, said, std::regex("(\\d+) steps? .* (\\d+) messages?, (\\d+) link"));
    const schedule::Traffic& traffic = *work.traffic();
    EXPECT_EQ(sends ? said[1].str() : "0", std::to_string(traffic.steps)) << text;
    EXPECT_EQ(sends ? said[2].str() : "0", std::to_string(traffic.messages)) << text;
    EXPECT_EQ(sends ? said[3].str() : "0", std::to_string(traffic.crossings)) << text;
    EXPECT_EQ(report.passes, work.summary().passes.size());
    EXPECT_EQ(work.forecast(), traffic);
    return report;
  }

  test::ScratchDirectory directory_;
};

SweepSizes random_cut(test::Random& random, int n) {
  SweepSizes sizes{.processors = uint64_t{1} << random.in(0, std::min(n, 9)),
                   .columns = uint64_t{random.in(0u, 1u)} << random.in(0, 8),
                   .slices = uint64_t{1} << random.in(0, 4),
                   .cache_bytes = uint64_t{1} << random.in(5, 14),
                   .request_bytes = uint64_t{1} << random.in(5, 16),
                   .message_bytes = uint64_t{random.in(0u, 1u)} << random.in(0, 12)};
  if (random.in(0, 9) == 0) sizes.processors = 0;
  return sizes;
}

constexpr work::AccessChoice accesses[] = {work::AccessChoice::direct, work::AccessChoice::mapped,
                                           work::AccessChoice::automatic};

TEST_F(ScheduledDescendTest, EveryCutIsTheDefinition) {
  test::Random random;
  SEED_TRACE(random);
  for (int round = 0; round < test::rounds(60); ++round) {
    const int n = random.in(0, 13);
    const auto a = random_numbers(random, uint64_t{1} << n);
    const auto in = file("in.raw", a);
    const SweepSizes sizes = random_cut(random, n);
    const DescendSchedule schedule = schedules[random.in(0, 1)];
    const work::AccessChoice access = accesses[random.in(0, 2)];
    SCOPED_TRACE(testing::Message() << "n " << n << " P " << sizes.processors << " columns " << sizes.columns
                                    << " messages " << sizes.message_bytes << " schedule "
                                    << static_cast<int>(schedule));
    if (random.in(0, 1) == 0) {
      run(*work({in}, std::make_unique<Mixed<Direction::descend>>(), schedule, sizes, access));
      ASSERT_EQ(output_numbers(), expected_of<Direction::descend>(a));
    } else {
      run(*work({in}, std::make_unique<Mixed<Direction::ascend>>(), schedule, sizes, access));
      ASSERT_EQ(output_numbers(), expected_of<Direction::ascend>(a));
    }
  }
  EXPECT_EQ(directory_.names(), (std::vector<std::string>{"in.raw", "out.raw"}));
}

TEST_F(ScheduledDescendTest, WhatIsNotReadIsNotSent) {
  test::Random random;
  SEED_TRACE(random);
  for (int round = 0; round < test::rounds(60); ++round) {
    const int n = random.in(0, 11);
    const auto a = random_numbers(random, uint64_t{1} << n);
    const Direction direction = both[random.in(0, 1)];
    const uint64_t plus = random() & random(), minus = random() & random();
    const Choosy choosy(direction, plus, minus);
    const auto f = [&](int b, uint64_t i, uint64_t x, uint64_t y, uint64_t z) {
      return choosy.one(b, i, x, y, z);
    };
    const SweepSizes sizes = random_cut(random, n);
    SCOPED_TRACE(testing::Message() << "n " << n << " P " << sizes.processors << " plus " << plus << " minus "
                                    << minus);
    for (const DescendSchedule schedule : schedules) {
      run(*work({file("in.raw", a)}, std::make_unique<Choosy>(direction, plus, minus), schedule, sizes));
      ASSERT_EQ(output_numbers(), by_definition(a, direction, f));
    }
  }
}

TEST_F(ScheduledDescendTest, RecordsFromSeveralFiles) {
  test::Random random;
  SEED_TRACE(random);
  for (int round = 0; round < test::rounds(20); ++round) {
    const Direction direction = both[random.in(0, 1)];
    const auto a = random_numbers(random, 1 << 10), b = random_numbers(random, 1 << 10);
    std::vector<Triple> records;
    for (std::size_t i = 0; i < a.size(); ++i) records.push_back({a[i], b[i], 1});
    records = by_definition(records, direction, mixed_triple);
    run(*work({file("a.raw", a), file("b.raw", b)}, std::make_unique<Triples>(direction),
              schedules[random.in(0, 1)], random_cut(random, 10)));
    const auto result = output_numbers();
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(result[i], records[i].x);
  }
}

// Records of any size, shifted by sums of few and of many powers of two.
TEST_F(ScheduledDescendTest, Shifts) {
  test::Random random;
  SEED_TRACE(random);
  for (int round = 0; round < test::rounds(40); ++round) {
    const int n = random.in(0, 10);
    const uint64_t count = uint64_t{1} << n, bytes = random.in(1, 40);
    const uint64_t power = uint64_t{1} << random.in(0, 20);
    const uint64_t by = random.in(0, 2) == 0 ? random() : random.in(0, 1) == 0 ? power : -power;
    std::string content(count * bytes, '\0');
    random.fill(content.data(), content.size());
    const auto in = file("in.raw", content, "V" + std::to_string(bytes));
    run(*work({in}, descend::cyclic_shift(bytes, by), schedules[random.in(0, 1)], random_cut(random, n)));
    const std::string result = output();
    for (uint64_t i = 0; i < count; ++i) {
      ASSERT_EQ(result.compare((i + by) % count * bytes, bytes, content, i * bytes, bytes), 0)
          << n << " " << by;
    }
  }
}

// One of the functions PM2I, on blocks: one pass, and two steps that send each block once over two links.
TEST_F(ScheduledDescendTest, AShiftByAPowerOfTwoIsASingleFunctionOnBlocks) {
  const auto in = file("in.raw", std::vector<uint64_t>(1 << 14));
  for (int b = 10; b < 14; ++b) {
    for (const uint64_t by : {uint64_t{1} << b, -(uint64_t{1} << b)}) {
      const auto shift = work({in}, descend::cyclic_shift(8, by), DescendSchedule::aspc,
                              {.processors = 16, .columns = 1024, .message_bytes = 8192});
      const work::Report report = run(*shift);
      const uint64_t links = b == 10 ? 1 : 2;
      EXPECT_EQ(report.passes, 1u);
      EXPECT_EQ(shift->traffic()->steps, links);
      EXPECT_EQ(shift->traffic()->messages, 16 * links);
      EXPECT_EQ(shift->traffic()->bytes_moved, links << 17);
    }
  }
}

// 4(lg M + V − 1) steps of single records, where the array is small.
TEST_F(ScheduledDescendTest, TheWholeScheduleInMemory) {
  const auto in = file("in.raw", std::vector<uint64_t>(1 << 10));
  const auto whole =
      work({in}, std::make_unique<Mixed<Direction::ascend>>(), DescendSchedule::pipelined, {.processors = 8});
  const work::Report report = run(*whole);
  EXPECT_EQ(whole->traffic()->schedule, "pipelined");
  EXPECT_EQ(whole->traffic()->steps, 4u * (10 + 128 - 1));
  EXPECT_EQ(whole->traffic()->bytes_moved, 8 * whole->traffic()->messages);
  EXPECT_EQ(report.passes, 1u);
}

// Too many records for the whole schedule, and more than half of the memory. (tests/cli/test_descend.py has
// larger ones.)
TEST_F(ScheduledDescendTest, LargerThanHalfOfTheMemory) {
  test::Random random;
  SEED_TRACE(random);
  const auto a = random_numbers(random, 1 << 20);  // 8 MiB: more than half of the 15 MiB for buffers
  const auto in = file("in.raw", a);
  const auto down = expected_of<Direction::descend>(a), up = expected_of<Direction::ascend>(a);
  for (const DescendSchedule schedule : schedules) {
    const auto descending = work({in}, std::make_unique<Mixed<Direction::descend>>(), schedule, {},
                                 work::AccessChoice::direct, 16 * MiB);
    const work::Summary plan = descending->summary();
    EXPECT_LE(plan.peak_memory(), plan.memory);
    EXPECT_EQ(plan.passes.size(), 2u);
    const work::Report report = run(*descending);
    EXPECT_EQ(report.bytes_written, plan.bytes_written);
    EXPECT_GE(report.bytes_read, plan.bytes_read);
    EXPECT_LE(report.bytes_read, plan.bytes_read + plan.bytes / 4);
    EXPECT_GE(descending->traffic()->processors, 16u);
    EXPECT_TRUE(output_numbers() == down);
    run(*work({in}, std::make_unique<Mixed<Direction::ascend>>(), schedule, {}, work::AccessChoice::mapped,
              16 * MiB));
    EXPECT_TRUE(output_numbers() == up);
  }
}

TEST_F(ScheduledDescendTest, ProcessorsThatCannotBe) {
  const auto in = file("in.raw", std::vector<uint64_t>(1 << 10));
  const auto with = [&](uint64_t processors) {
    return test::message_of<InputError>([&] {
      work({in}, std::make_unique<Mixed<Direction::descend>>(), DescendSchedule::aspc,
           {.processors = processors});
    });
  };
  EXPECT_THAT(with(3), testing::HasSubstr("3 virtual processors: a power of two is needed"));
  EXPECT_THAT(with(2048), testing::HasSubstr("2048 virtual processors are too many for 1024 elements"));
  // Large records of many processors do not fit; fewer do.
  const auto wide = file("wide.raw", std::string(1 << 22, 'x'), "V1048576");
  EXPECT_THAT(test::message_of<InputError>([&] {
                work({wide}, descend::cyclic_shift(1 << 20, 1), DescendSchedule::aspc, {.processors = 4});
              }),
              testing::HasSubstr("memory"));
}

TEST_F(ScheduledDescendTest, AStoppedOrFailedRunLeavesNothing) {
  const auto in = file("in.raw", std::vector<uint64_t>(1 << 16, 1));
  struct Failing final : Elementwise<uint64_t, decltype(&mixed)> {
    Failing() : Elementwise(Direction::ascend, &mixed) {}
    void step(int b, uint64_t first, std::size_t, const std::byte*, const std::byte*, const std::byte*,
              std::byte*) override {
      if (b == 13 && first >= 1 << 15) throw InputError("refused");
    }
  };
  for (const DescendSchedule schedule : schedules) {
    std::stop_source stop;
    stop.request_stop();
    const SweepSizes sizes{.processors = 16, .columns = 256};
    EXPECT_THROW(
        work({in}, std::make_unique<Mixed<Direction::descend>>(), schedule, sizes)->run({}, stop.get_token()),
        Cancelled);
    EXPECT_THROW(work({in}, std::make_unique<Failing>(), schedule, sizes)->run(), InputError);
  }
  EXPECT_EQ(directory_.names(), std::vector<std::string>{"in.raw"});
}

}  // namespace
}  // namespace xorder::machine
