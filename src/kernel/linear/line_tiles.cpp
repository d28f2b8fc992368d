#include "kernel/linear/line_tiles.hpp"

#include <algorithm>
#include <bit>

#include "gf2/left_inverse.hpp"
#include "gf2/subspace.hpp"
#include "gf2/sums.hpp"

namespace xorder::kernel {
namespace {

using gf2::BitMatrix;
using gf2::low_mask;
using gf2::Subspace;
using gf2::sums;
using gf2::unit;
using gf2::Word;

class Builder {
 public:
  Builder(const BitMatrix& a, int lg_element, TileShape shape)
      : a_(a),
        inverse_(gf2::left_inverse(a)),
        lg_element_(lg_element),
        line_(std::countr_zero(line_bytes) - lg_element) {
    tiles_.shape = shape;
  }

  LineTiles build() {
    number_target_lines();
    number_source_lines();
    make_before();
    make_after();
    walk();
    gather();
    tiles_.in_runs = r_ == 0 && tiles_.before.kind == LinePermutation::none && tiles_.segments.size() == 1 &&
                     line_tiles_.size() << line_ == std::size_t{1} << tiles_.shape.source_bits;
    return std::move(tiles_);
  }

 private:
  Word low(Word v) const { return v & low_mask(line_); }
  Word high(Word v) const { return v & ~low_mask(line_); }

  // G, and r positions on which it is invertible; the highest possible ones.
  void number_target_lines() {
    Subspace span;
    std::vector<int> positions;
    for (int j = line_; j-- > 0;) {
      if (span.add(high(a_.column(j)))) positions.push_back(j);
    }
    std::ranges::reverse(positions);
    r_ = static_cast<int>(positions.size());
    for (const int j : positions) target_lines_.push_back(high(a_.column(j)));
    const BitMatrix lines(a_.rows(), target_lines_);
    std::vector<Word> columns;
    int others = 0;
    for (int j = 0; j < line_; ++j) {
      const bool chosen = std::ranges::find(positions, j) != positions.end();
      const Word label = *lines.solve(high(a_.column(j)));
      columns.push_back((label << (line_ - r_)) | (chosen ? 0 : unit(others++)));
    }
    arrange_ = BitMatrix(line_, columns);
    arrange_back_ = *arrange_.inverse();
    tiles_.lg_lines = r_;
  }

  // η a, shifted to its place after step 1.
  Word label_of(Word source_line) const {
    return *BitMatrix(a_.rows(), target_lines_).solve(high(a_(source_line))) << (line_ - r_);
  }
  // The position in its target line of the element that step 1 moves to position 0.
  Word position_of(Word source_line) const {
    return low(a_(source_line)) ^ low(a_(arrange_back_(label_of(source_line))));
  }

  // Finds a basis of the lines. Each vector changes one bit of q that no other one changes. They are in
  // ascending order of these bits.
  void number_source_lines() {
    Subspace span = Subspace::low_bits(line_);
    std::vector<std::pair<Word, Word>> basis;  // position, source line
    for (int i = 0; i < line_; ++i) {
      const Word x = high(inverse_.column(i));
      if (span.add(x)) basis.emplace_back(position_of(x), x);
    }
    for (std::size_t i = 0; i < basis.size(); ++i) {
      const Word pivot = std::bit_floor(basis[i].first);
      for (std::size_t j = 0; j < basis.size(); ++j) {
        if (j == i || !(basis[j].first & pivot)) continue;
        basis[j].first ^= basis[i].first;
        basis[j].second ^= basis[i].second;
      }
    }
    std::ranges::sort(basis, {}, [](const auto& b) { return std::bit_floor(b.first); });
    for (const auto& b : basis) source_lines_.push_back(b.second);
    for (const Word x : sums(source_lines_)) tiles_.source_lines.push_back(x << lg_element_);
  }

  // Makes a byte order from an element order: element j comes from element from(j).
  LineOrder order_of(const BitMatrix& from) const {
    LineOrder order;
    bool same = true, by_piece = true;
    const std::size_t w = std::size_t{1} << lg_element_;
    for (std::size_t j = 0; j < line_bytes; ++j) {
      order.order[j] = static_cast<std::uint8_t>((from(j / w) << lg_element_) | (j % w));
      same = same && order.order[j] == j;
      by_piece = by_piece && order.order[j] / 16 == order.order[j / 16 * 16] / 16;
    }
    order.by_word = w >= 4;
    order.kind = same ? LinePermutation::none : by_piece ? LinePermutation::by_piece : LinePermutation::free;
    return order;
  }
  std::uint8_t bytes(Word elements) const { return static_cast<std::uint8_t>(elements << lg_element_); }
  static void note_flips(LineOrder& order, const std::vector<std::uint8_t>& flips) {
    const bool flipped = std::ranges::any_of(flips, [](std::uint8_t f) { return f != 0; });
    if (flipped && order.kind == LinePermutation::none) order.kind = LinePermutation::flips;
  }

  void make_before() {
    tiles_.before = order_of(arrange_back_);
    std::vector<Word> flips;  // linear in the line, like everything below
    for (const Word x : source_lines_) flips.push_back(arrange_back_(label_of(x)));
    for (const Word f : sums(flips)) tiles_.before_flips.push_back(bytes(f));
    note_flips(tiles_.before, tiles_.before_flips);
  }

  // Q, and its inverse.
  void make_after() {
    std::vector<Word> columns;
    for (int i = 0; i < line_ - r_; ++i) columns.push_back(low(a_(arrange_back_(unit(i)))));
    for (const Word x : source_lines_) columns.push_back(position_of(x));
    position_back_ = *BitMatrix(line_, columns).inverse();
    tiles_.after[0] = order_of(position_back_);
    for (Word i = 0; i < line_bytes; ++i) tiles_.tile_flips[i] = bytes(position_back_(i >> lg_element_));
  }

  // Lists the line tiles. Those side by side in the source's runs come first.
  void walk() {
    Subspace span = Subspace::low_bits(line_);
    for (const Word x : source_lines_) span.add(x);
    std::vector<Word> basis;
    const auto add = [&](Word x) {
      if (span.add(high(x))) basis.push_back(high(x));
    };
    for (int i = line_; i < tiles_.shape.source_bits; ++i) add(unit(i));
    for (int i = line_; i < tiles_.shape.target_bits; ++i) add(inverse_.column(i));
    line_tiles_ = sums(basis);
    for (const Word x : line_tiles_) tiles_.line_tiles.push_back(x << lg_element_);
  }

  // Finds out for each line of the buffer which line of which segment it is.
  void gather() {
    struct Gathered {
      Word segment, line;
      std::uint16_t in_buffer;
    };
    std::vector<Gathered> all;
    const std::vector<Word> targets = sums(target_lines_);
    std::vector<Word> positions;
    for (int i = 0; i < r_; ++i)
      positions.push_back(position_back_(low(a_(arrange_back_(unit(line_ - r_ + i))))));
    positions = sums(positions);
    for (const Word x : line_tiles_) {
      const Word y = a_(x);
      const Word position = position_back_(low(y));
      for (Word l = 0; l < targets.size(); ++l) {
        const Word line = high(y) ^ targets[l];
        const Word segment = line & ~low_mask(tiles_.shape.target_bits);
        all.push_back({segment, line ^ segment, static_cast<std::uint16_t>(all.size())});
        tiles_.target_lines.push_back(line << lg_element_);
        tiles_.after_flips.push_back(bytes(position ^ positions[l]));
      }
    }
    std::ranges::sort(all, {}, [](const Gathered& l) { return std::pair(l.segment, l.line); });
    for (const Gathered& l : all) {
      tiles_.lines.push_back(l.in_buffer);
      if (l.line == 0) tiles_.segments.push_back(l.segment << lg_element_);
    }
    note_flips(tiles_.after[0], tiles_.after_flips);
    tiles_.after[1] = tiles_.after[0];
    note_flips(tiles_.after[1], {bytes(1)});  // any flip
  }

  const BitMatrix& a_;
  const BitMatrix inverse_;
  const int lg_element_;
  const int line_;  // µ
  int r_ = 0;
  BitMatrix arrange_, arrange_back_;  // step 1: from p to its place, and back
  BitMatrix position_back_;           // step 3: from q to its place in the buffer's line
  std::vector<Word> source_lines_, target_lines_, line_tiles_;
  LineTiles tiles_;
};

}  // namespace

LineTiles make_line_tiles(const BitMatrix& map, int lg_element, TileShape shape) {
  return Builder(map, lg_element, shape).build();
}

std::vector<std::uint64_t> source_offsets(const LineTiles& tiles) {
  Subspace span;  // its reduced basis makes ascending sums
  for (const std::uint64_t offset : tiles.line_tiles) span.add(offset);
  for (const std::uint64_t offset : tiles.source_lines) span.add(offset);
  return sums(span.basis());
}

}  // namespace xorder::kernel
