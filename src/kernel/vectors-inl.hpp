// Loads, stores and transposes vectors, for the files that Highway compiles once for each kind of processor.
#if defined(XORDER_KERNEL_VECTORS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef XORDER_KERNEL_VECTORS_INL
#undef XORDER_KERNEL_VECTORS_INL
#else
#define XORDER_KERNEL_VECTORS_INL
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace xorder::kernel::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The scalar target has no vectors (Highway has no SSE2 before 1.0.5).
#if HWY_TARGET != HWY_SCALAR

constexpr hn::FixedTag<std::uint8_t, 16> bytes16;

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

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace xorder::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
