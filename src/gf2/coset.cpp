#include "gf2/coset.hpp"

namespace xorder::gf2 {

int tile_bits(const AffineMap& map, int source_low, int target_low) {
  return tile_bits(map.inverse().matrix, source_low, target_low);
}

int tile_bits(const BitMatrix& inverse, int source_low, int target_low) {
  Subspace s = Subspace::low_bits(source_low);
  for (int i = 0; i < target_low; ++i) s.add(inverse.column(i));
  return s.dimension();
}

namespace {

// e_0 .. e_(low−1), followed by the independent ones of `others` in their order, with their low bits cleared.
std::vector<Word> block_basis(int low, const std::vector<Word>& others) {
  Subspace span = Subspace::low_bits(low);
  std::vector<Word> basis = span.basis();
  for (const Word v : others) {
    const Word high = v & ~low_mask(low);
    if (span.add(high)) basis.push_back(high);
  }
  return basis;
}

std::vector<Word> first_columns(const BitMatrix& m, int count) {
  return {m.columns().begin(), m.columns().begin() + count};
}

}  // namespace

CosetTiling::CosetTiling(AffineMap map, int source_low, int target_low)
    : map_(std::move(map)),
      inverse_(map_.inverse()),
      source_low_(source_low),
      source_basis_(map_.bits(), block_basis(source_low, first_columns(inverse_.matrix, target_low))),
      target_basis_(map_.bits(), block_basis(target_low, first_columns(map_.matrix, source_low))) {
  std::vector<Word> columns;
  for (const Word b : source_basis_.columns()) columns.push_back(target_basis_.solve(map_.matrix(b)).value());
  local_map_ = BitMatrix(bits(), std::move(columns));

  const Word pivots = Subspace::span(target_basis_.columns()).pivots();
  std::vector<Word> units;
  for (int i = 0; i < map_.bits(); ++i) {
    if (!(pivots & unit(i))) units.push_back(unit(i));
  }
  tile_units_ = BitMatrix(map_.bits(), std::move(units));
}

// The basis lists A⁻¹e_0, A⁻¹e_1, .. in this order, so a sub-tile is spanned by its first vectors.
int CosetTiling::bits_of_subtile(int target_piece_low) const {
  return tile_bits(map_, source_low_, target_piece_low);
}

CosetTiling::Base CosetTiling::base(std::uint64_t index) const {
  Base base;
  base.target = tile_units_(index);
  const Word x = inverse_(base.target);
  const Word within = x & low_mask(source_low_);  // h of the element whose z is 0
  base.source = x ^ within;
  base.local_offset = local_map_(within);
  return base;
}

Word CosetTiling::source_index(const Base& base, Word h) const { return base.source ^ source_basis_(h); }
Word CosetTiling::target_index(const Base& base, Word z) const { return base.target ^ target_basis_(z); }

}  // namespace xorder::gf2
