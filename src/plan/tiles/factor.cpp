#include "plan/tiles/factor.hpp"

#include <algorithm>

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

// A nonsingular A₁ with A₁W = E_b, which is its own inverse. What W and E_b share stays where it is, and so
// does a complement of W + E_b, which is spanned by unit vectors. The rest of W's basis and that of E_b's
// change places. If W is spanned by unit vectors, A₁ maps unit vectors to unit vectors.
BitMatrix bring_low(const Subspace& w, int b, int n) {
  const Subspace shared = intersection(w, Subspace::low_bits(b));
  std::vector<Word> from = shared.basis();  // a basis of the whole space ..
  std::vector<Word> to = from;              // .. and its images
  const auto pair = [&](Word x, Word y) {
    from.push_back(x);
    to.push_back(y);
  };
  Subspace reached = shared, all = Subspace::low_bits(b);
  int vacated = 0;  // unit vectors of E_b that W does not reach are filled by the rest of W
  for (const Word v : w.basis()) {
    if (!all.add(v)) continue;
    while (!reached.add(unit(vacated))) ++vacated;
    pair(v, unit(vacated));
    pair(unit(vacated), v);
  }
  for (int i = b; i < n; ++i) {
    if (all.add(unit(i))) pair(unit(i), unit(i));
  }
  return BitMatrix(n, std::move(to)) * BitMatrix(n, std::move(from)).inverse().value();
}

// Brings rank γ_b down, by at most m − b at a time, until it is at most this.
std::vector<AffineMap> factor_down_to(int most, const AffineMap& map, int b, int m) {
  std::vector<AffineMap> factors;
  AffineMap rest = map;
  for (int rank = gf2::rank_gamma(map.matrix, b); rank > most;) {
    const int step = std::min(m - b, rank);
    const AffineMap first{bring_low(stepping_stone(rest, b, step), b, map.bits()), 0};
    rest = rest * first.inverse();
    rank -= step;
    factors.push_back(first);
  }
  factors.push_back(rest);
  return factors;
}

}  // namespace

std::vector<AffineMap> factor(const AffineMap& map, int b, int m) {
  return factor_down_to(m - b, map, b, m);
}

std::vector<AffineMap> factor_in_place(const AffineMap& map, int b, int m) {
  return factor_down_to(0, map, b, m);
}

}  // namespace xorder::plan
