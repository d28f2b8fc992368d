#include "kernel/linear/tile_walk.hpp"

#include <algorithm>
#include <bit>

#include "gf2/left_inverse.hpp"

namespace xorder::kernel {
namespace {

using gf2::BitMatrix;
using gf2::Subspace;
using gf2::Word;

// Pages of 4 KiB, pages of 2 MiB, and the whole array.
constexpr int lg_pages[] = {12, 21, 63};

// Tiles side by side in the source that come first, at most. In large arrays, as many as a page holds would
// be too many.
constexpr int lg_most_ahead = 5;

}  // namespace

TileWalk::TileWalk(const BitMatrix& map, Word complement, TileShape shape, std::uint64_t element_bytes)
    : space_(Subspace::low_bits(shape.source_bits)), complement_(complement) {
  const BitMatrix inverse = gf2::left_inverse(map);
  for (int i = 0; i < shape.target_bits; ++i) space_.add(inverse.column(i));
  tile_bits_ = space_.dimension();
  Subspace span = space_;
  const auto add = [&](Word x) {
    x &= ~gf2::low_mask(shape.source_bits);
    if (span.add(x)) basis_.push_back({x, map(x)});
  };
  const bool onto = map.rows() == map.cols();
  const int lg_element = static_cast<int>(std::bit_width(element_bytes)) - 1;
  for (const int lg_page : lg_pages) {
    const int bits = std::max(0, lg_page - lg_element);
    // Not too far along the source's page: each tile there writes to other pages of the target.
    const int source_bits = lg_page == lg_pages[0] ? std::min(bits, shape.source_bits + lg_most_ahead) : bits;
    for (int i = shape.source_bits; i < std::min(source_bits, map.cols()); ++i) add(gf2::unit(i));
    for (int i = shape.target_bits; i < std::min(bits, map.rows()); ++i) {
      if (onto || map(inverse.column(i)) == gf2::unit(i)) add(inverse.column(i));
    }
  }
  Step sum{0, 0};
  for (const Step& b : basis_) {
    sum.source ^= b.source;
    sum.target ^= b.target;
    steps_.push_back(sum);
  }
}

BitMatrix TileWalk::indices() const {
  std::vector<Word> columns;
  for (const Step& b : basis_) columns.push_back(b.source);
  for (const Word v : space_.basis()) columns.push_back(v);
  const int n = static_cast<int>(columns.size());
  return BitMatrix(n, columns).inverse()->block(0, 0, static_cast<int>(basis_.size()), n);
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

}  // namespace xorder::kernel
