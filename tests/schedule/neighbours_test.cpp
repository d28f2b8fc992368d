#include "schedule/descend/neighbours.hpp"

#include <gtest/gtest.h>

#include "xorder/schedule/check.hpp"

namespace xorder::schedule {
namespace {

// Over one link each, none used twice, and as many elements as the iterations reach beyond a block.
TEST(Neighbours, SendWhatIterationsWithinBlocksReachBeyondThem) {
  for (int n = 0; n <= 5; ++n) {
    for (int v = 0; v <= 7; ++v) {
      for (const int lg_run : {0, 2, 9}) {
        for (const Reads& reads : {Reads{}, Reads{~std::uint64_t{0}, 0}, Reads{0, 5}}) {
          const auto iterations = Recurrence::all(v, 0, true, reads).iterations;
          const Neighbours neighbours(n, iterations, lg_run);
          EXPECT_EQ(check(neighbours).conflicts + check(neighbours).broken, 0U);
          const std::vector<std::uint64_t> bytes = neighbours.place_bytes(3);
          std::uint64_t sent = 0, reached = 0;
          std::vector<Message> messages;
          for (std::uint64_t step = 0; step < neighbours.steps(); ++step) {
            neighbours.messages(step, messages);
            EXPECT_EQ(neighbours.load(step), neighbours.Schedule::load(step));
            EXPECT_EQ(neighbours.load(step).crossings, neighbours.load(step).messages);
            for (const Message& m : messages) sent += bytes[m.from.node * neighbours.slots() + m.from.slot];
          }
          for (const auto& [b, plus, minus] : iterations)
            reached += ((plus ? 1U : 0U) + (minus ? 1U : 0U)) * (std::uint64_t{3} << b << n);
          EXPECT_EQ(sent, n == 0 ? 0 : reached) << n << " " << v << " " << lg_run;
        }
      }
    }
  }
}

}  // namespace
}  // namespace xorder::schedule
