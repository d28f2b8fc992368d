#include "schedule/rounds.hpp"

#include <fmt/format.h>

#include <bit>
#include <optional>

#include "schedule/bits.hpp"
#include "schedule/bounds.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {

using gf2::AffineMap;
using gf2::BitMatrix;
using gf2::unit;
using gf2::Word;
using std::size_t;
using std::vector;

namespace {

void check_processors(int n, int p) {
  if (p < 0 || p > n) {
    throw InputError(
        fmt::format("2^{} processors for 2^{} elements: each processor needs at least one", p, n));
  }
}

// A basis among a matrix's columns, those further to the right preferred.
struct ColumnBasis {
  Word members = 0;         // bit j: column j is in the basis
  vector<Word> depends_on;  // bit i of [j]: column j, not in the basis, is a sum that contains column i
};

ColumnBasis column_basis(vector<Word> columns) {
  ColumnBasis basis{0, vector<Word>(columns.size(), 0)};
  auto& depends = basis.depends_on;
  for (size_t j = columns.size(); j-- > 0;) {
    if (columns[j] == 0) continue;
    basis.members |= Word{1} << j;
    const Word lowest = columns[j] & (~columns[j] + 1);
    for (size_t k = 0; k < j; ++k) {
      if (!(columns[k] & lowest)) continue;
      columns[k] ^= columns[j];
      depends[k] ^= depends[j] ^ Word { 1 } << j;
    }
    depends[j] = 0;
  }
  return basis;
}

vector<Word> lower_rows(const BitMatrix& a, int first_row, int columns) {
  return a.block(first_row, 0, a.rows() - first_row, columns).columns();
}

vector<Word> unit_columns(int n) { return BitMatrix::identity(n).columns(); }

// T adds a left column of the basis of [γ δ], each time another one, to each right column that is not in it.
BitMatrix trailer(const BitMatrix& a, int p) {
  const int n = a.cols(), left = n - p;
  const Word members = column_basis(lower_rows(a, left, n)).members;
  vector<Word> t = unit_columns(n);
  Word spare = members & gf2::low_mask(left);
  for (int j = left; j < n; ++j) {
    if (members & unit(j)) continue;
    t[static_cast<size_t>(j)] |= spare & (~spare + 1);
    spare &= spare - 1;
  }
  return BitMatrix(n, std::move(t));
}

// The T with which δ becomes the identity, if every processor has elements for itself. In the round with γ''b
// = c_top nothing is sent then.
std::optional<BitMatrix> keeping_trailer(const AffineMap& map, int p) {
  const int n = map.bits(), left = n - p;
  const BitMatrix gamma = map.matrix.block(left, 0, p, left);
  if (!gamma.solve(map.complement >> left)) return std::nullopt;
  vector<Word> t = unit_columns(n);
  for (int i = 0; i < p; ++i) {
    const auto added = gamma.solve((map.matrix.column(left + i) >> left) ^ unit(i));
    if (!added) return std::nullopt;
    t[static_cast<size_t>(left + i)] |= *added;
  }
  return BitMatrix(n, std::move(t));
}

// Π exchanges the basis columns that are not among the last ones of the left part with the others that are.
BitMatrix swapper(Word members, int n, int left) {
  vector<Word> s = unit_columns(n);
  const int first = left - std::popcount(members);
  int out = first;
  for (int j = 0; j < first; ++j) {
    if (!(members & unit(j))) continue;
    while (members & unit(out)) ++out;
    std::swap(s[static_cast<size_t>(j)], s[static_cast<size_t>(out++)]);
  }
  return BitMatrix(n, std::move(s));
}

}  // namespace

RoundFactors factor_rounds(const AffineMap& map, int p) {
  const int n = map.bits(), left = n - p;
  check_processors(n, p);
  const BitMatrix inverse = map.inverse().matrix;  // throws if there is none
  RoundFactors f;
  f.n = n;
  f.p = p;
  f.complement = map.complement;
  const auto keeping = keeping_trailer(map, p);
  f.trailer = keeping ? *keeping : trailer(map.matrix, p);

  const ColumnBasis gamma = column_basis(lower_rows(map.matrix, left, left));
  f.rank = std::popcount(gamma.members);
  vector<Word> reducer = unit_columns(n);
  for (size_t j = 0; j < gamma.depends_on.size(); ++j) reducer[j] ^= gamma.depends_on[j];
  f.reducer = BitMatrix(n, std::move(reducer));
  f.swapper = swapper(gamma.members, n, left);

  const BitMatrix trp = f.trailer * f.reducer * f.swapper;
  f.across = map.matrix * trp;
  f.within = inverse * f.across;  // T R Π, and W is its inverse
  f.within = f.within.inverse().value();
  const int chunk = left - f.rank;
  f.alpha_1 = f.across.block(0, 0, left, chunk);
  f.alpha_2 = f.across.block(0, chunk, left, f.rank);
  f.beta = f.across.block(0, left, left, p);
  f.gamma_2 = f.across.block(left, chunk, p, f.rank);
  f.delta = f.across.block(left, left, p, p);
  f.delta_inverse = f.delta.inverse().value();
  return f;
}

BitMatrix processor_layout(int n, int p, int f) {
  check_processors(n, p);
  if (f < 0 || f > n - p) {
    const std::string possible =
        p == n ? fmt::format("has all {} bits of an index: only layout 0 fits", n)
               : fmt::format("has {} of {} bits and can begin at bit 0 to {}", p, n, n - p);
    throw InputError(fmt::format("layout {}: the processor number {}", f, possible));
  }
  vector<int> target;
  for (int i = 0; i < n; ++i) target.push_back(i < f ? i : i < f + p ? i - f + n - p : i - p);
  return BitMatrix::bit_permutation(target);
}

namespace {

AffineMap rearranged(const AffineMap& map, const BitMatrix& q) {
  return {q * map.matrix * q.inverse().value(), q(map.complement)};
}

}  // namespace

Rounds::Rounds(const AffineMap& map, int p, int f)
    : Rounds(rearranged(map, processor_layout(map.bits(), p, f)), p, processor_layout(map.bits(), p, f)) {}

Rounds::Rounds(const AffineMap& processor_major, int p, BitMatrix layout)
    : Schedule(Network::crossbar(p),
               pow2(gf2::rank_gamma(processor_major.matrix, processor_major.bits() - p)),
               pow2(gf2::rank_gamma(processor_major.matrix, processor_major.bits() - p)),
               rounds_bound(processor_major, p)),
      layout_(std::move(layout)),
      map_(processor_major),
      factors_(factor_rounds(processor_major, p)),
      before_(factors_.within.inverse().value()) {
  vector<Word> columns = factors_.delta.columns();
  for (int i = 0; i < p; ++i) columns[static_cast<size_t>(i)] ^= unit(i);
  stays_ = BitMatrix(p, std::move(columns));
  stayers_ = pow2(p - stays_.rank());
}

AffineMap Rounds::within(Node k) const {
  const BitMatrix& w = factors_.within;
  const int left = lg_block();
  return {w.block(0, 0, left, left), w.block(0, left, left, factors_.p)(k)};
}

Node Rounds::target(Node k, std::uint64_t round) const {
  return factors_.gamma_2(round) ^ factors_.delta(k) ^ (factors_.complement >> lg_block());
}

Node Rounds::source(Node k, std::uint64_t round) const {
  return factors_.delta_inverse(k ^ factors_.gamma_2(round) ^ (factors_.complement >> lg_block()));
}

AffineMap Rounds::scatter(Node sender, std::uint64_t round) const {
  const Word low = factors_.complement & gf2::low_mask(lg_block());
  return {factors_.alpha_1, factors_.alpha_2(round) ^ factors_.beta(sender) ^ low};
}

void Rounds::messages(std::uint64_t step, std::vector<Message>& out) const {
  out.clear();
  for (Node k = 0; k < network().nodes(); ++k) {
    const Node to = target(k, step);
    out.push_back({{k, step}, {to, step}, to});
  }
}

std::optional<Place> Rounds::goal(Place start) const {
  const Word first = start.node << lg_block() | start.slot << lg_chunk();
  return Place{map_(before_(first)) >> lg_block(), start.slot};
}

// k stays if δk ⊕ γ''b ⊕ c_top = k: a coset of the kernel of δ ⊕ I, or nobody.
Schedule::Load Rounds::load(std::uint64_t step) const {
  const bool some = stays_.solve(target(0, step)).has_value();
  const std::uint64_t moving = network().nodes() - (some ? stayers_ : 0);
  return {moving, moving};
}

}  // namespace xorder::schedule
