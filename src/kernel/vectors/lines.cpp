#include "kernel/vectors/lines.hpp"

// Permuting bytes freely within 64 is one instruction from Ice Lake on.
#define HWY_WANT_AVX3_DL

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/vectors/lines.cpp"
#include <hwy/foreach_target.h>
// Highway compiles the rest of this file once for each kind of processor, from this line on.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstring>

#include "kernel/vectors/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace xorder::kernel::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

// No vectors (Highway has no SSE2 before 1.0.5), so plain loops.
HWY_INLINE void permute_line(const std::byte* from, std::byte* to, const LineOrder& order,
                             std::uint8_t flip) {
  for (std::size_t j = 0; j < line_bytes; ++j) to[j] = from[order.order[j] ^ flip];
}

template <bool streamed>
HWY_INLINE void write_permuted(std::byte* to, const std::byte* from, const LineOrder& order,
                               std::uint8_t flip) {
  permute_line(from, to, order, flip);
}

HWY_INLINE void permute_in_buffer(const std::byte* from, std::byte* to, const LineOrder& order,
                                  std::uint8_t flip) {
  permute_line(from, to, order, flip);
}

constexpr bool lines_in_one_store = false;

template <std::size_t B, bool streamed, class To>
HWY_INLINE void transpose_lines(const std::byte* const* lines, const To& to) {
  for (std::size_t a = 0; a < line_bytes / B; ++a) {
    for (std::size_t b = 0; b < line_bytes / B; ++b) std::memcpy(to(b) + a * B, lines[a] + b * B, B);
  }
}

#else

// Permutes one line: in one register if there is an instruction for it, otherwise by lookups in each of its
// pieces of 16 bytes.
#if HWY_TARGET == HWY_AVX3_DL

template <class Put>
HWY_INLINE void permute_line(const std::byte* from, const LineOrder& order, std::uint8_t flip,
                             const Put& put_at) {
  const auto index = hn::Xor(hn::Load(widest, order.order), hn::Set(widest, flip));
  put_at(0, widest, hn::Vec<Widest>{_mm512_permutexvar_epi8(index.raw, load(widest, from).raw)});
}

#else

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
constexpr bool has_words = true;

// Those words of a line whose offsets are in the lowest bytes of the words of `offsets`, of which the
// instructions only look at the bits that they need.
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

HWY_INLINE hn::Vec<Widest> load_in_each_block(const std::byte* p) {
  return hn::LoadDup128(widest, reinterpret_cast<const std::uint8_t*>(p));
}

template <class Put>
HWY_INLINE void permute_line(const std::byte* from, const LineOrder& order, std::uint8_t flip,
                             const Put& put_at) {
  constexpr std::size_t pieces = line_bytes / 16;
  if (has_words && order.by_word) {
    for (std::size_t j = 0; j < line_bytes; j += widest_bytes) {
      const auto offsets = hn::Xor(hn::Load(widest, order.order + j), hn::Set(widest, flip));
      put_at(j, widest, words_of_line(from, offsets));
    }
    return;
  }
  if (order.kind == LinePermutation::by_piece) {
    for (std::size_t j = 0; j < line_bytes; j += widest_bytes) {
      const auto index = hn::Xor(hn::Load(widest, order.order + j), hn::Set(widest, flip));
      const auto piece = [&](std::size_t i) { return from + ((order.order[j + 16 * i] ^ flip) & 48U); };
      put_at(j, widest,
             hn::TableLookupBytes(load_pieces<16>(widest, piece), hn::And(index, hn::Set(widest, 15))));
    }
    return;
  }
  hn::Vec<Widest> line[pieces];
  for (std::size_t i = 0; i < pieces; ++i) line[i] = load_in_each_block(from + 16 * i);
  for (std::size_t j = 0; j < line_bytes; j += widest_bytes) {
    const auto index = hn::Xor(hn::Load(widest, order.order + j), hn::Set(widest, flip));
    auto result = hn::Zero(widest);
    for (std::size_t i = 0; i < pieces; ++i) {
      // An index in this piece becomes 0x70 to 0x7f, of which the lookup uses 0 to 15. An index in another
      // piece becomes 0x80 or more, for which the lookup gives 0.
      const auto here = hn::Xor(index, hn::Set(widest, static_cast<std::uint8_t>(16 * i)));
      result = hn::Or(result, hn::TableLookupBytesOr0(line[i], hn::Add(here, hn::Set(widest, 0x70))));
    }
    put_at(j, widest, result);
  }
}

#endif

struct PutInBuffer {
  std::byte* to;
  template <class D>
  HWY_INLINE void operator()(std::size_t at, D d, hn::Vec<D> v) const {
    store(d, v, to + at);
  }
};
template <bool streamed>
struct PutInTarget {
  std::byte* to;
  template <class D>
  HWY_INLINE void operator()(std::size_t at, D d, hn::Vec<D> v) const {
    put<streamed>(d, v, to + at);
  }
};

template <bool streamed>
HWY_INLINE void write_permuted(std::byte* to, const std::byte* from, const LineOrder& order,
                               std::uint8_t flip) {
  permute_line(from, order, flip, PutInTarget<streamed>{to});
}

HWY_INLINE void permute_in_buffer(const std::byte* from, std::byte* to, const LineOrder& order,
                                  std::uint8_t flip) {
  permute_line(from, order, flip, PutInBuffer{to});
}

constexpr bool lines_in_one_store = widest_bytes == line_bytes;

template <std::size_t B, bool streamed, class To>
HWY_INLINE void transpose_lines(const std::byte* const* lines, const To& to) {
  if constexpr (B == line_bytes) {
    copy_line<streamed>(to(0), lines[0]);
  } else if constexpr (B > 16) {  // whole vectors: data stored in halves is slow to load soon after
    constexpr std::size_t P = std::min(B, widest_bytes);
    for (std::size_t at = 0; at < line_bytes; at += widest_bytes) {
      for (std::size_t b = 0; b < line_bytes / B; ++b) {
        const auto piece = [&](std::size_t i) { return lines[(at + i * P) / B] + b * B + (at + i * P) % B; };
        put<streamed>(widest, load_pieces<P>(widest, piece), to(b) + at);
      }
    }
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

#endif  // HWY_TARGET == HWY_SCALAR

// Line l goes to to(l).
template <std::size_t B, bool streamed, class To>
HWY_INLINE void transpose_line_tile(const std::byte* const* lines, const LineOrder& before,
                                    const std::uint8_t* flips, const To& to) {
  if (before.kind == LinePermutation::none) {
    transpose_lines<B, streamed>(lines, to);
    return;
  }
  HWY_ALIGN std::byte permuted[line_bytes / B][line_bytes];
  const std::byte* rows[line_bytes / B];
  for (std::size_t a = 0; a < line_bytes / B; ++a) {
    permute_in_buffer(lines[a], permuted[a], before, flips[a]);
    rows[a] = permuted[a];
  }
  transpose_lines<B, streamed>(rows, to);
}

template <std::size_t B>
void line_tile(const std::byte* const* lines, const LineOrder& before, const std::uint8_t* flips,
               std::byte* buffer) {
  transpose_line_tile<B, false>(lines, before, flips, [&](std::size_t l) { return buffer + l * line_bytes; });
}

template <std::size_t B, bool streamed>
void move_tile(const TileMove& t) {
  constexpr std::size_t lines = line_bytes / B;
  const bool across_lines = within_line(t.source);
  const std::byte* from[lines];
  for (std::size_t m = 0; m < t.count; ++m) {
    for (std::size_t a = 0; a < lines; ++a) {
      const std::uint64_t line = t.line_tiles[m] ^ t.source_lines[a];
      from[a] = t.source + (t.source_tile ^ line);
      if constexpr (streamed) prefetch(t.source + (t.next_tile ^ line));
    }
    if (streamed && across_lines) {
      for (std::size_t a = 0; a < lines; ++a)
        prefetch(t.source + (t.next_tile ^ t.line_tiles[m] ^ t.source_lines[a]) + line_bytes - 1);
    }
    const std::uint64_t* const targets = t.target_lines + m * lines;
    const auto to = [&](std::size_t l) { return t.target + (t.target_tile ^ targets[l]); };
    const bool permuted = t.after.kind != LinePermutation::none;
    if (!permuted && (lines_in_one_store || lines == 1 || !streamed)) {
      transpose_line_tile<B, streamed>(from, t.before, t.before_flips, to);
      continue;
    }
    // Streamed parts of many lines would wait for each other, so whole lines are written.
    HWY_ALIGN std::byte transposed[lines][line_bytes];
    transpose_line_tile<B, false>(from, t.before, t.before_flips,
                                  [&](std::size_t l) { return transposed[l]; });
    for (std::size_t l = 0; l < lines; ++l) {
      if (permuted) {
        const auto flip = static_cast<std::uint8_t>(t.after_flips[m * lines + l] ^ t.flip);
        write_permuted<streamed>(to(l), transposed[l], t.after, flip);
      } else {
        copy_line<streamed>(to(l), transposed[l]);
      }
    }
  }
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
void write_segment(const Segment& s, const LineOrder& after) {
  if (after.kind == LinePermutation::none) {
    for (std::size_t i = 0; i < s.count; ++i) {
      copy_line<streamed>(s.target + i * line_bytes, s.buffer + s.lines[i ^ s.line_flip] * line_bytes);
    }
    return;
  }
  for (std::size_t i = 0; i < s.count; ++i) {
    const std::size_t line = s.lines[i ^ s.line_flip];
    const auto flip = static_cast<std::uint8_t>(s.line_flips[line] ^ s.flip);
    write_permuted<streamed>(s.target + i * line_bytes, s.buffer + line * line_bytes, after, flip);
  }
}
SegmentFunction segment_of(bool streamed) { return streamed ? write_segment<true> : write_segment<false>; }

}  // namespace xorder::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace xorder::kernel {

HWY_EXPORT(line_tile_of);
HWY_EXPORT(tile_move_of);
HWY_EXPORT(segment_of);

LineTileFunction line_tile_function(int lg_lines) { return HWY_DYNAMIC_DISPATCH(line_tile_of)(lg_lines); }
TileMoveFunction tile_move_function(int lg_lines, bool streamed) {
  return HWY_DYNAMIC_DISPATCH(tile_move_of)(lg_lines, streamed);
}
SegmentFunction segment_function(bool streamed) { return HWY_DYNAMIC_DISPATCH(segment_of)(streamed); }

}  // namespace xorder::kernel
#endif
