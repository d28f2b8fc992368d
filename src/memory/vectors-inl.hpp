// Loads, stores and transposes blocks with the longest vectors, for the files that Highway compiles once for
// each kind of processor.
#if defined(XORDER_MEMORY_VECTORS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef XORDER_MEMORY_VECTORS_INL
#undef XORDER_MEMORY_VECTORS_INL
#else
#define XORDER_MEMORY_VECTORS_INL
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernel/vectors-inl.hpp"
#include "memory/micro.hpp"

HWY_BEFORE_NAMESPACE();
namespace xorder::memory::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The scalar target has no vectors (Highway has no SSE2 before 1.0.5).
#if HWY_TARGET != HWY_SCALAR

// 16 bytes if the length of vectors is not known at compile time.
constexpr std::size_t widest_bytes =
    HWY_HAVE_SCALABLE ? 16 : std::min<std::size_t>(HWY_MAX_BYTES, line_bytes);
using Widest = hn::FixedTag<std::uint8_t, widest_bytes>;
constexpr Widest widest;
using kernel::HWY_NAMESPACE::bytes16;
using kernel::HWY_NAMESPACE::load;
using kernel::HWY_NAMESPACE::store;
using kernel::HWY_NAMESPACE::transpose_within_blocks;

template <bool streamed, class D>
HWY_INLINE void put(D d, hn::Vec<D> v, std::byte* p) {
  if constexpr (streamed) {
    hn::Stream(v, d, reinterpret_cast<std::uint8_t*>(p));
  } else {
    store(d, v, p);
  }
}

template <bool streamed>
HWY_INLINE void copy_line(std::byte* to, const std::byte* from) {
  for (std::size_t i = 0; i < line_bytes; i += widest_bytes)
    put<streamed>(widest, load(widest, from + i), to + i);
}

// Loads a vector from pieces of P bytes, piece i from at(i). Loads place the pieces for free, whereas
// shuffles in registers limit the speed.
template <std::size_t P, class D, class At>
HWY_INLINE hn::Vec<D> load_pieces(D d, const At& at) {
  constexpr std::size_t pieces = hn::MaxLanes(d) / P;
  if constexpr (pieces == 1) {
    return load(d, at(0));
#if HWY_TARGET <= HWY_AVX3
  } else if constexpr (pieces == 4) {
    const auto piece = [&](std::size_t i) HWY_ATTR { return load(bytes16, at(i)).raw; };
    __m512i v = _mm512_castsi128_si512(piece(0));
    v = _mm512_inserti32x4(v, piece(1), 1);
    v = _mm512_inserti32x4(v, piece(2), 2);
    return hn::Vec<D>{_mm512_inserti32x4(v, piece(3), 3)};
#endif
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load(half, at(1)), load(half, at(0)));
  }
}

// A block of N/W rows of P bytes. It has P/W columns, each of which fills a vector of N bytes. With N = 64, P
// = 16 needs fewer shuffles but so many loads that it is slower than P = 32.
template <std::size_t W, std::size_t N, std::size_t P = std::max<std::size_t>(16, N / 2)>
struct Block {
  static constexpr std::size_t n = 16 / W;
  static constexpr std::size_t columns = P / W;
  static constexpr std::size_t rows = N / W;
  using D = hn::FixedTag<std::uint8_t, N>;
  using V = hn::Vec<D>;

  // Row r is at at(r). Column c goes to to(c).
  template <class At, class To>
  static HWY_INLINE void transpose(const At& at, const To& to) {
    const D d;
    V v[P / 16][n];  // v[g]: the rows whose number divided by n is g modulo P/16
    for (std::size_t g = 0; g < P / 16; ++g) {
      for (std::size_t i = 0; i < n; ++i)
        v[g][i] = load_pieces<P>(d, [&](std::size_t piece) { return at((piece * (P / 16) + g) * n + i); });
      transpose_within_blocks<W>(v[g]);
    }
    for (std::size_t i = 0; i < n; ++i) {
      if constexpr (P == 16) {
        store(d, v[0][i], to(i));
      } else {
        store(d, even(v[0][i], v[1][i]), to(i));
        store(d, odd(v[0][i], v[1][i]), to(n + i));
      }
    }
  }

 private:
  // Return a0 b0 a2 b2 and a1 b1 a3 b3, for blocks of 16 bytes a0 .. a3 and b0 .. b3.
#if HWY_TARGET <= HWY_AVX3  // one instruction each; elsewhere P is 16
  static HWY_INLINE V even(V a, V b) {
    return V{_mm512_permutex2var_epi64(a.raw, _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13), b.raw)};
  }
  static HWY_INLINE V odd(V a, V b) {
    return V{_mm512_permutex2var_epi64(a.raw, _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15), b.raw)};
  }
#endif
};

// Calls body with each 16-byte part of v, and its number.
template <std::size_t first = 0, class D, class Body>
HWY_INLINE void for_each_part(D d, hn::Vec<D> v, const Body& body) {
#if HWY_TARGET <= HWY_AVX3
  if constexpr (hn::MaxLanes(d) == 64) {
    body(0, hn::Vec<decltype(bytes16)>{_mm512_castsi512_si128(v.raw)});
    body(1, hn::Vec<decltype(bytes16)>{_mm512_extracti32x4_epi32(v.raw, 1)});
    body(2, hn::Vec<decltype(bytes16)>{_mm512_extracti32x4_epi32(v.raw, 2)});
    body(3, hn::Vec<decltype(bytes16)>{_mm512_extracti32x4_epi32(v.raw, 3)});
    return;
  }
#endif
  if constexpr (hn::MaxLanes(d) == 16) {
    body(first, v);
  } else {
    const hn::Half<D> half;
    for_each_part<first>(half, hn::LowerHalf(half, v), body);
    for_each_part<first + hn::MaxLanes(d) / 32>(half, hn::UpperHalf(half, v), body);
  }
}

// A block of 16/W rows of N bytes. Its N/W columns have 16 bytes each.
template <std::size_t W, std::size_t N>
struct FlatBlock {
  static constexpr std::size_t n = 16 / W;
  static constexpr std::size_t columns = N / W;
  static constexpr std::size_t rows = n;
  using D = hn::FixedTag<std::uint8_t, N>;
  using V = hn::Vec<D>;

  template <class At, class To>
  static HWY_INLINE void transpose(const At& at, const To& to) {
    const D d;
    V v[n];
    for (std::size_t i = 0; i < n; ++i) v[i] = load(d, at(i));
    transpose_within_blocks<W>(v);
    for (std::size_t i = 0; i < n; ++i)
      for_each_part(d, v[i],
                    [&](std::size_t part, auto bytes) HWY_ATTR { store(bytes16, bytes, to(part * n + i)); });
  }
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace xorder::memory::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
