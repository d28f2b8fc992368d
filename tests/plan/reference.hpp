// Random reorderings, and a tiling performed element by element: what plan tests compare with.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <vector>

#include "seed.hpp"
#include "xorder/gf2/affine_map.hpp"
#include "xorder/permutation/bmmc.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::test {

/// A uniformly random nonsingular map (by rejection; about 29 % of matrices are nonsingular).
inline gf2::AffineMap random_map(Random& random, int n) {
  while (true) {
    std::vector<gf2::Word> columns;
    for (int i = 0; i < n; ++i) columns.push_back(random() & gf2::low_mask(n));
    gf2::BitMatrix matrix(n, std::move(columns));
    if (matrix.rank() == n) return {matrix, random() & gf2::low_mask(n)};
  }
}

/// A map of the kinds that people use: random, named, or nearly the identity.
inline gf2::AffineMap any_map(Random& random, int n) {
  switch (random.in(0, 6)) {
    case 0:
      return bmmc::bit_reverse(n);
    case 1:
      return bmmc::gray(n);
    case 2:
      return bmmc::reverse(n);
    case 3:
      return bmmc::rotate(n, n == 0 ? 0 : random.in(0, n - 1));
    case 4: {
      const int rows = random.in(0, n);
      return bmmc::transpose(rows, n - rows);
    }
    case 5:
      return bmmc::identity(n);
    default:
      return random_map(random, n);
  }
}

/// Up to `max_rank` axes in any order, one of them perhaps mapped; up to about 2^14 elements.
inline Reordering random_reordering(Random& random, int max_rank) {
  Reordering r;
  r.element_bytes = std::vector<std::uint64_t>{1, 2, 3, 4, 8, 12, 16, 40}[random.in(std::uint64_t{0}, 7)];
  const int rank = random.in(1, max_rank);
  for (int i = 0; i < rank; ++i)
    r.extents.push_back(random.in(std::uint64_t{1}, rank == 1 ? 5000 : rank == 2 ? 90 : 14));
  r.order.resize(static_cast<std::size_t>(rank));
  std::iota(r.order.begin(), r.order.end(), 0);
  std::shuffle(r.order.begin(), r.order.end(), random);
  if (random.in(0, 1) == 0) {
    const int axis = random.in(0, rank - 1);
    const int n = random.in(0, rank == 1 ? 13 : 7);
    r.extents[static_cast<std::size_t>(axis)] = std::uint64_t{1} << n;
    r.mapped = axis;
    r.map = any_map(random, n);
  }
  return r;
}

inline std::vector<std::byte> random_bytes(Random& random, std::size_t count) {
  std::vector<std::byte> bytes(count);
  random.fill(bytes.data(), count);
  return bytes;
}

/// What comes out, by the definition.
inline std::vector<std::byte> performed(const Reordering& what, const std::vector<std::byte>& source) {
  std::vector<std::byte> target(source.size());
  const std::size_t w = what.element_bytes;
  for (std::uint64_t x = 0; x < what.elements(); ++x) {
    std::memcpy(target.data() + what.target_index(x) * w, source.data() + x * w, w);
  }
  return target;
}

inline Reordering flat(const gf2::AffineMap& map, std::uint64_t element_bytes) {
  return mapping_of_all({{std::uint64_t{1} << map.bits()}, element_bytes, Order::c}, map);
}

}  // namespace xorder::test
