#include "xorder/machine/round_plan.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "machine/on_files.hpp"
#include "plan/reference.hpp"
#include "schedule/rounds.hpp"
#include "xorder/error.hpp"
#include "xorder/machine/scheduled.hpp"

namespace xorder::machine {
namespace {

using test::Random;
using testing::HasSubstr;

class RoundPlans : public test::OnFiles {
 protected:
  static std::string executed(const RoundPlan& plan, const std::string& data) {
    std::string result(data.size(), '\0');
    plan.execute(reinterpret_cast<const std::byte*>(data.data()), reinterpret_cast<std::byte*>(result.data()),
                 2);
    return result;
  }
};

// One plan, several data: in memory, and in files that are reached in both ways.
TEST_F(RoundPlans, MadeOncePerformedOften) {
  Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 12; ++i) {
    const int n = random.in(0, 14), p = random.in(0, std::min(n, 8)), f = random.in(0, n - p);
    const std::uint64_t bytes = std::array{1, 3, 8, 16}[random.in(0U, 3U)];
    SCOPED_TRACE(testing::Message() << "n " << n << ", p " << p << ", f " << f << ", " << bytes << " bytes");
    const std::vector<std::uint64_t> extents = {std::uint64_t{1} << n};
    const Reordering what = mapping_of_all({extents, bytes, Order::c}, test::any_map(random, n));
    const RoundPlan plan(what, {.processors = std::uint64_t{1} << p, .layout = f, .memory = 32 << 20});
    EXPECT_EQ(plan.processors(), std::uint64_t{1} << p);
    for (const auto access : {work::AccessChoice::direct, work::AccessChoice::mapped}) {
      const std::string data = noise(what.bytes(), random);
      plan.on_files(input(data, extents, bytes), extents, scratch_ / "out.raw",
                    {.access = access, .overwrite = true})
          ->run();
      ASSERT_TRUE(test::read_file(scratch_ / "out.raw") == reordered(what, data));
      const std::string other = noise(what.bytes(), random);
      ASSERT_TRUE(executed(plan, other) == reordered(what, other));
    }
  }
}

TEST_F(RoundPlans, SendWhatScheduledSends) {
  Random random;
  const std::vector<std::uint64_t> extents = {1 << 12};
  const Reordering what = mapping_of_all({extents, 8, Order::c}, bmmc::bit_reverse(12));
  const std::string data = noise(what.bytes(), random);
  const auto once = scheduled(input(data, extents, 8), what, extents, scratch_ / "a.raw",
                              {.memory = 16 << 20}, {.processors = 64});
  const RoundPlan plan(what, {.processors = 64, .memory = 32 << 20});
  once->run();
  const schedule::Traffic& expected = *once->traffic();
  std::string result(data.size(), '\0');
  const schedule::Traffic traffic = plan.execute(reinterpret_cast<const std::byte*>(data.data()),
                                                 reinterpret_cast<std::byte*>(result.data()));
  EXPECT_EQ(traffic.messages, expected.messages);
  EXPECT_EQ(traffic.bytes_moved, expected.bytes_moved);
  EXPECT_EQ(traffic.steps, expected.steps);
  EXPECT_EQ(plan.rounds(), expected.steps);
}

TEST_F(RoundPlans, TellTheTimeOnANetwork) {
  Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 10; ++i) {
    const int n = random.in(0, 12), p = random.in(0, n);
    const gf2::AffineMap map = test::any_map(random, n);
    const std::vector<std::uint64_t> extents = {std::uint64_t{1} << n};
    const Reordering what = mapping_of_all({extents, 8, Order::c}, map);
    const schedule::LinkTimes times = test::random_times(random);
    const RoundPlan plan(what,
                         {.processors = std::uint64_t{1} << p, .memory = 256 << 20, .link_times = times});
    const schedule::Rounds rounds(map, p, n - p);
    const auto time = [&](schedule::Switching switching) {
      return duration(rounds, static_cast<double>(8ULL << rounds.lg_chunk()), times, switching);
    };
    const schedule::NetworkTime expected = {times, 1, time(schedule::Switching::store_and_forward),
                                            time(schedule::Switching::wormhole)};
    const std::string data = noise(what.bytes(), random);
    std::string result(data.size(), '\0');
    EXPECT_EQ(plan.execute(reinterpret_cast<const std::byte*>(data.data()),
                           reinterpret_cast<std::byte*>(result.data()))
                  .time,
              expected);
    const auto on_files =
        plan.on_files(input(data, extents, 8), extents, scratch_ / "out.raw", {.overwrite = true});
    on_files->run();
    EXPECT_EQ(on_files->traffic()->time, expected);
  }
}

// One plan in several threads, which share nothing but the plan. It outlives the object that made it.
TEST_F(RoundPlans, ManyThreadsUseOne) {
  Random random;
  const Reordering what = mapping_of_all({{1 << 12}, 8, Order::c}, bmmc::gray(12));
  auto first = std::make_unique<RoundPlan>(what, RoundOptions{.processors = 16});
  const RoundPlan plan = *first;
  first.reset();
  std::vector<std::string> data, results(3);
  for (std::size_t i = 0; i < results.size(); ++i) data.push_back(noise(what.bytes(), random));
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < results.size(); ++i) {
      threads.emplace_back([&, i] { results[i] = executed(plan, data[i]); });
    }
  }
  for (std::size_t i = 0; i < results.size(); ++i) EXPECT_TRUE(results[i] == reordered(what, data[i]));
}

TEST_F(RoundPlans, RefuseOtherData) {
  Random random;
  const Reordering what = mapping_of_all({{1 << 10}, 8, Order::c}, bmmc::gray(10));
  const RoundPlan plan(what, {.processors = 16});
  const auto refused = [&](std::uint64_t elements, std::uint64_t bytes) {
    const auto in = input(noise(elements * bytes, random), {elements}, bytes);
    EXPECT_THAT([&] { plan.on_files(in, {elements}, scratch_ / "b.raw", {}); },
                testing::ThrowsMessage<InputError>(HasSubstr("the plan is for 1024 of 8 bytes")));
  };
  refused(512, 8);
  refused(1024, 4);
  EXPECT_THROW(RoundPlan(mapping_of_all({{1 << 10}, 8, Order::c}, bmmc::gray(10)), {.processors = 3}),
               InputError);
  EXPECT_THROW(RoundPlan(transposition({{3, 5}, 8, Order::c}, {})), InputError);
  EXPECT_THROW(RoundPlan(transposition({{0, 4}, 8, Order::c}, {})), InputError);
}

}  // namespace
}  // namespace xorder::machine
