// Plans of what goes through a schedule in stripes: exchange, mesh and banded.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <set>
#include <string>

#include "plan/bands/band_exchange.hpp"
#include "plan/processors/block_exchange.hpp"
#include "plan/processors/processor_setting.hpp"
#include "plan/reference.hpp"
#include "seed.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/bmmc.hpp"

namespace xorder::plan {
namespace {

using std::uint64_t;
using test::Random;
using test::with_processors;

std::string noise(uint64_t bytes, Random& random) {
  std::string data(bytes, '\0');
  random.fill(data.data(), bytes);
  return data;
}

std::string reordered(const Reordering& what, const std::string& data) {
  std::string out(data.size(), '\0');
  for (uint64_t x = 0; x < what.elements(); ++x) {
    std::memcpy(out.data() + what.target_index(x) * what.element_bytes, data.data() + x * what.element_bytes,
                what.element_bytes);
  }
  return out;
}

/// Every run put where the plan says, stripe by stripe; the parts of a panel end at one processor, each
/// elsewhere.
std::string exchanged(const StripePlan& plan, const std::string& scratch) {
  std::string out(scratch.size(), '\0');
  const StripeGeometry& geometry = *plan.geometry;
  std::set<std::pair<uint64_t, uint64_t>> begins, ends;
  std::vector<StripeGeometry::Runs> runs;
  for (const StripeGeometry::Panel& panel : geometry.panels()) {
    for (const StripeGeometry::Part& part : panel.parts) {
      const auto goal = plan.schedule->goal(part.from);
      EXPECT_TRUE(goal.has_value());
      EXPECT_TRUE(begins.emplace(part.from.node, part.from.slot).second);
      EXPECT_TRUE(ends.emplace(goal->node, goal->slot).second);
      for (uint64_t first = 0; first < panel.rows; first += plan.rows) {
        const uint64_t end = std::min(panel.rows, first + plan.rows);
        uint64_t from = part.scratch + geometry.before(part, first);
        geometry.runs(part, first, end, runs);
        for (const auto& [position, bytes, count] : runs) {
          for (uint64_t y = 0; y < count; ++y, from += bytes) {
            out.replace(panel.target + position + y * panel.row_bytes, bytes, scratch, from, bytes);
          }
        }
        EXPECT_EQ(from, part.scratch + geometry.before(part, end));
      }
    }
  }
  return out;
}

TEST(ExchangePlan, TransposesAndReversesBits) {
  Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 60; ++i) {
    const int r = random.in(1, 6), c = random.in(1, 6);
    const uint64_t bytes = random.in(1U, 5U), processors = uint64_t{1} << random.in(0, std::min(r, c));
    const Reordering what =
        i % 2 == 0 ? transposition({{uint64_t{1} << r, uint64_t{1} << c}, bytes, Order::c}, {})
                   : mapping_of_all({{uint64_t{1} << (r + c)}, bytes, Order::c}, bmmc::bit_reverse(r + c));
    const ExchangePlan plan = plan_exchange(what, with_processors(processors));
    const std::string data = noise(what.bytes(), random);
    ASSERT_EQ(exchanged(plan.stripes, reordered(plan.within, data)), reordered(what, data)) << r << " " << c;
    EXPECT_EQ(plan.stripes.schedule->network().nodes(), processors);
  }
}

TEST(MeshPlan, TransposesAnyMatrix) {
  Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 60; ++i) {
    const uint64_t rows = random.in(2U, 60U), columns = random.in(2U, 60U), bytes = random.in(1U, 5U);
    const uint64_t side = random.in(uint64_t{1}, std::min({rows, columns, uint64_t{8}}));
    const Reordering what = transposition({{rows, columns}, bytes, Order::c}, {});
    const MeshPlan plan =
        plan_mesh(what, schedule::Mesh::Routing::any, random.in(0, 1) == 1, with_processors(side * side));
    const std::string data = noise(what.bytes(), random);
    const BlockMatrix& m = plan.within;
    std::string scratch(data.size(), '\0');
    for (uint64_t y = 0; y < rows; ++y) {
      for (uint64_t x = 0; x < columns; ++x) {
        uint64_t a = 0, b = 0;
        while (m.row(a + 1) <= y) ++a;
        while (m.column(b + 1) <= x) ++b;
        const uint64_t within = (x - m.column(b)) * (m.row(a + 1) - m.row(a)) + y - m.row(a);
        scratch.replace(m.scratch(a, b) + within * bytes, bytes, data, (y * columns + x) * bytes, bytes);
      }
    }
    ASSERT_EQ(exchanged(plan.stripes, scratch), reordered(what, data))
        << rows << " x " << columns << ", " << side;
  }
}

TEST(BandExchangePlan, TransposesAnyBand) {
  Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 100; ++i) {
    Band band;
    band.n = random.in(1U, 60U);
    band.lower = random.in(uint64_t{0}, band.n - 1);
    band.upper = random.in(uint64_t{0}, band.n - 1 - band.lower);
    band.cyclic = random.in(0, 1) == 1;
    if (random.in(0, 1) == 1) band.order = BandOrder::rows;
    const uint64_t bytes = random.in(1U, 5U);
    const uint64_t processors = uint64_t{1} << random.in(0, static_cast<int>(std::bit_width(band.n)) - 1);
    const BandExchangePlan plan = plan_band_exchange({band}, bytes, with_processors(processors, 64 * MiB));
    const std::string data = noise(band.places() * bytes, random);
    std::string scratch(data.size(), '\0'), expected(data.size(), '\0');
    std::array<BandGeometry::Diagonal, 3> space;
    for (uint64_t c = 0; c < processors; ++c) {
      uint64_t to = plan.geometry->begin(c);
      for (const BandGeometry::Sent& sent : plan.geometry->sent_by(c)) {
        ASSERT_EQ(to, sent.part.scratch);
        for (uint64_t y = 0; y < sent.rows; ++y) {
          for (const auto& [source, count] : plan.geometry->diagonals(sent.part, y, space)) {
            for (uint64_t k = 0; k < count; ++k, to += bytes) {
              scratch.replace(to, bytes, data, source + k * plan.geometry->pitch(sent.part), bytes);
            }
          }
        }
        ASSERT_EQ(to, sent.part.scratch + sent.bytes);
      }
    }
    for (uint64_t place = 0; place < band.places(); ++place) {
      if (const auto source = band.source(place))
        expected.replace(place * bytes, bytes, data, *source * bytes, bytes);
    }
    ASSERT_EQ(exchanged(plan.stripes, scratch), expected) << band.n << " " << band.lower << " " << band.upper;
  }
}

TEST(StripePlan, KeepsWithinTheMemory) {
  Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 100; ++i) {
    const uint64_t memory = (16 * MiB) << random.in(0, 6);
    const int r = random.in(1, 18), c = random.in(1, 18);
    const Reordering what = transposition({{uint64_t{1} << r, uint64_t{1} << c}, 8, Order::c}, {});
    const StripePlan plan = plan_exchange(what, with_processors({}, memory)).stripes;
    EXPECT_LE(plan.pass.memory, memory);
    EXPECT_EQ(plan.pass.bytes_written, what.bytes());
    EXPECT_GT(plan.pass.predicted_seconds, 0);
    EXPECT_GE(plan.stripes() * plan.rows, plan.most_rows);
  }
  // A stripe that has the memory for itself is not divided if it is small or messages are timed, whatever its
  // number of rows.
  for (int i = 0; i < 300; ++i) {
    const uint64_t memory = (16 * MiB) << random.in(0, 3), side = random.in(2u, 6u);
    ProcessorSetting given = with_processors(side * side, memory);
    if (i % 2 == 0) given.link_times = schedule::LinkTimes{};
    const uint64_t longest = given.link_times ? 3000 : 1400;
    const Reordering what = transposition(
        {{random.in(uint64_t{300}, longest), random.in(uint64_t{300}, longest)}, 8, Order::c}, {});
    const StripePlan plan = plan_mesh(what, schedule::Mesh::Routing::any, false, given).stripes;
    EXPECT_LE(plan.pass.memory, memory);
    EXPECT_TRUE(plan.stripes() == 1 || 3 * what.bytes() > memory);
  }
}

// Fresh memory takes time: with more memory a plan is never slower, and a large array is not held in it.
TEST(StripePlan, MoreMemoryIsTakenOnlyWhereItGains) {
  Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 100; ++i) {
    const int r = random.in(10, 17), c = random.in(10, 17);
    const Reordering what = transposition({{uint64_t{1} << r, uint64_t{1} << c}, 8, Order::c}, {});
    const auto with = [&](uint64_t memory) {
      return plan_exchange(what, with_processors({}, memory)).stripes.pass;
    };
    double least = with(64 * MiB).predicted_seconds;
    for (uint64_t memory = 128 * MiB; memory <= 64 * GiB; memory *= 2) {
      const PassSummary pass = with(memory);
      // Other memory has stripes of other sizes, and more threads for transfers.
      EXPECT_LE(pass.predicted_seconds, 1.1 * least + 0.05) << memory;
      if (what.bytes() >= 256 * MiB) {
        EXPECT_LE(pass.memory, what.bytes() / 2);
      }
      least = std::min(least, pass.predicted_seconds);
    }
  }
}

// Blocks that stop on their way lie in memory there. With routing any none does, on a mesh.
TEST(StripePlan, HasRoomForWhatStopsOnItsWay) {
  const Reordering what = transposition({{512, 512}, 8, Order::c}, {});
  const auto memory = [&](schedule::Mesh::Routing routing, bool torus) {
    const StripePlan plan = plan_mesh(what, routing, torus, with_processors(64, 64 * MiB)).stripes;
    EXPECT_EQ(plan.stripes(), 1u);
    return plan.pass.memory;
  };
  using Routing = schedule::Mesh::Routing;
  const uint64_t in_one_message = memory(Routing::any, false);
  EXPECT_GE(memory(Routing::xy, false), in_one_message + what.bytes());
  EXPECT_GE(memory(Routing::recursive, false), in_one_message + what.bytes());
  EXPECT_GE(memory(Routing::any, true), in_one_message + what.bytes());
}

TEST(ProcessorSetting, WhatAScheduleCannotDo) {
  const Reordering odd = transposition({{63, 32}, 8, Order::c}, {}),
                   gray = mapping_of_all({{64}, 8, Order::c}, bmmc::gray(6));
  EXPECT_THROW(plan_exchange(odd, with_processors({})), InputError);
  EXPECT_THROW(plan_exchange(gray, with_processors({})), InputError);
  EXPECT_THROW(plan_mesh(gray, schedule::Mesh::Routing::any, false, with_processors({})), InputError);
  EXPECT_THROW(plan_mesh(odd, schedule::Mesh::Routing::any, false, with_processors(8)), InputError);
  EXPECT_THROW(plan_mesh(odd, schedule::Mesh::Routing::any, false, with_processors(33 * 33)), InputError);
  EXPECT_THROW(wanted_lg(3, 8, "elements"), InputError);
  EXPECT_THROW(wanted_lg(16, 8, "elements"), InputError);
  EXPECT_EQ(wanted_lg(8, 8, "elements"), 3);
  EXPECT_EQ(wanted_lg(std::nullopt, 8, "elements"), std::nullopt);
}

}  // namespace
}  // namespace xorder::plan
