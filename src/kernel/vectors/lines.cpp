// Moves line tiles: the lines are permuted, transposed in registers as if each were a column, and permuted
// again (kernel/linear/line_tiles.hpp says why these three steps perform any map).
#include "kernel/vectors/lines.hpp"

// Permuting bytes freely within 64 is one instruction with AVX-512 VBMI.
#define HWY_WANT_AVX3_DL

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/vectors/lines.cpp"
#include <hwy/foreach_target.h>
// Highway compiles the rest of this file once for each kind of processor, from this line on.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstring>

#include "kernel/vectors/vectors-inl.hpp"
#include "kernel/vectors/whole_lines-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace xorder::kernel::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

// No vectors (Highway has no SSE2 before 1.0.5), so plain loops.
class LinePermuter {
 public:
  explicit LinePermuter(const LineOrder& order) : order_(order.order) {}
  template <bool streamed>
  void write(std::byte* to, const std::byte* from, std::uint8_t flip) const {
    for (std::size_t j = 0; j < line_bytes; ++j) to[j] = from[order_[j] ^ flip];
  }

 private:
  const std::uint8_t* order_;
};

constexpr bool lines_in_one_store = false, writes_whole_lines = false;

template <std::size_t B>
constexpr bool loaded_once = false;
template <std::size_t B, class To>
void transpose_loaded_once(const std::byte* const*, const To&);
template <std::size_t B>
constexpr bool flips_while_transposing = false;
template <std::size_t B>
class PairedRows;

template <std::size_t B, bool streamed, class To>
HWY_INLINE void transpose_lines(const std::byte* const* lines, const To& to) {
  for (std::size_t a = 0; a < line_bytes / B; ++a) {
    for (std::size_t b = 0; b < line_bytes / B; ++b) std::memcpy(to(b) + a * B, lines[a] + b * B, B);
  }
}

#else

// Permutes one line after the other: byte j comes from byte order[j] ^ flip. In one register if there is an
// instruction for it, otherwise by lookups in the line's pieces of 16 bytes, in all blocks of a vector at
// once.
#if HWY_TARGET == HWY_AVX3_DL

class LinePermuter {
 public:
  explicit HWY_INLINE LinePermuter(const LineOrder& order) : order_(order.order) {}
  template <bool streamed>
  HWY_INLINE void write(std::byte* to, const std::byte* from, std::uint8_t flip) const {
    const auto index = hn::Xor(hn::Load(widest, order_), hn::Set(widest, flip));
    put<streamed>(widest, hn::Vec<Widest>{_mm512_permutexvar_epi8(index.raw, load(widest, from).raw)}, to);
  }

 private:
  const std::uint8_t* order_;
};

#else

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
constexpr bool has_words = true;

// The words of a line whose offsets are in the lowest bytes of the words of `offsets`. (The instructions only
// look at the bits that they need.)
HWY_INLINE hn::Vec<Widest> words_of_line(const std::byte* line, hn::Vec<Widest> offsets) {
#if HWY_TARGET == HWY_AVX3
  return hn::Vec<Widest>{_mm512_permutexvar_epi32(_mm512_srli_epi32(offsets.raw, 2), load(widest, line).raw)};
#else
  const __m256i word = _mm256_srli_epi32(offsets.raw, 2);
  const __m256i lower = _mm256_permutevar8x32_epi32(load(widest, line).raw, word);
  const __m256i upper = _mm256_permutevar8x32_epi32(load(widest, line + widest_bytes).raw, word);
  const __m256i is_upper = _mm256_slli_epi32(offsets.raw, 26);  // in the top bit
  return hn::Vec<Widest>{_mm256_castps_si256(_mm256_blendv_ps(
      _mm256_castsi256_ps(lower), _mm256_castsi256_ps(upper), _mm256_castsi256_ps(is_upper)))};
#endif
}

#else
constexpr bool has_words = false;
HWY_INLINE hn::Vec<Widest> words_of_line(const std::byte*, hn::Vec<Widest> offsets) { return offsets; }
#endif

// A flip has two parts: it changes the byte within each piece, and it exchanges the pieces, which costs
// nothing because they are loaded from other addresses. Words of 4 bytes are moved as such if there is an
// instruction for it: loading pieces of vectors that were just stored is slow.
class LinePermuter {
 public:
  explicit HWY_INLINE LinePermuter(const LineOrder& order)
      : order_(order.order),
        by_word_(has_words && order.by_word),
        by_piece_(order.kind != LinePermutation::free) {
    if (by_word_ || order.kind == LinePermutation::none) return;
    for (std::size_t j = 0; j < line_bytes; j += widest_bytes) {
      const auto from = hn::Load(widest, order.order + j);
      if (by_piece_) {
        hn::Store(hn::And(from, hn::Set(widest, 15)), widest, within_[0] + j);
        continue;
      }
      for (std::size_t i = 0; i < pieces; ++i) {
        const auto here = hn::Xor(from, hn::Set(widest, static_cast<std::uint8_t>(16 * i)));
        const auto none = hn::Set(widest, 0x80);  // the lookup gives 0
        hn::Store(hn::IfThenElse(hn::Lt(here, hn::Set(widest, 16)), here, none), widest, within_[i] + j);
      }
    }
    for (std::size_t i = 0; i < pieces; ++i) piece_[i] = order.order[16 * i] & 48U;
  }

  template <bool streamed>
  HWY_INLINE void write(std::byte* to, const std::byte* from, std::uint8_t flip) const {
    if (by_word_) {
      const auto flips = hn::Set(widest, flip);
      for (std::size_t j = 0; j < line_bytes; j += widest_bytes)
        put<streamed>(widest, words_of_line(from, hn::Xor(hn::Load(widest, order_ + j), flips)), to + j);
      return;
    }
    const auto flip_within = hn::Set(widest, flip & 15U);
    const std::size_t flip_pieces = flip & 48U;
    const auto index = [&](std::size_t i, std::size_t j)
                           HWY_ATTR { return hn::Xor(hn::Load(widest, within_[i] + j), flip_within); };
    if (by_piece_) {
      for (std::size_t j = 0; j < line_bytes; j += widest_bytes) {
        const auto piece = [&](std::size_t i) { return from + (piece_[j / 16 + i] ^ flip_pieces); };
        put<streamed>(widest, hn::TableLookupBytes(load_pieces<16>(widest, piece), index(0, j)), to + j);
      }
      return;
    }
    hn::Vec<Widest> line[pieces];
    for (std::size_t i = 0; i < pieces; ++i) {
      const std::byte* const piece = from + ((16 * i) ^ flip_pieces);
      line[i] = hn::LoadDup128(widest, reinterpret_cast<const std::uint8_t*>(piece));
    }
    for (std::size_t j = 0; j < line_bytes; j += widest_bytes) {
      auto result = hn::Zero(widest);
      for (std::size_t i = 0; i < pieces; ++i)
        result = hn::Or(result, hn::TableLookupBytesOr0(line[i], index(i, j)));
      put<streamed>(widest, result, to + j);
    }
  }

 private:
  static constexpr std::size_t pieces = line_bytes / 16;
  const std::uint8_t* order_;
  bool by_word_, by_piece_;
  std::size_t piece_[pieces];                          // of each piece of the result, if it has only one
  HWY_ALIGN std::uint8_t within_[pieces][line_bytes];  // byte j in piece i, or 0x80; [0] if by piece
};

#endif

constexpr bool lines_in_one_store = widest_bytes == line_bytes;
// Whether transpose_lines() writes whole lines, one after the other.
constexpr bool writes_whole_lines = widest_bytes >= line_bytes / 2;

// Whether each line is loaded once, and columns are stored in pieces, not the reverse: into a buffer
// always, and from line to line if all lines share few sets of the first-level cache, as in bit reversals.
// Their second halves have left it when they are loaded. Asking for all lines first is what makes it faster:
// a block of 1- or 2-byte elements has 8 or 16 of them; of 4 bytes it has all lines anyway. From line to
// line, lines that share no sets would lose a quarter or more; through a buffer such maps (Morton order,
// lines that were gathered) lose nothing.
template <std::size_t B>
constexpr bool loaded_once = B <= 2 && widest_bytes == line_bytes;

template <std::size_t B, class To>
HWY_INLINE void transpose_loaded_once(const std::byte* const* lines, const To& to) {
  using K = FlatBlock<B, widest_bytes>;
  for (std::size_t a = 0; a < line_bytes / B; ++a) prefetch(lines[a]);
  for (std::size_t r = 0; r < line_bytes / B; r += K::rows) {
    for (std::size_t c = 0; c < line_bytes / B; c += K::columns)
      K::transpose([&](std::size_t i) { return lines[r + i] + c * B; },
                   [&](std::size_t i) { return to(c + i) + r * B; });
  }
}

template <std::size_t B, bool streamed, class To>
HWY_INLINE void transpose_lines(const std::byte* const* lines, const To& to) {
  if constexpr (B == line_bytes) {
    copy_line<streamed>(to(0), lines[0]);
  } else if constexpr (B > 16) {  // whole vectors: data stored in halves is slow to load soon after
    constexpr std::size_t P = std::min(B, widest_bytes);
    for (std::size_t b = 0; b < line_bytes / B; ++b) {
      for (std::size_t at = 0; at < line_bytes; at += widest_bytes) {
        const auto piece = [&](std::size_t i) { return lines[(at + i * P) / B] + b * B + (at + i * P) % B; };
        put<streamed>(widest, load_pieces<P>(widest, piece), to(b) + at);
      }
    }
  } else if constexpr (line_is_two_vectors) {
    Square<B>::template transpose<streamed>([&](std::size_t a) { return lines[a]; }, to);
  } else {
    using K = Block<B, widest_bytes>;
    for (std::size_t r = 0; r < line_bytes / B; r += K::rows) {
      for (std::size_t c = 0; c < line_bytes / B; c += K::columns)
        K::transpose(
            [&](std::size_t i) { return lines[r + i] + c * B; }, [](hn::Vec<Widest> v) HWY_ATTR { return v; },
            [&](std::size_t i, hn::Vec<Widest> v) HWY_ATTR { put<streamed>(widest, v, to(c + i) + r * B); });
    }
  }
}

// Whether lines can be flipped while they are transposed.
template <std::size_t B>
constexpr bool flips_while_transposing = B <= 16 && line_is_two_vectors;

#endif  // HWY_TARGET == HWY_SCALAR

// Line l goes to to(l). The lines are permuted first as `before` says, by `permuter`.
template <std::size_t B, bool streamed, class To>
HWY_INLINE void transpose_line_tile(const std::byte* const* lines, LinePermutation before,
                                    const LinePermuter& permuter, const std::uint8_t* flips, const To& to) {
  if (before == LinePermutation::none) return transpose_lines<B, streamed>(lines, to);
  if constexpr (flips_while_transposing<B>) {
    if (before == LinePermutation::flips) {
      PairedRows<B> paired;
      paired.read_flipped([&](std::size_t a) { return lines[a]; }, flips);
      return paired.template write<streamed>(to);
    }
  }
  HWY_ALIGN std::byte permuted[line_bytes / B][line_bytes];
  const std::byte* rows[line_bytes / B];
  for (std::size_t a = 0; a < line_bytes / B; ++a) {
    permuter.write<false>(permuted[a], lines[a], flips[a]);
    rows[a] = permuted[a];
  }
  transpose_lines<B, streamed>(rows, to);
}

template <std::size_t B>
void line_tile(const std::byte* const* lines, const LineOrder& before, const std::uint8_t* flips,
               std::byte* buffer) {
  const auto to = [&](std::size_t l) { return buffer + l * line_bytes; };
  if constexpr (loaded_once<B>) {
    if (before.kind == LinePermutation::none) return transpose_loaded_once<B>(lines, to);
  }
  transpose_line_tile<B, false>(lines, before.kind, LinePermuter(before), flips, to);
}

// Stores where the lines of line tile m begin. If `streamed`, prefetches those of the next tile.
template <std::size_t B, bool streamed>
HWY_INLINE void list_lines(const TileMove& t, std::size_t m, bool across_lines, const std::byte** from) {
  constexpr std::size_t lines = line_bytes / B;
  for (std::size_t a = 0; a < lines; ++a) {
    const std::uint64_t line = t.line_tiles[m] ^ t.source_lines[a];
    from[a] = t.source + (t.source_tile ^ line);
    if constexpr (streamed) prefetch(t.source + (t.next_tile ^ line));
  }
  if (streamed && across_lines) {
    for (std::size_t a = 0; a < lines; ++a)
      prefetch(t.source + (t.next_tile ^ t.line_tiles[m] ^ t.source_lines[a]) + line_bytes - 1);
  }
}

// There is a function for each kind of move, because a tile has few line tiles, and what is set up for it
// takes as long as one of them.

// Lines are only transposed.
template <std::size_t B, bool streamed>
HWY_NOINLINE void move_transposed(const TileMove& move) {
  constexpr std::size_t lines = line_bytes / B;
  const TileMove t = move;  // a copy, which no store can change
  const bool across_lines = within_line(t.source);
  const std::byte* from[lines];
  for (std::size_t m = 0; m < t.count; ++m) {
    list_lines<B, streamed>(t, m, across_lines, from);
    const std::uint64_t* const targets = t.target_lines + m * lines;
    transpose_lines<B, streamed>(from,
                                 [&](std::size_t l) { return t.target + (t.target_tile ^ targets[l]); });
  }
}

// Lines are flipped afterwards, and perhaps before. Permuting them from buffer to buffer, as most random maps
// would need, takes half as long again.
template <std::size_t B, bool streamed>
HWY_NOINLINE void move_flipped(const TileMove& move) {
  constexpr std::size_t lines = line_bytes / B;
  const TileMove t = move;
  const bool across_lines = within_line(t.source), before = t.before.kind != LinePermutation::none;
  const std::byte* from[lines];
  for (std::size_t m = 0; m < t.count; ++m) {
    list_lines<B, streamed>(t, m, across_lines, from);
    const std::uint64_t* const targets = t.target_lines + m * lines;
    const std::uint8_t* const flips = t.after_flips + m * lines;
    const auto at = [&](std::size_t a) { return from[a]; };
    PairedRows<B> paired;
    before ? paired.read_flipped(at, t.before_flips) : paired.read(at);
    paired.template write_flipped<streamed>(
        [&](std::size_t l) { return t.target + (t.target_tile ^ targets[l]); },
        [&](std::size_t l) { return flips[l] ^ t.flip; });
  }
}

// Whether the lines of a line tile are loaded once.
template <std::size_t B>
HWY_INLINE bool loads_once(const TileMove& t) {
  return loaded_once<B> && t.share_sets && t.before.kind == LinePermutation::none;
}

// Whether lines can be transposed to their places. Otherwise whole lines are written, from a buffer: parts of
// many lines would wait for each other if they were streamed, and take longer than a copy of the line if
// they are not.
template <std::size_t B, bool streamed>
HWY_INLINE bool needs_no_buffer(const TileMove& t) {
  const bool whole_lines = writes_whole_lines || B == line_bytes || !streamed;
  return t.after.kind == LinePermutation::none && whole_lines && !loads_once<B>(t);
}

// Lines are permuted in any way, before or afterwards.
template <std::size_t B, bool streamed>
HWY_NOINLINE void move_permuted(const TileMove& move) {
  constexpr std::size_t lines = line_bytes / B;
  const TileMove t = move;
  const bool across_lines = within_line(t.source), permuted_after = t.after.kind != LinePermutation::none;
  const bool directly = needs_no_buffer<B, streamed>(t);
  const LinePermuter before(t.before), after(t.after);
  const std::byte* from[lines];
  HWY_ALIGN std::byte transposed[lines][line_bytes];
  const auto here = [&](std::size_t l) { return transposed[l]; };
  for (std::size_t m = 0; m < t.count; ++m) {
    list_lines<B, streamed>(t, m, across_lines, from);
    const std::uint64_t* const targets = t.target_lines + m * lines;
    const auto to = [&](std::size_t l) { return t.target + (t.target_tile ^ targets[l]); };
    if (directly) {
      transpose_line_tile<B, streamed>(from, t.before.kind, before, t.before_flips, to);
      continue;
    }
    if (loads_once<B>(t)) {
      if constexpr (loaded_once<B>) transpose_loaded_once<B>(from, here);
    } else {
      transpose_line_tile<B, false>(from, t.before.kind, before, t.before_flips, here);
    }
    for (std::size_t l = 0; l < lines; ++l) {
      if (permuted_after) {
        const auto flip = static_cast<std::uint8_t>(t.after_flips[m * lines + l] ^ t.flip);
        after.template write<streamed>(to(l), transposed[l], flip);
      } else {
        copy_line<streamed>(to(l), transposed[l]);
      }
    }
  }
}

template <std::size_t B, bool streamed>
void move_tile(const TileMove& t) {
  const LinePermutation before = t.before.kind, after = t.after.kind;
  if (before == LinePermutation::none && needs_no_buffer<B, streamed>(t))
    return move_transposed<B, streamed>(t);
  if constexpr (flips_while_transposing<B>) {
    if (before <= LinePermutation::flips && after == LinePermutation::flips)
      return move_flipped<B, streamed>(t);
  }
  move_permuted<B, streamed>(t);
}

LineTileFunction line_tile_of(int lg_lines) {
  constexpr LineTileFunction functions[] = {line_tile<64>, line_tile<32>, line_tile<16>, line_tile<8>,
                                            line_tile<4>,  line_tile<2>,  line_tile<1>};
  return functions[lg_lines];
}

template <bool streamed>
constexpr TileMoveFunction tile_moves[] = {
    move_tile<64, streamed>, move_tile<32, streamed>, move_tile<16, streamed>, move_tile<8, streamed>,
    move_tile<4, streamed>,  move_tile<2, streamed>,  move_tile<1, streamed>};
TileMoveFunction tile_move_of(int lg_lines, bool streamed) {
  return streamed ? tile_moves<true>[lg_lines] : tile_moves<false>[lg_lines];
}

template <bool streamed>
void write_segment(const Segment& segment, const LineOrder& after) {
  const Segment s = segment;  // a copy, which no store can change
  if (after.kind == LinePermutation::none) {
    for (std::size_t i = 0; i < s.count; ++i) {
      copy_line<streamed>(s.target + i * line_bytes, s.buffer + s.lines[i ^ s.line_flip] * line_bytes);
    }
    return;
  }
  const LinePermuter permuter(after);
  for (std::size_t i = 0; i < s.count; ++i) {
    const std::size_t line = s.lines[i ^ s.line_flip];
    const auto flip = static_cast<std::uint8_t>(s.line_flips[line] ^ s.flip);
    permuter.template write<streamed>(s.target + i * line_bytes, s.buffer + line * line_bytes, flip);
  }
}
SegmentFunction segment_of(bool streamed) { return streamed ? write_segment<true> : write_segment<false>; }

bool has_lines_in_one_store() { return lines_in_one_store; }

}  // namespace xorder::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace xorder::kernel {

HWY_EXPORT(line_tile_of);
HWY_EXPORT(tile_move_of);
HWY_EXPORT(segment_of);
HWY_EXPORT(has_lines_in_one_store);

LineTileFunction line_tile_function(int lg_lines) { return HWY_DYNAMIC_DISPATCH(line_tile_of)(lg_lines); }
TileMoveFunction tile_move_function(int lg_lines, bool streamed) {
  return HWY_DYNAMIC_DISPATCH(tile_move_of)(lg_lines, streamed);
}
bool lines_in_one_store() { return HWY_DYNAMIC_DISPATCH(has_lines_in_one_store)(); }
SegmentFunction segment_function(bool streamed) { return HWY_DYNAMIC_DISPATCH(segment_of)(streamed); }

}  // namespace xorder::kernel
#endif
