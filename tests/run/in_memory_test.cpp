#include "xorder/run/in_memory.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "plan/reference.hpp"

namespace xorder::run {
namespace {

std::vector<std::byte> random_bytes(test::Random& random, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  return bytes;
}

std::vector<std::byte> reference(const Reordering& what, const std::vector<std::byte>& source) {
  std::vector<std::byte> target(source.size());
  const std::size_t w = what.element_bytes;
  for (std::uint64_t x = 0; x < what.elements(); ++x) {
    std::memcpy(target.data() + what.target_index(x) * w, source.data() + x * w, w);
  }
  return target;
}

TEST(InMemory, DoesWhatTheDefinitionSays) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 120; ++i) {
    const Reordering what = test::random_reordering(random, 4);
    const auto source = random_bytes(random, what.bytes());
    std::vector<std::byte> target(source.size());
    permute(what, source.data(), target.data(), random.in(0u, 3u));
    ASSERT_EQ(target, reference(what, source)) << "case " << i;
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
    ASSERT_EQ(target, reference(what, source));
  }
}

}  // namespace
}  // namespace xorder::run
