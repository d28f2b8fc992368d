// Reorderings by virtual processors against their definition.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <set>
#include <vector>

#include "machine/on_files.hpp"
#include "plan/bands/band_exchange.hpp"
#include "plan/price.hpp"
#include "plan/reference.hpp"
#include "sanitized.hpp"
#include "schedule/every_kind.hpp"
#include "schedule/mesh/mesh.hpp"
#include "schedule/simulate.hpp"
#include "seed.hpp"
#include "xorder/error.hpp"
#include "xorder/machine/scheduled.hpp"
#include "xorder/schedule/listed.hpp"

namespace xorder::machine {
namespace {

using test::Random;

class Scheduled : public test::OnFiles {
 protected:
  void check(const Reordering& what, std::vector<std::uint64_t> extents, const ScheduleChoice& choice,
             work::AccessChoice access, Random& random) {
    const std::string data = noise(what.bytes(), random);
    check(input(data, extents, what.element_bytes), reordered(what, data), what, extents, choice, access,
          random);
  }
  void check(const io::ArrayFile& in, const std::string& expected, const Reordering& what,
             const std::vector<std::uint64_t>& extents, const ScheduleChoice& choice,
             work::AccessChoice access, Random& random) {
    const auto work = scheduled(in, what, extents, scratch_ / "out.raw",
                                {.memory = memory_, .access = access, .overwrite = true}, choice,
                                test::random_times(random));
    const work::Report report = work->run();
    ASSERT_TRUE(test::read_file(scratch_ / "out.raw") == expected);
    EXPECT_TRUE(work->traffic());
    EXPECT_EQ(work->forecast(), work->traffic());
    EXPECT_EQ(report.passes, work->summary().passes.size());
    EXPECT_EQ(report.bytes_written, work->summary().bytes_written);
  }

  std::uint64_t memory_ = 16 << 20;
};

using Kind = ScheduleChoice::Kind;

// Larger than memory: many groups of blocks, many stripes.
TEST_F(Scheduled, EveryScheduleOfATransposition) {
  Random random;
  SEED_TRACE(random);
  const std::vector<std::uint64_t> extents{1024, 4096};
  const Reordering what = transposition({extents, 8, Order::c}, {});
  const std::string data = noise(what.bytes(), random), expected = reordered(what, data);
  const io::ArrayFile in = input(data, extents, 8);
  for (const auto access : {work::AccessChoice::direct, work::AccessChoice::mapped}) {
    for (const auto& [kind, processors] : {std::pair(Kind::rounds, 16), std::pair(Kind::rounds, 64),
                                           std::pair(Kind::exchange, 8), std::pair(Kind::mesh, 9)}) {
      SCOPED_TRACE(static_cast<int>(kind));
      check(in, expected, what, extents, {.kind = kind, .processors = processors}, access, random);
    }
    check(in, expected, what, extents, {.kind = Kind::mesh, .processors = 49, .torus = true}, access, random);
    check(in, expected, what, extents,
          {.kind = Kind::mesh, .processors = 64, .routing = schedule::Mesh::Routing::recursive}, access,
          random);
  }
}

TEST_F(Scheduled, RandomMapsInRoundsOfAnyLayout) {
  Random random;
  SEED_TRACE(random);
  memory_ = 32 << 20;  // 512 simulated processors take more than a third of 16 MiB for themselves
  for (int i = 0; i < test::rounds(25); ++i) {
    const int n = random.in(0, 14), p = random.in(0, std::min(n, 9)), f = random.in(0, n - p);
    const std::uint64_t bytes = std::array{1, 3, 8, 16}[random.in(0U, 3U)];
    SCOPED_TRACE(testing::Message() << "n " << n << ", p " << p << ", f " << f << ", " << bytes << " bytes");
    check(mapping_of_all({{std::uint64_t{1} << n}, bytes, Order::c}, test::random_map(random, n)),
          {std::uint64_t{1} << n}, {.kind = Kind::rounds, .processors = std::uint64_t{1} << p, .layout = f},
          work::AccessChoice::direct, random);
  }
}

TEST_F(Scheduled, MeshesOfAnyShape) {
  Random random;
  SEED_TRACE(random);
  for (int i = 0; i < test::rounds(50); ++i) {
    const std::uint64_t rows = random.in(1U, 200U), columns = random.in(1U, 200U);
    const std::uint64_t side = random.in(std::uint64_t{1}, std::min({rows, columns, std::uint64_t{9}}));
    using Routing = schedule::Mesh::Routing;
    const bool torus = random.in(0, 1) == 1;
    std::vector<Routing> routings = {Routing::any, Routing::xy};
    if (!torus && side % 2 == 0) routings.push_back(Routing::two_phase);
    if (!torus && std::has_single_bit(side)) routings.push_back(Routing::recursive);
    SCOPED_TRACE(testing::Message() << rows << " x " << columns << (torus ? ", torus of " : ", mesh of ")
                                    << side);
    check(transposition({{rows, columns}, 4, Order::c}, {}), {rows, columns},
          {.kind = Kind::mesh,
           .processors = side * side,
           .routing = routings[random.in(std::size_t{0}, routings.size() - 1)],
           .torus = torus},
          work::AccessChoice::direct, random);
  }
}

TEST_F(Scheduled, MeshesWhoseRowsTakeSeveralPasses) {
  Random random;
  SEED_TRACE(random);
  constexpr std::uint64_t columns = 2053;
  // The second row of blocks has extents without divisors, so it takes one pass and the first one two. Or both
  // take two, and the second one begins within a block of the file, although its runs have whole blocks.
  for (const std::uint64_t rows : {8192 + 8191, 8193 + 8192}) {
    SCOPED_TRACE(rows);
    const std::string data = noise(rows * columns, random);
    std::string expected(data.size(), '\0');
    for (std::uint64_t i = 0; i < rows; ++i)
      for (std::uint64_t j = 0; j < columns; ++j) expected[j * rows + i] = data[i * columns + j];
    const io::ArrayFile in = input(data, {rows, columns}, 1);
    for (const auto access : {work::AccessChoice::direct, work::AccessChoice::mapped}) {
      const auto work = scheduled(in, transposition({{rows, columns}, 1, Order::c}, {}), {columns, rows},
                                  scratch_ / "out.raw",
                                  {.memory = 16 << 20, .access = access, .device = plan::Device::hdd()},
                                  {.kind = Kind::mesh, .processors = 4});
      const work::Summary plan = work->summary();
      ASSERT_EQ(plan.passes.size(), 3u);
      EXPECT_EQ(plan.passes[0].bytes_read < data.size(), rows == 8192 + 8191);
      EXPECT_EQ(plan.passes[1].bytes_read, data.size());
      EXPECT_EQ(plan.scratch_bytes, 2 * data.size());
      EXPECT_EQ(plan.removal_seconds, plan::scratch_seconds(plan.scratch_bytes, plan::Host{}));
      work->run();
      ASSERT_TRUE(test::read_file(scratch_ / "out.raw") == expected);
      std::filesystem::remove(scratch_ / "out.raw");
    }
  }
}

TEST_F(Scheduled, StopsWhenAskedAndLeavesNothing) {
  Random random;
  for (const auto kind : {Kind::rounds, Kind::exchange, Kind::mesh}) {
    const Reordering what = transposition({{1024, 2048}, 8, Order::c}, {});
    const auto work = scheduled(input(noise(what.bytes(), random), {1024, 2048}, 8), what, {2048, 1024},
                                scratch_ / "out.raw", {.memory = 16 << 20}, {.kind = kind, .processors = 16});
    std::stop_source stop;
    const auto stop_in_the_second_half = [&](const work::Progress& p) {
      if (p.bytes_done > p.bytes_total / 2) stop.request_stop();
    };
    EXPECT_THROW(work->run(stop_in_the_second_half, stop.get_token()), Cancelled);
    EXPECT_THAT(scratch_.names(), ::testing::ElementsAre("in.raw"));
    const auto fail_in_the_second_half = [](const work::Progress& p) {
      if (p.bytes_done > p.bytes_total / 2) throw std::logic_error("the caller's");
    };
    EXPECT_THROW(work->run(fail_in_the_second_half), std::logic_error);
    EXPECT_THAT(scratch_.names(), ::testing::ElementsAre("in.raw"));
  }
}

std::string expected(const std::string& data, const Band& band, std::uint64_t bytes) {
  std::string out(data.size(), '\0');
  for (std::uint64_t target = 0; target < band.places(); ++target) {
    if (const auto source = band.source(target))
      out.replace(target * bytes, bytes, data, *source * bytes, bytes);
  }
  return out;
}

TEST_F(Scheduled, BandsOfAnyShape) {
  Random random;
  SEED_TRACE(random);
  for (int i = 0; i < test::rounds(100); ++i) {
    Band band;
    band.n = random.in(1, i % 10 == 0 ? 1000 : 70);
    band.lower = random.in(0U, random.in(0U, band.n - 1));
    band.upper = random.in(0U, std::min<std::uint64_t>(band.n - 1 - band.lower, random.in(0, 80)));
    band.cyclic = random.in(0, 1) == 1;
    if (random.in(0, 1) == 1) band.order = BandOrder::rows;
    const std::uint64_t bytes = std::array{1, 2, 3, 4, 8, 16, 24}[random.in(0U, 6U)];
    const int most = static_cast<int>(std::bit_width(band.n)) - 1;
    const std::uint64_t processors = std::uint64_t{1} << random.in(0, std::min(most, 7));
    SCOPED_TRACE(testing::Message() << "N " << band.n << ", KL " << band.lower << ", KU " << band.upper
                                    << (band.cyclic ? ", cyclic, " : ", ") << bytes << " bytes, P "
                                    << processors);
    const std::string data = noise(band.places() * bytes, random);
    const work::AccessChoice access =
        random.in(0, 1) == 0 ? work::AccessChoice::direct : work::AccessChoice::mapped;
    const auto work = scheduled_bands({input(data, band.extents(), bytes)}, {band}, scratch_ / "out.raw",
                                      {.memory = 256 << 20, .access = access, .overwrite = true}, processors,
                                      test::random_times(random));
    work->run();
    EXPECT_EQ(work->forecast(), work->traffic());
    ASSERT_TRUE(test::read_file(scratch_ / "out.raw") == expected(data, band, bytes));
    EXPECT_EQ(work->traffic()->processors, processors);
  }
}

// Several bands of one size, as wide as each other or not; in some of them, all is by row.
std::vector<Band> random_bands(Random& random, std::uint64_t n, std::uint64_t widest) {
  std::vector<Band> bands(random.in(2U, 5U));
  const bool cyclic = random.in(0, 1) == 1, alike = random.in(0, 1) == 1;
  const BandOrder order = random.in(0, 1) == 1 ? BandOrder::columns : BandOrder::rows;
  for (Band& band : bands) {
    const std::uint64_t width = random.in(std::uint64_t{1}, std::min(n, widest));
    const std::uint64_t upper = random.in(std::uint64_t{0}, width - 1);
    band = alike && &band != &bands[0] ? bands[0] : Band{n, width - 1 - upper, upper, cyclic, order};
  }
  return bands;
}

std::string expected(const std::string& data, const std::vector<Band>& bands, std::uint64_t bytes) {
  std::string out;
  for (const Band& band : bands) out += expected(data.substr(out.size(), band.places() * bytes), band, bytes);
  return out;
}

// In one file, or in one each.
TEST_F(Scheduled, SeveralBandsAtOnce) {
  Random random;
  SEED_TRACE(random);
  for (int i = 0; i < test::rounds(40); ++i) {
    // Some are larger than memory, and go in several stripes.
    const bool large = i % 20 == 0;
    const std::uint64_t n = large ? 20000 : random.in(1, i % 10 == 1 ? 1000 : 70);
    const std::vector<Band> bands = random_bands(random, n, large ? 60 : 40);
    const std::uint64_t bytes = std::array{1, 2, 3, 8, 16, 24}[random.in(0U, 5U)];
    const int most = std::min(static_cast<int>(std::bit_width(n)) - 1, 6);
    const std::uint64_t processors = std::uint64_t{1} << (large ? 5 : random.in(0, most));
    SCOPED_TRACE(testing::Message() << bands.size() << " bands, N " << n << ", " << bytes << " bytes, P "
                                    << processors);
    const std::string data = noise(places(bands) * bytes, random);
    const auto access = random.in(0, 1) == 0 ? work::AccessChoice::direct : work::AccessChoice::mapped;
    std::vector<io::ArrayFile> inputs;
    if (random.in(0, 1) == 1) {
      std::uint64_t begin = 0;
      for (const Band& band : bands) {
        inputs.push_back(input(data.substr(begin, band.places() * bytes), band.extents(), bytes,
                               std::to_string(inputs.size()) + ".raw"));
        begin += band.places() * bytes;
      }
    } else {
      inputs.push_back(input(data, extents(bands), bytes));
    }
    const auto work =
        scheduled_bands(inputs, bands, scratch_ / "out.raw",
                        {.memory = (large ? 16U : 64U) << 20, .access = access, .overwrite = true},
                        processors, test::random_times(random));
    const work::Report report = work->run();
    EXPECT_EQ(work->forecast(), work->traffic());
    ASSERT_TRUE(test::read_file(scratch_ / "out.raw") == expected(data, bands, bytes));
    const auto at_once = plan::plan_band_exchange(bands, bytes, {{.memory = 64U << 20}, processors}).at_once;
    EXPECT_EQ(work->traffic()->steps, at_once.schedule->steps());
    EXPECT_LE(work->traffic()->steps, at_once.steps_in_turn);
    EXPECT_EQ(work->traffic()->processors, processors);
    EXPECT_LE(report.bytes_written, work->summary().bytes_written);  // less where places are unused
  }
}

TEST_F(Scheduled, BandsThatDoNotGoTogetherAreRefused) {
  const auto refusal = [&](const std::vector<Band>& bands, const std::vector<std::uint64_t>& shape) {
    std::uint64_t elements = 1;
    for (const std::uint64_t extent : shape) elements *= extent;
    return test::message_of<InputError>([&] {
      static_cast<void>(scheduled_bands({input(std::string(elements, 'x'), shape, 1)}, bands,
                                        scratch_ / "out.raw", {.memory = 16 << 20}, std::nullopt));
    });
  };
  EXPECT_THAT(refusal({}, {10}), ::testing::HasSubstr("at least one"));
  EXPECT_THAT(refusal({{10, 1, 1}, {9, 1, 1}}, {57}), ::testing::HasSubstr("same size"));
  EXPECT_THAT(refusal({{10, 1, 1}, {10, 1, 1}}, {60}), ::testing::HasSubstr("that of 2 bands, (2, 10, 3)"));
  EXPECT_THAT(refusal({{10, 1, 1}, {10, 1, 2}}, {2, 35}), ::testing::HasSubstr("(70)"));
}

// What every schedule leaves in its slots, with and without a task for them.
TEST_F(Scheduled, SlotsOfAFileByAnySchedule) {
  Random random;
  SEED_TRACE(random);
  for (auto& [name, made] : test::every_kind(random)) {
    const std::shared_ptr<const schedule::Schedule> schedule = std::move(made);
    const std::uint64_t places = schedule->network().nodes() * schedule->slots();
    if (schedule->recurrence() || places == 0 || places > 5000) continue;
    SCOPED_TRACE(name);
    const std::uint64_t width = random.in(1U, 9U), bytes = random.in(1U, 5U), slot = width * bytes;
    const std::string data = noise(places * slot, random);
    const std::vector<std::uint64_t> content = test::carried(*schedule);
    std::string expected(data.size(), '\0');
    for (std::uint64_t i = 0; i < places; ++i)
      std::memcpy(expected.data() + i * slot, data.data() + content[i] * slot, slot);
    const auto work = scheduled_slots(input(data, {places, width}, bytes), schedule, scratch_ / "out.raw",
                                      {.memory = memory_, .overwrite = true}, test::random_times(random));
    work->run();
    ASSERT_TRUE(test::read_file(scratch_ / "out.raw") == expected);
    EXPECT_EQ(work->forecast(), work->traffic());
  }
}

TEST_F(Scheduled, SlotsInStripes) {
  Random random;
  SEED_TRACE(random);
  const auto torus = std::make_shared<schedule::Torus>(7, schedule::Mesh::Routing::any);
  for (const auto access : {work::AccessChoice::direct, work::AccessChoice::mapped}) {
    for (const std::uint64_t slot : {std::uint64_t{1} << 20, (std::uint64_t{1} << 20) - 5}) {
      const std::string data = noise(49 * slot, random);
      std::string expected(data.size(), '\0');
      for (std::uint64_t i = 0; i < 49; ++i)
        std::memcpy(expected.data() + (i % 7 * 7 + i / 7) * slot, data.data() + i * slot, slot);
      const auto work = scheduled_slots(input(data, {49 * slot}, 1), torus, scratch_ / "out.raw",
                                        {.memory = memory_, .access = access, .overwrite = true});
      EXPECT_GT(work->summary().passes.front().tiles, 1U);
      EXPECT_LE(work->summary().passes.front().memory, memory_);
      work->run();
      ASSERT_TRUE(test::read_file(scratch_ / "out.raw") == expected) << slot;
    }
  }
}

TEST_F(Scheduled, SlotsThatCannotBeMoved) {
  const auto move = [&](const std::shared_ptr<const schedule::Schedule>& schedule, std::uint64_t elements) {
    static_cast<void>(scheduled_slots(input(std::string(elements, 'x'), {elements}, 1), schedule,
                                      scratch_ / "out.raw", {.memory = memory_}));
  };
  const auto mesh = std::make_shared<schedule::Mesh>(3, schedule::Mesh::Routing::any);
  EXPECT_THROW(move(mesh, 10), InputError);
  EXPECT_THROW(move(mesh, 0), InputError);
  EXPECT_THROW(move(std::make_shared<schedule::Descend>(2, 1, schedule::Descend::Order::descend), 64),
               InputError);
  const auto wrong = std::make_shared<schedule::Listed>(schedule::Listed::read(
      "{\"step\":0,\"from\":[0,0],\"to\":[1,0]}\n{\"step\":0,\"from\":[2,0],\"to\":[1,0]}", "s",
      schedule::Network::mesh(3)));
  EXPECT_THAT(test::message_of<Error>([&] { move(wrong, 9); }),
              ::testing::HasSubstr("the schedule has a fault: step 0: slot 0 of node 1 is overwritten"));
}

// How many messages carry something, if one stripe goes through all steps.
std::uint64_t messages_with_content(const plan::StripePlan& plan) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> full;
  for (const auto& panel : plan.geometry->panels()) {
    for (const auto& part : panel.parts) full.emplace(part.from.node, part.from.slot);
  }
  std::uint64_t count = 0;
  std::vector<schedule::Message> messages;
  for (std::uint64_t step = 0; step < plan.schedule->steps(); ++step) {
    plan.schedule->messages(step, messages);
    const auto before = full;
    for (const auto& [from, to, via, turns] : messages) {
      const bool something = before.contains({from.node, from.slot});
      if (something) {
        full.emplace(to.node, to.slot);
      } else {
        full.erase({to.node, to.slot});
      }
      count += something && from.node != to.node;
    }
  }
  return count;
}

TEST_F(Scheduled, MessagesOfNothingAreNotCounted) {
  Random random;
  SEED_TRACE(random);
  constexpr std::uint64_t memory = 256 << 20;
  for (int i = 0; i < test::rounds(20); ++i) {
    Band band{.n = 128, .lower = 17, .upper = 17, .cyclic = true};
    std::uint64_t processors = 128;
    if (i > 0) {
      band.n = random.in(8U, 200U);
      band.lower = random.in(0U, band.n / 2 - 1);
      band.upper = random.in(0U, band.n / 2 - 1);
      band.cyclic = random.in(0, 1) == 1;
      processors = std::uint64_t{1} << random.in(0, 3);
    }
    const plan::StripePlan stripes =
        plan::plan_band_exchange({band}, 8, {{.memory = memory}, processors}).stripes;
    ASSERT_EQ(stripes.stripes(), 1U);
    const std::string data = noise(band.places() * 8, random);
    const auto work = scheduled_bands({input(data, band.extents(), 8)}, {band}, scratch_ / "out.raw",
                                      {.memory = memory, .overwrite = true}, processors);
    work->run();
    const std::uint64_t messages = work->traffic()->messages;
    EXPECT_EQ(messages, messages_with_content(stripes)) << band.n << " " << band.lower << " " << band.upper;
    if (i == 0) {  // blocks of one column: the schedule knows what there is
      EXPECT_EQ(messages, 12312U);
      EXPECT_EQ(messages, stripes.schedule->total().messages);
    }
  }
}

}  // namespace
}  // namespace xorder::machine
