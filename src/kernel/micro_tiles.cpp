#include "kernel/micro_tiles.hpp"

#include <algorithm>
#include <bit>

#include "gf2/sums.hpp"
#include "xorder/gf2/subspace.hpp"

namespace xorder::kernel {
namespace {

using gf2::BitMatrix;
using gf2::Subspace;
using gf2::sums;
using gf2::Word;
using Step = MicroTiles::Step;

// A basis of { h : L h ∈ E_bits }, each vector with its image.
std::vector<Step> preimage(const BitMatrix& map, int bits) {
  const Subspace image = Subspace::low_bits(map.cols()).image(map);
  std::vector<Step> basis;
  const Subspace reached = intersection(image, Subspace::low_bits(std::min(bits, map.rows())));
  for (const Word z : reached.basis()) {
    basis.push_back({*map.solve(z), z});
  }
  return basis;
}

// Limits in bytes: of a target segment, and of a panel's part of each source row.
constexpr std::uint64_t largest_segment = 512;
constexpr std::uint64_t largest_strip = 512;
constexpr std::uint64_t page_bytes = 4096;

class Builder {
 public:
  Builder(const BitMatrix& map, int source_low, int target_low, int line_bits, std::uint64_t element_bytes)
      : map_(map), source_low_(source_low), target_low_(target_low) {
    tiles_.source_bits = std::min({line_bits, source_low, map.cols()});
    tiles_.target_bits = std::min({line_bits, target_low, map.rows()});
    const Subspace source_line = Subspace::low_bits(tiles_.source_bits);
    const std::vector<Step> target_line = preimage(map, tiles_.target_bits);
    tile_ = source_line;
    std::vector<Word> across;
    for (const Step& s : target_line) {
      if (tile_.add(s.source)) across.push_back(s.source);
    }
    tiles_.square = std::has_single_bit(element_bytes) && element_bytes <= 16 &&
                    tiles_.source_bits == line_bits && tiles_.target_bits == line_bits &&
                    across.size() == static_cast<std::size_t>(line_bits);
    if (tiles_.square) {
      square(target_line);
    } else {
      rectangle(across);
    }
  }

  void panel(std::uint64_t element_bytes);
  void order(std::uint64_t element_bytes);
  void count();
  MicroTiles take() { return std::move(tiles_); }

 private:
  // The basis of E_µ ∩ image(L) = E_µ is the unit vectors, ascending.
  void square(const std::vector<Step>& target_line) {
    std::vector<Word> along;
    std::vector<Word> across;
    Word scrambled = 0;
    for (std::size_t i = 0; i < target_line.size(); ++i) {
      across.push_back(target_line[i].source);
      along.push_back(map_.column(static_cast<int>(i)));
      scrambled |= (across.back() | along.back()) & gf2::low_mask(tiles_.source_bits);
    }
    tiles_.plain = scrambled == 0;
    tiles_.whole_lines = true;
    tiles_.source_lines = sums(across);
    tiles_.target_lines = sums(along);
    across_ = across;
  }

  // The images of E_µs, without their lowest µt bits, tell the target lines apart.
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
        const auto line =
            std::ranges::find(tiles_.target_lines, z & ~target_mask) - tiles_.target_lines.begin();
        tiles_.table.push_back({static_cast<std::uint16_t>((a << tiles_.source_bits) | u),
                                static_cast<std::uint16_t>((static_cast<Word>(line) << tiles_.target_bits) |
                                                           (z & target_mask))});
      }
    }
    std::ranges::sort(tiles_.table, {}, &MicroTiles::Entry::target);
    tiles_.whole_lines = tiles_.table.size() == tiles_.target_lines.size() << tiles_.target_bits;
  }

  // Adds a vector to the walk unless the walk already covers it.
  void step(Word h) {
    h &= ~gf2::low_mask(tiles_.source_bits);
    if (tiles_.plain) {  // choose the representative whose target also begins a line
      const Word low = map_(h) & gf2::low_mask(tiles_.target_bits);
      for (std::size_t i = 0; i < across_.size(); ++i) {
        if ((low >> i) & 1) h ^= across_[i];
      }
    }
    if (tile_.add(h)) tiles_.steps.push_back({h, map_(h)});
  }
  Word segment_of(Word z) const {
    const Word segment = z & ~gf2::low_mask(tiles_.segment_bits);
    return static_cast<Word>(std::ranges::find(tiles_.segments, segment) - tiles_.segments.begin());
  }
  void step_within_target(int bits) {
    for (const Step& s : preimage(map_, std::min(bits, target_low_))) step(s.source);
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

// Chooses the longest segments that the target's runs, the map and the buffer allow, and then as much of each
// source row as fits. Bit reversal of groups of 4 MiB was measured. With 8-byte elements, 64, 256 and 512
// bytes of each source row per panel reached 3.9, 6.2 and 7.1 GB/s. With 2-byte elements, 64 and 128 bytes
// reached 5.6 and 4.1 GB/s: their tiles have 32 rows or more, so a wider panel would crowd the first-level
// cache.
void Builder::panel(std::uint64_t element_bytes) {
  if (!tiles_.whole_lines) return;
  const std::uint64_t longest = std::min(largest_segment, (panel_bytes / 2) >> tiles_.source_bits);
  const auto fits = [&](int bits) {
    return bits <= target_low_ && gf2::unit(bits) * element_bytes <= longest &&
           std::ssize(preimage(map_, bits)) == bits;
  };
  int& bits = tiles_.segment_bits;
  for (bits = tiles_.target_bits; fits(bits + 1);) ++bits;
  const std::uint64_t widest = element_bytes < 8 ? 0 : std::min(largest_strip, panel_bytes >> bits);
  int strip = tiles_.source_bits;
  while (strip < std::min(source_low_, map_.cols()) && gf2::unit(strip + 1) * element_bytes <= widest)
    ++strip;
  Subspace lines;
  std::vector<Word> along;
  for (int i = 0; i < strip; ++i) {
    const Word z = map_.column(i) & ~gf2::low_mask(bits);
    if (lines.add(z)) along.push_back(z);
  }
  tiles_.segments = sums(along);
  for (const Word z : tiles_.target_lines) tiles_.segment_of_line.push_back(segment_of(z));
  step_within_source(strip);
  step_within_target(bits);
  for (Step& s : tiles_.steps) s.segment = segment_of(s.target);
  tiles_.panel_steps = static_cast<int>(tiles_.steps.size());
}

// After the panel, the walk goes along the source's pages, which the hardware's prefetcher also follows. Then
// it goes to tiles that share target pages with these.
void Builder::order(std::uint64_t element_bytes) {
  const int page = static_cast<int>(std::bit_width(page_bytes / element_bytes)) - 1;
  step_within_source(page);
  step_within_target(page);
  step_within_source(64);
  step_within_target(64);
  for (int i = 0; i < map_.cols(); ++i) step(gf2::unit(i));
}

// In counting order, adding one flips a bit and, because of the carry, all bits below it.
void Builder::count() {
  Step sum{};
  for (Step& s : tiles_.steps) {
    sum.source ^= s.source;
    sum.target ^= s.target;
    sum.segment ^= s.segment;
    s = sum;
  }
}

}  // namespace

MicroTiles make_micro_tiles(const BitMatrix& map, int source_low, int target_low, int line_bits,
                            std::uint64_t element_bytes) {
  Builder builder(map, source_low, target_low, line_bits, element_bytes);
  builder.panel(element_bytes);
  builder.order(element_bytes);
  builder.count();
  return builder.take();
}

}  // namespace xorder::kernel
