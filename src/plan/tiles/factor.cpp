#include "plan/tiles/factor.hpp"

#include "gf2/subspace.hpp"

namespace xorder::plan {

using gf2::AffineMap;
using gf2::BitMatrix;
using gf2::Subspace;
using gf2::unit;
using gf2::Word;

int pass_count(const AffineMap& map, int b, int m) {
  const int rank = gf2::rank_gamma(map.matrix, b);
  return rank == 0 ? 1 : (rank + (m - b) - 1) / (m - b);
}

namespace {

// W = C + (r − t vectors of E_b) + (t vectors of A⁻¹E_b), where C = E_b ∩ A⁻¹E_b and r = rank γ_b: a
// b-dimensional space from which E_b is t dimensions away and A⁻¹E_b is r − t. Vectors are taken from the
// reduced bases of both spaces, so that where these consist of unit vectors, W does too.
Subspace stepping_stone(const AffineMap& map, int b, int t) {
  const Subspace here = Subspace::low_bits(b);
  const Subspace there = here.image(map.inverse().matrix);
  Subspace w = intersection(here, there);
  int from_here = b - w.dimension() - t;
  for (const Word v : here.basis()) {
    if (from_here > 0 && w.add(v)) --from_here;
  }
  for (const Word v : there.basis()) {
    if (w.dimension() < b) w.add(v);
  }
  return w;
}

// A nonsingular A₁ with A₁W = E_b. What W and E_b share stays where it is. The rest of W's basis and the unit
// vectors that complete it trade places with the rest of E_b. If W is spanned by unit vectors, A₁ maps unit
// vectors to unit vectors.
BitMatrix bring_low(const Subspace& w, int b, int n) {
  const Subspace shared = intersection(w, Subspace::low_bits(b));
  std::vector<Word> from = shared.basis();  // a basis of the whole space, W's first ..
  std::vector<Word> to = from;              // .. and its images
  Subspace from_span = shared, to_span = shared;
  const auto pair = [&](Word x, Word y) {
    from.push_back(x);
    to.push_back(y);
    from_span.add(x);
    to_span.add(y);
  };
  std::vector<Word> vacated;  // unit vectors of E_b that W does not reach, to be filled by the rest of W
  {
    Subspace reached = shared;
    for (int i = 0; i < b; ++i) {
      if (reached.add(unit(i))) vacated.push_back(unit(i));
    }
  }
  std::size_t next = 0;
  for (const Word v : w.basis()) {
    if (!from_span.contains(v)) pair(v, vacated[next++]);
  }
  // Unit vectors beyond E_b that are free on both sides stay. The others are matched in order.
  for (int i = b; i < n; ++i) {
    if (!from_span.contains(unit(i)) && !to_span.contains(unit(i))) pair(unit(i), unit(i));
  }
  for (int i = 0, j = 0; i < n; ++i) {
    if (from_span.contains(unit(i))) continue;
    while (to_span.contains(unit(j))) ++j;
    pair(unit(i), unit(j));
  }
  return BitMatrix(n, std::move(to)) * BitMatrix(n, std::move(from)).inverse().value();
}

}  // namespace

std::vector<AffineMap> factor(const AffineMap& map, int b, int m) {
  std::vector<AffineMap> factors;
  AffineMap rest = map;
  const int t = m - b;
  while (gf2::rank_gamma(rest.matrix, b) > t) {
    const AffineMap first{bring_low(stepping_stone(rest, b, t), b, map.bits()), 0};
    rest = rest * first.inverse();
    factors.push_back(first);
  }
  factors.push_back(rest);
  return factors;
}

}  // namespace xorder::plan
