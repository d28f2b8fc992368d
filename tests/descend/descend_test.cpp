#include "xorder/descend/descend.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "descend/patch.hpp"
#include "descend/reference.hpp"
#include "io/scratch.hpp"
#include "sanitized.hpp"
#include "schedule/descend/descend.hpp"
#include "seed.hpp"
#include "xorder/descend/computations.hpp"
#include "xorder/descend/job.hpp"
#include "xorder/error.hpp"

namespace xorder::descend {
namespace {

using std::uint64_t;
using namespace test::plus_minus;
using test::ScratchDirectory;

TEST(DescendInMemory, InMemoryIsTheDefinition) {
  test::Random random;
  SEED_TRACE(random);
  for (int n = 0; n <= 14; ++n) {
    for (const Direction direction : both) {
      for (const uint64_t cache : {0, 64, 1000, 30000}) {
        auto a = random_numbers(random, uint64_t{1} << n);
        const auto expected = by_definition(a, direction, mixed);
        const auto what = elementwise<uint64_t>(direction, mixed);
        compute(*what, bytes(a), a.size(), 3, {.cache_bytes = cache});
        ASSERT_EQ(a, expected) << n << " " << cache;
      }
    }
  }
}

TEST(DescendInMemory, RecordsOfAnyType) {
  struct Odd {
    std::uint8_t x[5];
    bool operator==(const Odd&) const = default;
  };
  const auto f = [](int b, uint64_t i, const Odd& x, const Odd& plus, const Odd& minus) {
    Odd out = x;
    for (int k = 0; k < 5; ++k)
      out.x[k] = static_cast<std::uint8_t>(3 * x.x[k] + 5 * plus.x[4 - k] + 7 * minus.x[k] + i +
                                           static_cast<uint64_t>(b));
    return out;
  };
  test::Random random;
  SEED_TRACE(random);
  std::vector<Odd> a(1 << 11);
  for (Odd& odd : a)
    std::generate(std::begin(odd.x), std::end(odd.x), [&] { return static_cast<std::uint8_t>(random()); });
  auto expected = by_definition(a, Direction::descend, f);
  auto down = a, up = a;
  descend(std::span(down), f);
  EXPECT_EQ(down, expected);
  ascend(std::span(up), f);
  EXPECT_EQ(up, by_definition(a, Direction::ascend, f));
}

TEST(DescendInMemory, SizesThatAreNoPowersOfTwo) {
  std::vector<uint64_t> a(12);
  EXPECT_THROW(descend(std::span(a), mixed), InputError);
}

// Prefixes of an operation that is associative only: composing affine maps mod 2^32.
TEST(DescendInMemory, PrefixesThatDoNotCommuteAscend) {
  struct Map {
    std::uint32_t factor, add;
    bool operator==(const Map&) const = default;
  };
  const auto then = [](Map first, Map second) {
    return Map{first.factor * second.factor, first.add * second.factor + second.add};
  };
  test::Random random;
  SEED_TRACE(random);
  std::vector<Map> a(1 << 13);
  for (Map& map : a) map = {static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random())};
  std::vector<Map> expected = a;
  std::partial_sum(a.begin(), a.end(), expected.begin(), then);
  ascend(std::span(a), [&](int b, uint64_t i, const Map& x, const Map&, const Map& minus) {
    return i >> b == 0 ? x : then(minus, x);
  });
  EXPECT_EQ(a, expected);
}

// Threads take longer to start than small arrays to compute.
TEST(DescendInMemory, SmallArraysAreComputedByTheCallingThread) {
  static std::atomic<bool> elsewhere;
  static std::thread::id here;
  here = std::this_thread::get_id();
  const auto noted = [](auto... arguments) {
    if (std::this_thread::get_id() != here) elsewhere = true;
    return mixed(arguments...);
  };
  test::Random random;
  SEED_TRACE(random);
  for (const unsigned threads : {0, 1}) {
    elsewhere = false;
    auto a = random_numbers(random, uint64_t{1} << 14);
    const auto expected = by_definition(a, Direction::descend, mixed);
    descend(std::span(a), noted, threads);
    EXPECT_EQ(a, expected);
    EXPECT_FALSE(elsewhere);
  }
}

// By the 0-1 principle this is all inputs.
TEST(DescendInMemory, MergeOfAllZerosAndOnes) {
  for (int n = 0; n <= (test::sanitized ? 5 : 11); ++n) {
    const uint64_t count = uint64_t{1} << n, half = std::max<uint64_t>(count / 2, 1);
    const uint64_t step = n <= 6 ? 1 : half / 17 * 2 + 1;
    for (uint64_t low = 0; low <= half; low += step) {
      for (uint64_t high = 0; high <= count - half; high += step) {
        std::vector<std::uint8_t> a(count, 0);
        std::fill_n(a.begin() + static_cast<long>(half - low), low, 1);
        std::fill_n(a.end() - static_cast<long>(high), high, 1);
        const auto what = odd_even_merge(io::parse_dtype("u1"), "test", count);
        compute(*what, bytes(a), count, 1, {.cache_bytes = 256});
        ASSERT_TRUE(std::is_sorted(a.begin(), a.end())) << n << " " << low << " " << high;
        ASSERT_EQ(static_cast<uint64_t>(std::count(a.begin(), a.end(), 1)), low + high);
      }
    }
  }
}

TEST(DescendInMemory, Merge) {
  test::Random random;
  SEED_TRACE(random);
  std::vector<double> a(1 << 14);
  for (double& x : a) x = static_cast<double>(random.in(-3000, 3000));
  const auto middle = a.begin() + (1 << 13);
  std::sort(a.begin(), middle);
  std::sort(middle, a.end());
  auto expected = a;
  std::sort(expected.begin(), expected.end());
  compute(*odd_even_merge(io::parse_dtype("f8"), "test", a.size()), bytes(a), a.size());
  EXPECT_EQ(a, expected);
}

TEST(DescendInMemory, Shift) {
  std::vector<std::uint16_t> a(1 << 10);
  std::iota(a.begin(), a.end(), 0);
  for (const std::int64_t by : {0, 1, -1, 5, 511, 512, 1023, 1024, 123456789, -987654321}) {
    auto shifted = a;
    compute(*cyclic_shift(2, static_cast<uint64_t>(by)), bytes(shifted), a.size());
    for (uint64_t i = 0; i < a.size(); ++i) ASSERT_EQ(shifted[(i + static_cast<uint64_t>(by)) & 1023], a[i]);
  }
}

// -- From file to file --------------------------------------------------------------------------------------

class DescendFiles : public testing::Test {
 protected:
  io::ArrayFile file(const std::string& name, const std::vector<uint64_t>& a, const std::string& lead = "") {
    test::write_file(directory_ / name, lead + std::string(reinterpret_cast<const char*>(a.data()),
                                                           a.size() * sizeof(uint64_t)));
    io::RawLayout layout;
    layout.dtype = io::parse_dtype("u8");
    layout.offset = lead.size();
    return io::open_array(directory_ / name, layout);
  }
  std::vector<uint64_t> output(uint64_t offset = 0) {
    const std::string content = test::read_file(directory_ / "out.raw").substr(offset);
    std::vector<uint64_t> a(content.size() / sizeof(uint64_t));
    std::memcpy(a.data(), content.data(), content.size());
    return a;
  }
  DescendJob job(std::vector<io::ArrayFile> in, std::unique_ptr<Computation> what, work::AccessChoice access,
                 plan::SweepSizes sizes = {}, uint64_t output_offset = 0) {
    const auto description = in.front().description;
    work::Options options{.memory = uint64_t{16} << 20, .access = access, .overwrite = true};
    options.output_offset = output_offset;
    return {std::move(in),
            std::move(what),
            description.dtype,
            description.extents,
            directory_ / "out.raw",
            options,
            sizes};
  }

  ScratchDirectory directory_;
};

constexpr work::AccessChoice accesses[] = {work::AccessChoice::direct, work::AccessChoice::mapped,
                                           work::AccessChoice::automatic};

TEST_F(DescendFiles, EveryCutIsTheDefinition) {
  test::Random random;
  SEED_TRACE(random);
  for (int round = 0; round < test::rounds(40); ++round) {
    const int n = random.in(0, 13);
    const auto a = random_numbers(random, uint64_t{1} << n);
    const auto in = file("in.raw", a, std::string(random.in(0, 1) * 1000u, 'x'));
    // Many numbers are not moved a few at a time, which takes seconds.
    const plan::SweepSizes sizes{.processors = uint64_t{1} << random.in(0, n),
                                 .columns = uint64_t{1} << random.in(std::max(0, n - 8), 8),
                                 .slices = uint64_t{1} << random.in(0, 4),
                                 .iterations = random.in(uint64_t{0}, 4),
                                 .cache_bytes = uint64_t{1} << random.in(5, 14),
                                 .request_bytes = uint64_t{1} << random.in(std::max(5, n - 4), 16)};
    const work::AccessChoice access = accesses[random.in(0, 2)];
    const uint64_t offset = random.in(0u, 1u) * random.in(0u, 5000u);
    SCOPED_TRACE(testing::Message() << "offset " << offset << " n " << n << " P " << sizes.processors
                                    << " columns " << sizes.columns << " slices " << sizes.slices
                                    << " iterations " << sizes.iterations << " cache " << sizes.cache_bytes);
    job({in}, std::make_unique<Mixed<Direction::descend>>(), access, sizes, offset).run();
    ASSERT_EQ(output(offset), expected_of<Direction::descend>(a));
    job({in}, std::make_unique<Mixed<Direction::ascend>>(), access, sizes, offset).run();
    ASSERT_EQ(output(offset), expected_of<Direction::ascend>(a));
  }
  EXPECT_EQ(directory_.names(), (std::vector<std::string>{"in.raw", "out.raw"}));
}

TEST_F(DescendFiles, RecordsFromSeveralFiles) {
  test::Random random;
  SEED_TRACE(random);
  for (const Direction direction : both) {
    for (const uint64_t processors : {1, 2, 16, 256, 1 << 10}) {
      const auto a = random_numbers(random, 1 << 10), b = random_numbers(random, 1 << 10);
      std::vector<Triple> records;
      for (std::size_t i = 0; i < a.size(); ++i) records.push_back({a[i], b[i], 1});
      records = by_definition(records, direction, mixed_triple);
      const uint64_t iterations = random.in(0, 3);  // 0: any; else several sweeps, and scratch between them
      auto several = job({file("a.raw", a), file("b.raw", b, std::string(random.in(0u, 9u), 'x'))},
                         std::make_unique<Triples>(direction), work::AccessChoice::direct,
                         {.processors = processors,
                          .columns = 8,
                          .iterations = iterations,
                          .cache_bytes = 512,
                          .request_bytes = 100});
      const work::Summary plan = several.summary();
      if (iterations == 0) {
        EXPECT_EQ(plan.passes.size(), processors > 1 && processors < 1024 ? 2u : 1u);
      } else {
        EXPECT_GE(plan.passes.size(), (std::bit_width(processors) - 1 + iterations - 1) / iterations);
      }
      EXPECT_EQ(plan.scratch_bytes, plan.passes.size() > 1 ? 24u << 10 : 0u);
      several.run();
      const auto result = output();
      for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(result[i], records[i].x);
    }
  }
}

TEST_F(DescendFiles, LargerThanMemory) {
  test::Random random;
  SEED_TRACE(random);
  const auto a = random_numbers(random, 1 << 22);  // 32 MiB, twice the memory
  const auto expected = expected_of<Direction::descend>(a);
  for (const work::AccessChoice access : {work::AccessChoice::direct, work::AccessChoice::mapped}) {
    auto large = job({file("in.raw", a)}, std::make_unique<Mixed<Direction::descend>>(), access);
    EXPECT_GT(large.processors(), 1u);
    const work::Summary plan = large.summary();
    EXPECT_LE(plan.peak_memory(), plan.memory);
    ASSERT_EQ(plan.passes.size(), 2u);
    uint64_t last = 0;
    const work::Report report = large.run([&](const work::Progress& p) {
      EXPECT_GE(p.bytes_done, last);
      EXPECT_LE(p.bytes_done, p.bytes_total);
      last = p.bytes_done;
    });
    EXPECT_EQ(last, plan.bytes_read + plan.bytes_written);
    EXPECT_EQ(report.bytes_written, 2 * plan.bytes);
    EXPECT_GE(report.bytes_read, 2 * plan.bytes);
    EXPECT_LE(report.bytes_read, 2 * plan.bytes + plan.bytes / 4);
    ASSERT_TRUE(output() == expected);
  }
}

TEST_F(DescendFiles, ProcessorsThatCannotBe) {
  const auto in = file("in.raw", std::vector<uint64_t>(1 << 10));
  const auto with = [&](uint64_t processors) {
    return test::message_of<InputError>([&] {
      job({in}, std::make_unique<Mixed<Direction::descend>>(), work::AccessChoice::direct,
          {.processors = processors});
    });
  };
  EXPECT_THAT(with(3), testing::HasSubstr("power of two"));
  EXPECT_THAT(with(2048), testing::HasSubstr("more than"));
  EXPECT_THAT(test::message_of<InputError>([&] {
                job({file("odd.raw", std::vector<uint64_t>(12))},
                    std::make_unique<Mixed<Direction::descend>>(), work::AccessChoice::direct);
              }),
              testing::HasSubstr("8 and 16"));
}

TEST_F(DescendFiles, FortranOrderIsRefused) {
  auto in = file("in.raw", std::vector<uint64_t>(1 << 10));
  const auto with = [&](std::vector<uint64_t> extents) {
    const io::ArrayDescription& array = in.description;
    in.description =
        io::ArrayDescription::contiguous(array.dtype, std::move(extents), Order::fortran, array.offset);
    return job({in}, std::make_unique<Mixed<Direction::descend>>(), work::AccessChoice::direct);
  };
  EXPECT_THAT(test::message_of<InputError>([&] { with({32, 32}); }), testing::HasSubstr("Fortran order"));
  EXPECT_NO_THROW(with({1, 1024, 1}));
}

TEST_F(DescendFiles, AStoppedOrFailedRunLeavesNothing) {
  const auto in = file("in.raw", std::vector<uint64_t>(1 << 16, 1));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(
      job({in}, std::make_unique<Mixed<Direction::descend>>(), work::AccessChoice::direct, {.processors = 16})
          .run({}, stop.get_token()),
      Cancelled);
  EXPECT_THROW(
      job({in}, std::make_unique<Mixed<Direction::descend>>(), work::AccessChoice::direct, {.processors = 16})
          .run([](const work::Progress&) { throw std::logic_error("the caller's"); }),
      std::logic_error);
  struct Refusing final : Elementwise<uint64_t, decltype(&mixed)> {
    Refusing() : Elementwise(Direction::descend, &mixed) {}
    void check() override { throw InputError("refused"); }
  };
  struct Failing final : Elementwise<uint64_t, decltype(&mixed)> {
    Failing() : Elementwise(Direction::ascend, &mixed) {}
    void step(int b, uint64_t, std::size_t, const std::byte*, const std::byte*, const std::byte*,
              std::byte*) override {
      if (b == 7) throw InputError("refused");
    }
  };
  EXPECT_THROW(job({in}, std::make_unique<Refusing>(), work::AccessChoice::direct, {.processors = 16}).run(),
               InputError);
  EXPECT_THROW(job({in}, std::make_unique<Failing>(), work::AccessChoice::direct, {.processors = 16}).run(),
               InputError);
  EXPECT_EQ(directory_.names(), std::vector<std::string>{"in.raw"});
}

TEST_F(DescendFiles, ThePapersStepsAreTheSchedules) {
  auto text =
      job({file("in.raw", std::vector<uint64_t>(1 << 10))}, std::make_unique<Mixed<Direction::descend>>(),
          work::AccessChoice::direct, {.processors = 8})
          .describe();
  const auto steps = schedule::Descend(3, 7, schedule::Descend::Order::descend).steps();
  EXPECT_THAT(text, testing::HasSubstr(" = " + std::to_string(steps) + " steps"));
}

}  // namespace
}  // namespace xorder::descend
