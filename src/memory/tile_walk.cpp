#include "memory/tile_walk.hpp"

#include <algorithm>

namespace xorder::memory {
namespace {

// Pages of 4 KiB, pages of 2 MiB, and the whole array.
constexpr int lg_pages[] = {12, 21, 63};

}  // namespace

TileWalk::TileWalk(const gf2::AffineMap& map, int source_bits, int target_bits, std::uint64_t element_bytes)
    : complement_(map.complement) {
  const gf2::BitMatrix inverse = *map.matrix.inverse();
  gf2::Subspace span = gf2::Subspace::low_bits(source_bits);
  for (int i = 0; i < target_bits; ++i) span.add(inverse.column(i));
  tile_bits_ = span.dimension();
  space_ = span;
  const auto add = [&](gf2::Word x) {
    x &= ~gf2::low_mask(source_bits);
    if (!span.add(x)) return;
    basis_.push_back({x, map.matrix(x)});
  };
  const int lg_element = static_cast<int>(std::bit_width(element_bytes)) - 1;
  for (const int lg_page : lg_pages) {
    const int bits = std::clamp(lg_page - lg_element, 0, map.bits());
    for (int i = source_bits; i < bits; ++i) add(gf2::unit(i));
    for (int i = target_bits; i < bits; ++i) add(inverse.column(i));
  }
  Step sum{0, 0};
  for (const Step& b : basis_) {
    sum.source ^= b.source;
    sum.target ^= b.target;
    steps_.push_back(sum);
  }
}

gf2::BitMatrix TileWalk::indices() const {
  std::vector<gf2::Word> columns;
  for (const Step& b : basis_) columns.push_back(b.source);
  for (const gf2::Word v : space_.basis()) columns.push_back(v);
  const int n = static_cast<int>(columns.size());
  return gf2::BitMatrix(n, columns).inverse()->block(0, 0, static_cast<int>(basis_.size()), n);
}

gf2::Word TileWalk::varying() const {
  gf2::Word all = complement_;
  for (const Step& b : basis_) all |= b.target;
  return all;
}

TileWalk::Place TileWalk::at(std::uint64_t index) const {
  Place place{index, 0, complement_};
  for (std::uint64_t bits = index; bits != 0; bits &= bits - 1) {
    const Step& b = basis_[static_cast<std::size_t>(std::countr_zero(bits))];
    place.source ^= b.source;
    place.target ^= b.target;
  }
  return place;
}

}  // namespace xorder::memory
