#include "xorder/memory/permute.hpp"

#include <gtest/gtest.h>

#include "plan/reference.hpp"

namespace xorder::memory {
namespace {

using test::performed;
using test::random_bytes;

TEST(InMemory, DoesWhatTheDefinitionSays) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 2000; ++i) {
    const Reordering what = test::random_reordering(random, 4);
    const auto source = random_bytes(random, what.bytes());
    std::vector<std::byte> target(source.size());
    permute(what, source.data(), target.data(), random.in(0u, 3u));
    ASSERT_EQ(target, performed(what, source)) << "case " << i << " " << InMemoryPlan(what).describe();
  }
}

TEST(InMemory, LargeMapsAndMatrices) {
  test::Random random;
  SEED_TRACE(random);
  const std::vector<Reordering> cases = {
      mapping_of_all({{std::uint64_t{1} << 20}, 8, Order::c}, test::random_map(random, 20)),
      mapping_of_all({{std::uint64_t{1} << 22}, 1, Order::c}, bmmc::bit_reverse(22)),
      transposition({{1031, 2053}, 4, Order::c}, {}),
      transposition({{3, 1031, 257, 2}, 2, Order::c}, std::vector<int>{2, 0, 3, 1}),
      mapping_along({{37, 4096, 5}, 2, Order::fortran}, 1, test::random_map(random, 12)),
  };
  for (const Reordering& what : cases) {
    const auto source = random_bytes(random, what.bytes());
    std::vector<std::byte> target(source.size());
    permute(what, source.data(), target.data());
    ASSERT_EQ(target, performed(what, source)) << InMemoryPlan(what).describe();
  }
}

}  // namespace
}  // namespace xorder::memory
