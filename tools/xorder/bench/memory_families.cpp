#include "bench/memory.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "xorder/permutation/bmmc.hpp"

namespace xorder::cli {
namespace {

using std::uint64_t;

gf2::AffineMap random_nonsingular(int n) {
  std::mt19937_64 random(7);
  for (;;) {
    std::vector<gf2::Word> columns;
    for (int i = 0; i < n; ++i) columns.push_back(random() & gf2::low_mask(n));
    const gf2::BitMatrix a(n, columns);
    if (a.rank() == n) return {a, random() & gf2::low_mask(n)};
  }
}

}  // namespace

std::vector<MemoryFamily> memory_families(uint64_t bytes, uint64_t width) {
  const uint64_t n = std::max<uint64_t>(1, bytes / width);
  const int bits = std::bit_width(n) - 1;
  const uint64_t side = uint64_t{1} << (bits / 2), other = (uint64_t{1} << bits) / side;
  const auto matrix = [&](uint64_t rows, uint64_t columns) {
    return transposition({{std::max<uint64_t>(1, rows), std::max<uint64_t>(1, columns)}, width, Order::c},
                         {});
  };
  const auto map = [&](const gf2::AffineMap& m) {
    return mapping_of_all({{uint64_t{1} << m.bits()}, width, Order::c}, m);
  };
  const auto e = std::max<uint64_t>(1, static_cast<uint64_t>(std::pow(static_cast<double>(n), 0.25) + 1e-6));
  const auto axes = [&](const std::vector<int>& order) {
    return transposition({{e, e, e, e}, width, Order::c}, order);
  };
  const auto batch = [&](uint64_t rows, uint64_t columns) {
    return transposition({{std::max<uint64_t>(1, n / (rows * columns)), rows, columns}, width, Order::c},
                         std::vector<int>{0, 2, 1});
  };
  const uint64_t many = std::max<uint64_t>(1, n / (7 * 5 * 3));
  return {{"transpose", "2^a × 2^b transposed", matrix(side, other)},
          {"odd", "odd extents transposed", matrix(side - side / 16 - 1, other - other / 32 - 1)},
          {"Nx16", "N × 16 transposed", matrix(n / 16, 16)},
          {"16xN", "16 × N transposed", matrix(16, n / 16)},
          {"Nx13", "N × 13 transposed", matrix(n / 13, 13)},
          {"13xN", "13 × N transposed", matrix(13, n / 13)},
          {"Nx3", "N × 3 transposed", matrix(n / 3, 3)},
          {"3xN", "3 × N transposed", matrix(3, n / 3)},
          {"axes3210", "4 axes, order 3 2 1 0", axes({3, 2, 1, 0})},
          {"axes0213", "4 axes, order 0 2 1 3", axes({0, 2, 1, 3})},
          {"axes1032", "4 axes, order 1 0 3 2", axes({1, 0, 3, 2})},
          {"axes0132", "4 axes, order 0 1 3 2", axes({0, 1, 3, 2})},
          {"axes2301", "4 axes, order 2 3 0 1", axes({2, 3, 0, 1})},
          {"Nx4x4", "many 4 × 4 transposed", batch(4, 4)},
          {"Nx13x13", "many 13 × 13 transposed", batch(13, 13)},
          {"Nx7x5x3", "N × 7 × 5 × 3, order 2 0 3 1",
           transposition({{many, 7, 5, 3}, width, Order::c}, std::vector<int>{2, 0, 3, 1})},
          {"Nx8reversed", "an odd number of bit reversals of 8",
           mapping_along({{(n / 8 - 1) | 1, 8}, width, Order::c}, 1, bmmc::bit_reverse(3))},
          {"bitreverse", "bit-reversed", map(bmmc::bit_reverse(bits))},
          {"gray", "Gray code", map(bmmc::gray(bits))},
          {"shuffle", "shuffle", map(bmmc::shuffle(bits))},
          {"morton", "Morton order", map(bmmc::morton(bits & ~1, 2))},
          {"random", "a random matrix over GF(2)", map(random_nonsingular(bits))}};
}

}  // namespace xorder::cli
