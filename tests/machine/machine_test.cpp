#include "xorder/machine/machine.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "schedule/banded/banded_batch.hpp"
#include "schedule/descend/aspc.hpp"
#include "schedule/descend/descend.hpp"
#include "schedule/exchange.hpp"
#include "schedule/mesh/mesh.hpp"
#include "schedule/mesh/torus.hpp"
#include "schedule/rounds.hpp"
#include "schedule/routed/isotropic.hpp"
#include "seed.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/bmmc.hpp"
#include "xorder/schedule/listed.hpp"

namespace xorder::machine {
namespace {

using schedule::Place;
using schedule::Schedule;
using test::Random;

/// Every slot is a number.
class Numbers : public Program {
 public:
  explicit Numbers(const Schedule& schedule)
      : slots_(schedule.slots()), values_(schedule.network().nodes() * slots_) {
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = i;
  }
  std::uint64_t& at(Place place) { return values_[place.node * slots_ + place.slot]; }

  void send(Place from, std::uint64_t, Payload& payload) override {
    std::memcpy(payload.reset(sizeof(std::uint64_t)), &at(from), sizeof(std::uint64_t));
  }
  void receive(const schedule::Message& message, std::uint64_t, Payload& payload) override {
    std::memcpy(&at(message.to), payload.data(), payload.size());
  }
  /// f_b(x, plus, minus) = x·(b + 2) + 3·plus − minus.
  static std::uint64_t f(int b, std::uint64_t x, std::uint64_t plus, std::uint64_t minus) {
    return x * static_cast<std::uint64_t>(b + 2) + 3 * plus - minus;
  }
  void update(std::span<const schedule::Update> updates) override {
    std::vector<std::uint64_t> results;
    for (const auto& u : updates) results.push_back(f(u.iteration, at(u.element), at(u.plus), at(u.minus)));
    for (std::size_t i = 0; i < updates.size(); ++i) at(updates[i].element) = results[i];
  }

 private:
  std::uint64_t slots_;
  std::vector<std::uint64_t> values_;
};

std::vector<std::pair<std::string, std::shared_ptr<Schedule>>> moving_schedules(Random& random) {
  using namespace schedule;
  std::vector<std::pair<std::string, std::shared_ptr<Schedule>>> all;
  const auto add = [&](std::string name, auto* made) { all.emplace_back(std::move(name), made); };
  for (int d = 0; d <= 6; ++d) {
    add("exchange " + std::to_string(d), new Exchange(d, Exchange::Kind::transposition));
    add("bit reversal " + std::to_string(d), new Exchange(d, Exchange::Kind::bit_reversal));
    add("aspc " + std::to_string(d), new Aspc(d, Aspc::Halves::both));
    for (int beta = 0; beta <= d; ++beta) add("banded", new Banded(d, beta));
    for (int beta = 1; beta < d; ++beta) add("batch", new BandedBatch(d, beta, d / beta));
  }
  for (int n = 0; n <= 8; ++n) {
    for (int p = 0; p <= n; ++p) {
      add("rounds", new Rounds(bmmc::bit_reverse(n), p, n - p));
      add("rounds", new Rounds(bmmc::transpose(n / 2, n - n / 2), p, random.in(0, n - p)));
    }
  }
  for (const std::uint64_t side : {0, 1, 2, 3, 4, 6, 7, 8, 12}) {
    add("mesh", new Mesh(side, Mesh::Routing::any));
    add("mesh xy", new Mesh(side, Mesh::Routing::xy));
    if (side % 2 == 0) add("mesh two phases", new Mesh(side, Mesh::Routing::two_phase));
    if ((side & (side - 1)) == 0) add("mesh recursive", new Mesh(side, Mesh::Routing::recursive));
    add("torus", new Torus(side, Mesh::Routing::any));
    add("torus xy", new Torus(side, Mesh::Routing::xy));
  }
  add("isotropic", new Isotropic({6, 3, 4, 4, 0, 7}, 3));
  return all;
}

TEST(Machine, EverySlotArrivesAtItsGoal) {
  Random random;
  SEED_TRACE(random);
  for (const auto& [name, schedule] : moving_schedules(random)) {
    SCOPED_TRACE(name + ", " + std::to_string(schedule->network().nodes()) + " processors");
    Numbers numbers(*schedule);
    Numbers before(*schedule);
    Machine machine(*schedule);
    if (random.in(0, 3) == 0) {  // again, with other data
      Numbers others(*schedule);
      machine.run(others);
    }
    const schedule::Traffic traffic = machine.run(numbers);
    for (schedule::Node node = 0; node < schedule->network().nodes(); ++node) {
      for (std::uint64_t slot = 0; slot < schedule->slots(); ++slot) {
        const auto goal = schedule->goal({node, slot});
        if (goal) {
          ASSERT_EQ(numbers.at(*goal), before.at({node, slot})) << node << " " << slot;
        }
      }
    }
    const Schedule::Load load = schedule->total();
    EXPECT_EQ(traffic.messages, load.messages);
    EXPECT_EQ(traffic.crossings, load.crossings);
    EXPECT_EQ(traffic.bytes_moved, 8 * load.messages);
    EXPECT_EQ(traffic.steps, schedule->steps());
    EXPECT_EQ(traffic.processors, schedule->network().nodes());
  }
}

TEST(Machine, PathsOfManyLinks) {
  const auto listed = schedule::Listed::read(R"({"step":0,"from":[0,0],"to":[7,0],"path":[0,1,3,7]})", "s",
                                             schedule::Network::hypercube(3));
  Numbers numbers(listed);
  Numbers before(listed);
  EXPECT_EQ(Machine(listed).run(numbers).crossings, 3U);
  EXPECT_EQ(numbers.at({7, 0}), before.at({0, 0}));
}

TEST(Machine, ComputesDescendAndAscend) {
  using schedule::Descend;
  for (int n = 0; n <= 4; ++n) {
    for (int v = 0; v <= 4; ++v) {
      for (const auto order : {Descend::Order::descend, Descend::Order::ascend}) {
        const Descend descend(n, v, order);
        const std::uint64_t m = std::uint64_t{1} << (n + v), per_node = std::uint64_t{1} << v;
        const auto place = [&](std::uint64_t x) {
          const std::uint64_t i = x >> v;
          return Place{i ^ (i >> 1), x & (per_node - 1)};
        };
        Numbers numbers(descend);
        std::vector<std::uint64_t> expected(m);
        for (std::uint64_t x = 0; x < m; ++x) expected[x] = numbers.at(place(x));
        for (int t = 0; t < n + v; ++t) {
          const int b = order == Descend::Order::descend ? n + v - 1 - t : t;
          const std::uint64_t s = std::uint64_t{1} << b;
          const auto old = expected;
          for (std::uint64_t x = 0; x < m; ++x) {
            expected[x] = Numbers::f(b, old[x], old[(x + s) % m], old[(x + m - s) % m]);
          }
        }
        Machine(descend).run(numbers);
        for (std::uint64_t x = 0; x < m; ++x) ASSERT_EQ(numbers.at(place(x)), expected[x]) << n << " " << v;
      }
    }
  }
}

TEST(Machine, WhatAProgramThrowsComesOut) {
  const schedule::Exchange exchange(3, schedule::Exchange::Kind::transposition);
  class Failing : public Numbers {
   public:
    using Numbers::Numbers;
    void receive(const schedule::Message& message, std::uint64_t step, Payload&) override {
      if (step == 2 && message.to.node == 5) throw std::runtime_error("processor 5");
    }
  } failing(exchange);
  EXPECT_THROW(Machine(exchange).run(failing), std::runtime_error);
}

TEST(Machine, StopsWhenAsked) {
  const schedule::Exchange exchange(6, schedule::Exchange::Kind::transposition);
  std::stop_source stop;
  class Stopping : public Numbers {
   public:
    Stopping(const Schedule& schedule, std::stop_source& source) : Numbers(schedule), source_(source) {}
    void receive(const schedule::Message&, std::uint64_t step, Payload&) override {
      EXPECT_LT(step, 20U);  // neighbours are at most a step apart, any two at most six
      if (step == 10) source_.request_stop();
    }

   private:
    std::stop_source& source_;
  } stopping(exchange, stop);
  EXPECT_THROW(Machine(exchange).run(stopping, stop.get_token()), Cancelled);
}

}  // namespace
}  // namespace xorder::machine
