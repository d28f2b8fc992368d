// Splits records of few elements into columns, and joins columns to records, for the files that Highway
// compiles once for each kind of processor.
#if defined(XORDER_KERNEL_VECTORS_NARROW_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef XORDER_KERNEL_VECTORS_NARROW_INL
#undef XORDER_KERNEL_VECTORS_NARROW_INL
#else
#define XORDER_KERNEL_VECTORS_NARROW_INL
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#include "kernel/vectors/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace xorder::kernel::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

// Matrices of few columns, k ≤ K, whose rows follow each other. A load of 16 bytes has 16/(K W) whole rows. A
// shuffle makes K columns of them, some of which are unused. K of these vectors are transposed like a block
// of elements of 16/K bytes. join() does the reverse. Blocks have N/W rows.
template <std::size_t W, std::size_t K, std::size_t N>
struct Narrow {
  static constexpr std::size_t in_piece = 16 / (K * W);  // rows
  static constexpr std::size_t rows = N / W;
  using D = hn::FixedTag<std::uint8_t, N>;
  using V = hn::Vec<D>;
  // Byte j of the result comes from byte order[j]; 0x80 marks an unused byte.
  using Order = std::array<std::uint8_t, 16>;

  static constexpr Order to_columns(std::size_t k) {
    Order order{};
    order.fill(0x80);
    for (std::size_t c = 0; c < k; ++c) {
      for (std::size_t r = 0; r < in_piece; ++r) {
        for (std::size_t b = 0; b < W; ++b)
          order[(c * in_piece + r) * W + b] = static_cast<std::uint8_t>((r * k + c) * W + b);
      }
    }
    return order;
  }
  static constexpr Order inverse(const Order& order) {
    Order back{};
    back.fill(0x80);
    for (std::size_t i = 0; i < 16; ++i) {
      if (order[i] < 16) back[order[i]] = static_cast<std::uint8_t>(i);
    }
    return back;
  }
  static constexpr auto columns_of = [] {
    std::array<Order, K + 1> all{};
    for (std::size_t k = 1; k <= K; ++k) all[k] = to_columns(k);
    return all;
  }();
  static constexpr auto rows_of = [] {
    std::array<Order, K + 1> all{};
    for (std::size_t k = 1; k <= K; ++k) all[k] = inverse(columns_of[k]);
    return all;
  }();

  static HWY_INLINE V shuffled(V v, const Order& order) {
    if constexpr (in_piece == 1) {
      return v;
    } else {
      return hn::TableLookupBytes(v, hn::LoadDup128(D(), order.data()));
    }
  }

  // Reads up to 16 bytes beyond the block.
  static HWY_INLINE void split_block(const std::byte* source, std::size_t k, std::byte* target,
                                     std::size_t pitch) {
    const D d;
    V v[K];
    for (std::size_t i = 0; i < K; ++i, source += in_piece * k * W) {
      v[i] = shuffled(load_pieces<16>(d, [&](std::size_t piece) { return source + piece * 16 * k; }),
                      columns_of[k]);
    }
    transpose_within_blocks<16 / K>(v);
    for (std::size_t c = 0; c < K; ++c) {
      if (c < k) store(d, v[c], target + c * pitch);
    }
  }
  // Writes up to 16 bytes beyond the block.
  static HWY_INLINE void join_block(const std::byte* const* columns, std::size_t at, std::size_t k,
                                    std::byte* target) {
    const D d;
    V v[K];
    for (std::size_t c = 0; c < K; ++c) v[c] = load(d, columns[c < k ? c : 0] + at);
    transpose_within_blocks<16 / K>(v);
    for (std::size_t m = 0; m < K; ++m) v[m] = shuffled(v[m], rows_of[k]);
    store_lanes(v, in_piece * k * W, target);
  }

  // Blocks near the end go through local buffers, so that nothing beyond the arrays is read or written.
  static void split(const std::byte* source, std::size_t count, std::size_t k, std::byte* target,
                    std::size_t pitch) {
    for (std::size_t r = 0; r < count; r += rows, source += rows * k * W, target += rows * W) {
      if (count - r >= rows + 16) {
        split_block(source, k, target, pitch);
        continue;
      }
      const std::size_t some = std::min(rows, count - r);
      std::byte in[N * K + 16], out[N * K];
      std::memcpy(in, source, some * k * W);
      split_block(in, k, out, N);
      for (std::size_t c = 0; c < k; ++c) std::memcpy(target + c * pitch, out + c * N, some * W);
    }
  }
  static void join(const std::byte* const* columns, std::size_t k, std::size_t count, std::byte* target) {
    for (std::size_t r = 0; r < count; r += rows, target += rows * k * W) {
      if (count - r >= rows + 16) {
        join_block(columns, r * W, k, target);
        continue;
      }
      const std::size_t some = std::min(rows, count - r);
      std::byte in[N * K], out[N * K + 16];
      const std::byte* copied[K] = {};
      for (std::size_t c = 0; c < k; ++c) {
        copied[c] = in + c * N;
        std::memcpy(in + c * N, columns[c] + r * W, some * W);
      }
      join_block(copied, 0, k, out);
      std::memcpy(target, out, some * k * W);
    }
  }

 private:
  // Stores the first `bytes` bytes of lane l of each vector, one after the other, then those of lane l + 1.
  template <class V2>
  static HWY_INLINE std::byte* store_lanes(const V2 (&v)[K], std::size_t bytes, std::byte* target) {
    const hn::DFromV<V2> d;
    if constexpr (hn::MaxLanes(d) == 16) {
      for (std::size_t m = 0; m < K; ++m, target += bytes) store(d, v[m], target);
      return target;
    } else {
      const hn::Half<hn::DFromV<V2> > half;
      hn::Vec<decltype(half)> part[K];
      for (std::size_t m = 0; m < K; ++m) part[m] = hn::LowerHalf(half, v[m]);
      target = store_lanes(part, bytes, target);
      for (std::size_t m = 0; m < K; ++m) part[m] = hn::UpperHalf(half, v[m]);
      return store_lanes(part, bytes, target);
    }
  }
};

// Calls body with the Narrow for this number of columns. Returns whether there is one.
template <std::size_t W, class Body>
bool with_narrow(std::size_t columns, const Body& body) {
  const std::size_t k = std::bit_ceil(columns);
  const auto is = [&](auto narrow, std::size_t width) {
    if (k == width) body(narrow);
    return k == width;
  };
  if constexpr (W <= 8) {
    if (is(Narrow<W, 2, widest_bytes>(), 2)) return true;
  }
  if constexpr (W <= 4) {
    if (is(Narrow<W, 4, widest_bytes>(), 4)) return true;
  }
  if constexpr (W <= 2) {
    if (is(Narrow<W, 8, widest_bytes>(), 8)) return true;
  }
  if constexpr (W <= 1) {
    if (is(Narrow<W, 16, widest_bytes>(), 16)) return true;
  }
  return false;
}

#endif

}  // namespace xorder::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
