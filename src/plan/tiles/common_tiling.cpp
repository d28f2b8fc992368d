#include "plan/tiles/common_tiling.hpp"

#include <bit>

namespace xorder::plan {

using gf2::AffineMap;
using gf2::BitMatrix;
using gf2::Subspace;
using gf2::Word;
using std::uint64_t;

namespace {

// Grows a subspace to what a common tile needs.
class Growth {
 public:
  Growth(const AffineMap& map, int p)
      : map_(map), inverse_(map.matrix.inverse().value()), block_bits_(map.bits() - p), p_(p) {}

  Subspace space;

  void add(Word x) {
    space.add(x);
    sources_.add(x >> block_bits_);
    targets_.add(map_.matrix(x) >> block_bits_);
  }
  void add_source_bit(int i) { add(gf2::unit(i)); }
  void add_target_bit(int i) { add(inverse_.column(i)); }

  // Adds the fewest vectors that give every rank a part, before and after.
  void reach_all_ranks() {
    while (sources_.dimension() < p_ || targets_.dimension() < p_) {
      const Word source = sources_.dimension() < p_ ? first_new(true) : 0;
      const Word target = targets_.dimension() < p_ ? first_new(false) : 0;
      // One that serves both; if neither does, their sum does.
      if (source == 0 || reaches(sources_, target)) {
        add(target);
      } else if (target == 0 || reaches(targets_, map_.matrix(source))) {
        add(source);
      } else {
        add(source ^ target);
      }
    }
  }

 private:
  bool reaches(const Subspace& ranks, Word x) const { return !ranks.contains(x >> block_bits_); }
  Word first_new(bool source) const {
    for (int i = block_bits_; i < map_.bits(); ++i) {
      if (reaches(source ? sources_ : targets_, gf2::unit(i)))
        return source ? gf2::unit(i) : inverse_.column(i);
    }
    return 0;
  }

  const AffineMap& map_;
  BitMatrix inverse_;
  int block_bits_, p_;
  Subspace sources_, targets_;  // the top p bits of the members, and of their images
};

int longest_run(const BitMatrix& basis) {
  int bits = 0;
  while (bits < basis.cols() && basis.column(bits) == gf2::unit(bits)) ++bits;
  return bits;
}

}  // namespace

std::optional<Subspace> common_space(const AffineMap& map, int p, int m, int s, int t) {
  Growth growth(map, p);
  const int wanted = m + p;
  for (int i = 0; i < s; ++i) growth.add_source_bit(i);
  for (int i = 0; i < t; ++i) growth.add_target_bit(i);
  if (growth.space.dimension() > wanted) return std::nullopt;
  growth.reach_all_ranks();
  if (growth.space.dimension() > wanted) return std::nullopt;
  // The dimensions that are left make runs longer, the shorter one first.
  while (growth.space.dimension() < wanted) {
    if (s <= t || t == map.bits())
      growth.add_source_bit(s++);
    else
      growth.add_target_bit(t++);
  }
  return std::move(growth.space);
}

CommonTiling::CommonTiling(AffineMap map, int p, const Subspace& s)
    : map_(std::move(map)), block_bits_(map_.bits() - p), target_space_(s.image(map_.matrix)) {
  // The p vectors with the highest pivots have one bit of the rank each, because the basis is reduced.
  const auto split = [&](const Subspace& space, BitMatrix& basis, BitMatrix& shifts) {
    std::vector<Word> low, high;
    for (const Word vector : space.basis()) {
      if (vector >> block_bits_ == 0)
        low.push_back(vector);
      else
        high.push_back(vector & gf2::low_mask(block_bits_));
    }
    basis = BitMatrix(block_bits_, std::move(low));
    shifts = BitMatrix(block_bits_, std::move(high));
  };
  split(s, source_basis_, source_shifts_);
  split(target_space_, target_basis_, target_shifts_);
  std::vector<Word> units;
  for (int i = 0; i < block_bits_; ++i) {
    if (!(s.pivots() >> i & 1)) units.push_back(gf2::unit(i));
  }
  tile_units_ = BitMatrix(block_bits_, std::move(units));
  std::vector<Word> columns;
  for (const Word vector : s.basis()) columns.push_back(coordinates(map_.matrix(vector)));
  matrix_ = BitMatrix(s.dimension(), std::move(columns));
  source_run_ = longest_run(source_basis_);
  target_run_ = longest_run(target_basis_);
}

// The coordinates of a member of a coset of A S, relative to the coset's reduced member: each is the bit at
// its vector's pivot.
Word CommonTiling::coordinates(Word image) const {
  Word result = 0;
  int i = 0;
  for (Word pivots = target_space_.pivots(); pivots != 0; pivots &= pivots - 1, ++i)
    result |= (image >> std::countr_zero(pivots) & 1) << i;
  return result;
}

Word CommonTiling::first_of(uint64_t tile) const { return tile_units_(tile); }
Word CommonTiling::image_of(uint64_t tile) const { return map_(first_of(tile)); }

AffineMap CommonTiling::within(uint64_t tile) const { return {matrix_, coordinates(image_of(tile))}; }

Word CommonTiling::source_base(uint64_t tile, uint64_t rank) const {
  return first_of(tile) ^ source_shifts_(rank);
}

Word CommonTiling::target_base(uint64_t tile, uint64_t rank) const {
  return target_space_.reduce(image_of(tile)) ^ target_shifts_(rank);
}

}  // namespace xorder::plan
