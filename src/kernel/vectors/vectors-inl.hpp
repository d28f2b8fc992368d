// Loads, stores and transposes vectors and blocks of them, for the files that Highway compiles once for each
// kind of processor.
#if defined(XORDER_KERNEL_VECTORS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef XORDER_KERNEL_VECTORS_INL
#undef XORDER_KERNEL_VECTORS_INL
#else
#define XORDER_KERNEL_VECTORS_INL
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernel/vectors/micro.hpp"

HWY_BEFORE_NAMESPACE();
namespace xorder::kernel::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The scalar target has no vectors (Highway has no SSE2 before 1.0.5).
#if HWY_TARGET == HWY_SCALAR

template <bool streamed>
HWY_INLINE void copy_line(std::byte* to, const std::byte* from) {
  std::memcpy(to, from, line_bytes);
}

template <bool streamed>
HWY_INLINE void copy_part_of_line(std::byte* to, const std::byte* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

#else

constexpr hn::FixedTag<std::uint8_t, 16> bytes16;
// 16 bytes if the length of vectors is not known at compile time.
constexpr std::size_t widest_bytes =
    HWY_HAVE_SCALABLE ? 16 : std::min<std::size_t>(HWY_MAX_BYTES, line_bytes);
using Widest = hn::FixedTag<std::uint8_t, widest_bytes>;
constexpr Widest widest;

// Permuting bytes freely within 64 is one instruction, or else within 16.
constexpr std::size_t permuted_bytes = HWY_TARGET == HWY_AVX3_DL ? 64 : 16;
using Permuted = hn::FixedTag<std::uint8_t, permuted_bytes>;

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const std::byte* p) {
  return hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(p));
}
template <class D>
HWY_INLINE void store(D d, hn::Vec<D> v, std::byte* p) {
  hn::StoreU(v, d, reinterpret_cast<std::uint8_t*>(p));
}

// Transposes 16/W vectors of blocks of 16/W elements, within each block of 16 bytes. Each round is a perfect
// shuffle of the vectors' elements: the top bit of the row's number moves below the lowest bit of the lane's
// number, and the lane's top bit moves below the row's lowest bit. After lg(16/W) rounds, rows and lanes have
// changed places.
template <std::size_t W, class V>
HWY_INLINE void transpose_within_blocks(V (&v)[16 / W]) {
  if constexpr (W < 16) {
    using Element = hwy::UnsignedFromSize<W>;
    constexpr std::size_t n = 16 / W;
    const hn::DFromV<V> bytes;
    const hn::Repartition<Element, hn::DFromV<V> > d;
    for (std::size_t round = 1; round < n; round *= 2) {
      V next[n];
      for (std::size_t i = 0; i < n / 2; ++i) {
        const auto a = hn::BitCast(d, v[i]);
        const auto b = hn::BitCast(d, v[i + n / 2]);
        next[2 * i] = hn::BitCast(bytes, hn::InterleaveLower(d, a, b));
        next[2 * i + 1] = hn::BitCast(bytes, hn::InterleaveUpper(d, a, b));
      }
      for (std::size_t i = 0; i < n; ++i) v[i] = next[i];
    }
  }
}

// Permutes the bytes of a vector of 64 bytes, for which processors with AVX3_DL have an instruction, or those
// of each 16 of another one.
template <class D>
HWY_INLINE hn::Vec<D> permuted(D, hn::Vec<D> v, hn::Vec<D> order) {
#if HWY_TARGET == HWY_AVX3_DL
  if constexpr (hn::MaxLanes(D()) == 64) return hn::Vec<D>{_mm512_permutexvar_epi8(order.raw, v.raw)};
#endif
  return hn::TableLookupBytes(v, order);
}

template <bool streamed, class D>
HWY_INLINE void put(D d, hn::Vec<D> v, std::byte* p) {
  if constexpr (streamed) {
    hn::Stream(v, d, reinterpret_cast<std::uint8_t*>(p));
  } else {
    store(d, v, p);
  }
}

// Writes a part of a line past the cache. An ordinary store waits until the line was read, and all stores
// behind it wait too, so writing both ends of short segments with memcpy takes several times as long. Fewer
// than 4 bytes are stored ordinarily.
template <bool streamed>
HWY_INLINE void copy_part_of_line(std::byte* to, const std::byte* from, std::size_t bytes) {
#if HWY_ARCH_X86_64
  // These stores need no alignment, and the last one may overlap the one before.
  const auto put_word = [&]<class Word, class Store>(Word word, const Store& store) {
    for (std::size_t i = 0; i < bytes; i += sizeof word) {
      const std::size_t at = std::min(i, bytes - sizeof word);
      std::memcpy(&word, from + at, sizeof word);
      store(reinterpret_cast<Word*>(to + at), word);
    }
  };
  if (streamed && bytes >= sizeof(long long))
    return put_word(0LL, [](long long* p, long long v) { _mm_stream_si64(p, v); });
  if (streamed && bytes >= sizeof(int)) return put_word(0, [](int* p, int v) { _mm_stream_si32(p, v); });
#endif
  std::memcpy(to, from, bytes);
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
    transpose(
        at, [](V v) HWY_ATTR { return v; }, [&](std::size_t c, V v) HWY_ATTR { store(D(), v, to(c)); });
  }
  // The same for rows that become such a block by change(v) of their pieces. Column c goes to put(c, column),
  // one after the other.
  template <class At, class Change, class Put>
  static HWY_INLINE void transpose(const At& at, const Change& change, const Put& put) {
    const D d;
    V v[P / 16][n];  // v[g]: the rows whose number divided by n is g modulo P/16
    for (std::size_t g = 0; g < P / 16; ++g) {
      for (std::size_t i = 0; i < n; ++i) {
        v[g][i] =
            change(load_pieces<P>(d, [&](std::size_t piece) { return at((piece * (P / 16) + g) * n + i); }));
      }
      transpose_within_blocks<W>(v[g]);
    }
    if constexpr (P == 16) {
      for (std::size_t i = 0; i < n; ++i) put(i, v[0][i]);
    } else {
      for (std::size_t i = 0; i < n; ++i) put(i, even(v[0][i], v[1][i]));
      for (std::size_t i = 0; i < n; ++i) put(n + i, odd(v[0][i], v[1][i]));
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

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace xorder::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
