#include "kernel/micro_tiles.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "xorder/gf2/subspace.hpp"

namespace xorder::kernel {
namespace {

using gf2::BitMatrix;
using gf2::Subspace;
using gf2::Word;

// { h : L h ∈ E_bits }, each basis vector with its image.
std::vector<MicroTiles::Step> preimage(const BitMatrix& map, int bits) {
  const Subspace image = Subspace::low_bits(map.cols()).image(map);
  std::vector<MicroTiles::Step> basis;
  const Subspace reached = intersection(image, Subspace::low_bits(std::min(bits, map.rows())));
  for (const Word z : reached.basis()) {
    basis.push_back({*map.solve(z), z});
  }
  return basis;
}

// All sums of the vectors; bit i of the position selects vectors[i].
std::vector<Word> sums(const std::vector<Word>& vectors) {
  std::vector<Word> all{0};
  for (const Word v : vectors) {
    for (std::size_t i = 0, n = all.size(); i < n; ++i) all.push_back(all[i] ^ v);
  }
  return all;
}

int lg_floor(std::uint64_t x) { return static_cast<int>(std::bit_width(x)) - 1; }

class Builder {
 public:
  Builder(const BitMatrix& map, int source_low, int target_low, int line_bits, std::uint64_t element_bytes)
      : map_(map), source_low_(source_low), target_low_(target_low) {
    tiles_.source_bits = std::min({line_bits, source_low, map.cols()});
    tiles_.target_bits = std::min({line_bits, target_low, map.rows()});
    const Subspace source_line = Subspace::low_bits(tiles_.source_bits);
    const std::vector<MicroTiles::Step> target_line = preimage(map, tiles_.target_bits);
    tile_ = source_line;
    std::vector<Word> across;
    for (const auto& [h, z] : target_line) {
      if (tile_.add(h)) across.push_back(h);
    }
    tiles_.square = std::has_single_bit(element_bytes) && element_bytes <= 16 && tiles_.source_bits == line_bits && tiles_.target_bits == line_bits &&
                    across.size() == static_cast<std::size_t>(line_bits);
    if (tiles_.square) {
      square(target_line);
    } else {
      rectangle(across);
    }
  }

  void order(std::uint64_t element_bytes);
  MicroTiles take() { return std::move(tiles_); }

 private:
  // The basis of E_µ ∩ image(L) = E_µ is the unit vectors, ascending.
  void square(const std::vector<MicroTiles::Step>& target_line) {
    std::vector<Word> along;
    std::vector<Word> across;
    Word scrambled = 0;
    for (std::size_t i = 0; i < target_line.size(); ++i) {
      across.push_back(target_line[i].source);
      along.push_back(map_.column(static_cast<int>(i)));
      scrambled |= (across.back() | along.back()) & gf2::low_mask(tiles_.source_bits);
    }
    tiles_.plain = scrambled == 0;
    tiles_.source_lines = sums(across);
    tiles_.target_lines = sums(along);
    across_ = across;
  }

  // The target lines are told apart by what L leaves of E_µs above the lowest µt bits.
  void rectangle(const std::vector<Word>& across) {
    const Word source_mask = gf2::low_mask(tiles_.source_bits);
    const Word target_mask = gf2::low_mask(tiles_.target_bits);
    tiles_.source_lines = sums(across);
    for (Word& h : tiles_.source_lines) h &= ~source_mask;
    Subspace lines;
    std::vector<Word> along;
    for (int i = 0; i < tiles_.source_bits; ++i) {
      const Word z = map_.column(i) & ~target_mask;
      if (lines.add(z)) along.push_back(z);
    }
    tiles_.target_lines = sums(along);
    for (std::size_t a = 0; a < tiles_.source_lines.size(); ++a) {
      for (Word u = 0; u <= source_mask; ++u) {
        const Word z = map_(tiles_.source_lines[a] ^ u);
        const auto line = std::ranges::find(tiles_.target_lines, z & ~target_mask) - tiles_.target_lines.begin();
        tiles_.table.push_back({static_cast<std::uint16_t>((a << tiles_.source_bits) | u),
                                static_cast<std::uint16_t>((static_cast<Word>(line) << tiles_.target_bits) |
                                                           (z & target_mask))});
      }
    }
    std::ranges::sort(tiles_.table, {}, &MicroTiles::Entry::target);
    tiles_.whole_lines = tiles_.table.size() == tiles_.target_lines.size() << tiles_.target_bits;
  }

  // Adds a vector to the walk unless it stays within what is walked already.
  void step(Word h) {
    h &= ~gf2::low_mask(tiles_.source_bits);
    if (tiles_.plain) {  // choose the representative whose target begins a line, too
      const Word low = map_(h) & gf2::low_mask(tiles_.target_bits);
      for (std::size_t i = 0; i < across_.size(); ++i) {
        if ((low >> i) & 1) h ^= across_[i];
      }
    }
    if (tile_.add(h)) tiles_.steps.push_back({h, map_(h)});
  }
  void step_within_target(int bits) {
    for (const auto& [h, z] : preimage(map_, std::min(bits, target_low_))) step(h);
  }
  void step_within_source(int bits) {
    for (int i = 0; i < std::min({bits, source_low_, map_.cols()}); ++i) step(gf2::unit(i));
  }

  const BitMatrix& map_;
  int source_low_;
  int target_low_;
  MicroTiles tiles_;
  Subspace tile_;
  std::vector<Word> across_;
};

void Builder::order(std::uint64_t element_bytes) {
  const char* o = std::getenv("XO");
  if (!o) o = "T9 S12 T12";
  while (*o) {
    while (*o == ' ') ++o;
    const char side = *o++;
    const int bytes = static_cast<int>(std::strtol(o, const_cast<char**>(&o), 10));
    const int bits = std::max(0, bytes - lg_floor(element_bytes));
    side == 'T' ? step_within_target(bits) : step_within_source(bits);
  }
  step_within_target(64);
  for (int i = 0; i < map_.cols(); ++i) step(gf2::unit(i));
}

}  // namespace

MicroTiles make_micro_tiles(const BitMatrix& map, int source_low, int target_low, int line_bits,
                            std::uint64_t element_bytes) {
  Builder builder(map, source_low, target_low, line_bits, element_bytes);
  builder.order(element_bytes);
  return builder.take();
}

}  // namespace xorder::kernel
