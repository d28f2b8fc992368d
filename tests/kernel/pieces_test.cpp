#include "kernel/pieces.hpp"

#include <gtest/gtest.h>

#include <string>

#include "plan/reference.hpp"
#include "seed.hpp"

namespace xorder::kernel {
namespace {

using std::int64_t;
using std::uint64_t;
using test::Random;

std::string noise(std::size_t bytes, Random& random) {
  std::string data(bytes, '\0');
  random.fill(data.data(), bytes);
  return data;
}

std::byte* bytes_of(std::string& text) { return reinterpret_cast<std::byte*>(text.data()); }

TEST(Pieces, OfEverySizeAtEveryPitch) {
  Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 500; ++i) {
    const uint64_t bytes = random.in(1U, 70U), count = random.in(0U, 9U);
    const uint64_t to_pitch = bytes + random.in(0U, 20U), from_pitch = random.in(0U, 100U);
    const bool backwards = random.in(0, 1) == 1;
    std::string from = noise(count * from_pitch + bytes, random),
                to = noise(count * to_pitch + bytes, random);
    std::string expected = to;
    const uint64_t first = backwards && count > 0 ? (count - 1) * from_pitch : 0;
    for (uint64_t k = 0; k < count; ++k) {
      expected.replace(k * to_pitch, bytes, from, backwards ? first - k * from_pitch : k * from_pitch, bytes);
    }
    const auto pitch = static_cast<int64_t>(from_pitch);
    copy_pieces(bytes_of(to), static_cast<int64_t>(to_pitch), bytes_of(from) + first,
                backwards ? -pitch : pitch, bytes, count);
    ASSERT_EQ(to, expected) << bytes << " bytes";
  }
}

TEST(Pieces, ScatteredByAMap) {
  Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 300; ++i) {
    const int n = random.in(0, 7);
    const uint64_t bytes = random.in(1U, 70U), count = uint64_t{1} << n;
    const gf2::AffineMap map = test::random_map(random, n);
    std::string from = noise(count * bytes, random), to(from.size(), '\0'), expected = to;
    for (uint64_t k = 0; k < count; ++k) expected.replace(map(k) * bytes, bytes, from, k * bytes, bytes);
    scatter_pieces(bytes_of(to), bytes_of(from), map.matrix.columns(), map.complement, bytes);
    ASSERT_EQ(to, expected) << bytes << " bytes, n = " << n;
  }
}

}  // namespace
}  // namespace xorder::kernel
