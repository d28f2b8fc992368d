// The times that the machine finds while it runs, against the model of schedule/timing.hpp.
#include "machine/simulation.hpp"

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "machine/on_files.hpp"
#include "schedule/every_kind.hpp"
#include "schedule/path.hpp"
#include "seed.hpp"
#include "xorder/machine/machine.hpp"
#include "xorder/schedule/check.hpp"

namespace xorder::machine {
namespace {

using schedule::Duration;
using schedule::LinkTimes;
using schedule::Place;
using schedule::Schedule;
using schedule::Switching;
using std::uint64_t;
using test::Random;

/// Slots that hold nothing but a number of bytes. Takes every payload over, as programs may.
class Sizes : public Program {
 public:
  Sizes(const Schedule& schedule, std::vector<uint64_t> sizes, bool together = false)
      : slots_(schedule.slots()), sizes_(std::move(sizes)), together_(together) {}

  void send(Place from, uint64_t, Payload& payload) override { payload.reset(at(from)); }
  void receive(const schedule::Message& message, uint64_t step, Payload& payload) override {
    at(message.to) = payload.size();
    if (!schedule::stays(message) && payload.size() != 0) {
      const std::lock_guard lock(mutex_);
      received_[step].emplace_back(message, static_cast<double>(payload.size()));
    }
    Payload taken;
    std::swap(taken, payload);
  }
  bool sends_what_it_received() const override { return !together_; }

  /// What crossed links in each step.
  const auto& received() const { return received_; }

 private:
  uint64_t& at(Place place) { return sizes_[place.node * slots_ + place.slot]; }
  uint64_t slots_;
  std::vector<uint64_t> sizes_;
  bool together_;
  std::mutex mutex_;
  std::map<uint64_t, std::vector<std::pair<schedule::Message, double>>> received_;
};

std::vector<uint64_t> equal_sizes(const Schedule& schedule, uint64_t bytes) {
  return std::vector(schedule.network().nodes() * schedule.slots(), bytes);
}

std::vector<uint64_t> random_sizes(const Schedule& schedule, Random& random) {
  std::vector<uint64_t> sizes = equal_sizes(schedule, 0);
  for (uint64_t& size : sizes) size = random.in(0, 2) == 0 ? 0 : random.in(1U, 100U);
  return sizes;
}

// The machine keeps time as the schedule itself does, also when it runs again, in whatever order tasks run.
TEST(Simulation, MessagesOfOneSizeTakeTheTimeOfTheSchedule) {
  Random random;
  SEED_TRACE(random);
  for (const auto& [name, schedule] : test::every_kind(random)) {
    const LinkTimes times = test::random_times(random);
    const uint64_t bytes = random.in(1U, 100U);
    const auto time = [&](Switching switching) {
      return duration(*schedule, static_cast<double>(bytes), times, switching);
    };
    const schedule::NetworkTime expected = {times, 1, time(Switching::store_and_forward),
                                            time(Switching::wormhole)};
    Machine machine(*schedule, times);
    if (random.in(0, 2) == 0) {  // first with other data
      Sizes others(*schedule, random_sizes(*schedule, random));
      machine.run(others);
    }
    for (int again = 0; again < 2; ++again) {
      Sizes sizes(*schedule, equal_sizes(*schedule, bytes), !schedule->recurrence() && random.in(0, 1) == 1);
      EXPECT_EQ(machine.run(sizes).time, expected) << name << ", " << bytes << " bytes";
    }
    Sizes sizes(*schedule, equal_sizes(*schedule, bytes));
    EXPECT_FALSE(Machine(*schedule).run(sizes).time);
  }
}

// A step takes as long as its longest message, by the definition; messages of no bytes are not sent.
TEST(Simulation, MessagesOfAnySizes) {
  Random random;
  SEED_TRACE(random);
  for (const auto& [name, schedule] : test::every_kind(random)) {
    SCOPED_TRACE(name);
    LinkTimes times = test::random_times(random);
    times.one_port = false;
    const std::vector<uint64_t> sizes = random_sizes(*schedule, random);
    Sizes program(*schedule, sizes);
    const schedule::Traffic traffic = Machine(*schedule, times).run(program);
    const schedule::NetworkTime& time = traffic.time.value();

    double store_and_forward = 0, wormhole = 0, longest = 0;
    const schedule::Network& network = schedule->network();
    for (const auto& [step, messages] : program.received()) {
      double slowest = 0, slowest_worm = 0;
      for (const auto& [m, bytes] : messages) {
        const auto links = static_cast<double>(schedule::links(network, m));
        const double alone = times.startup + links * times.per_link;
        slowest = std::max(slowest, alone + links * bytes * times.per_byte);
        slowest_worm = std::max(slowest_worm, alone + bytes * times.per_byte);
      }
      store_and_forward += slowest;
      wormhole += slowest_worm;
      longest = std::max(longest, slowest);
    }
    EXPECT_EQ(time.store_and_forward.lock_step, store_and_forward);
    EXPECT_EQ(time.wormhole.lock_step, wormhole);
    EXPECT_GE(time.store_and_forward.asynchronous, longest);

    times.one_port = true;
    Sizes again(*schedule, sizes);
    const schedule::Traffic with_one_port = Machine(*schedule, times).run(again);
    for (const auto member : {&schedule::NetworkTime::store_and_forward, &schedule::NetworkTime::wormhole}) {
      const Duration all = time.*member, one = *with_one_port.time.*member;
      EXPECT_LE(all.asynchronous, all.lock_step);
      EXPECT_LE(one.asynchronous, one.lock_step);
      EXPECT_LE(all.lock_step, one.lock_step);
    }

    // What the sizes alone tell, without a machine.
    schedule::Traffic foretold = Simulation(*schedule, times).run(*schedule, sizes, {});
    foretold.processors = with_one_port.processors;
    foretold.steps = with_one_port.steps;
    EXPECT_EQ(foretold, with_one_port);
  }
}

/// Node 0 of a 2 × 2 mesh sends to itself by way of node 1.
class RoundTrip : public Schedule {
 public:
  RoundTrip() : Schedule(schedule::Network::mesh(2), 1, 1, 1) {}
  void messages(uint64_t, std::vector<schedule::Message>& out) const override { out = {{{0, 0}, {0, 0}, 1}}; }
  std::optional<Place> goal(Place start) const override { return start; }
};

TEST(Simulation, AMessageThatComesBackCrossesLinksForAll) {
  const RoundTrip trip;
  const Schedule::Load expected = {.messages = 1, .crossings = 2};
  const schedule::CheckReport report = check(trip);
  EXPECT_TRUE(report.correct()) << report.first_fault;
  EXPECT_EQ((Schedule::Load{report.messages, report.crossings}), expected);
  EXPECT_EQ(trip.load(0), expected);
  const schedule::Traffic foretold = Simulation(trip, {}).run(trip, equal_sizes(trip, 8), {});
  EXPECT_EQ((Schedule::Load{foretold.messages, foretold.crossings}), expected);
  Sizes sizes(trip, equal_sizes(trip, 8));
  const schedule::Traffic sent = Machine(trip).run(sizes);
  EXPECT_EQ((Schedule::Load{sent.messages, sent.crossings}), expected);
}

TEST(Simulation, ImpossibleTimesAreRefused) {
  const schedule::Exchange exchange(2, schedule::Exchange::Kind::transposition);
  EXPECT_THROW(Machine(exchange, LinkTimes{.startup = -1}), InputError);
}

}  // namespace
}  // namespace xorder::machine
