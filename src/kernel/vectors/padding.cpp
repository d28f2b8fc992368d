#include "kernel/vectors/padding.hpp"

// As in lines.cpp.
#define HWY_WANT_AVX3_DL

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/vectors/padding.cpp"
#include <hwy/foreach_target.h>
// Highway compiles the rest of this file once for each kind of processor, from this line on.
#include <hwy/highway.h>

#include <array>
#include <cstring>

#include "kernel/vectors/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace xorder::kernel::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

template <std::size_t w>
struct Cells {
  static void pad(const std::byte* source, std::byte* target, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) std::memcpy(target + i * cell_bytes(w), source + i * w, w);
  }
  static void unpad(const std::byte* source, std::byte* target, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) std::memcpy(target + i * w, source + i * cell_bytes(w), w);
  }
};

#else

// Vectors of N bytes, within which bytes are permuted. A vector of cells holds `used` bytes of elements.
template <std::size_t w, std::size_t N>
struct VectorOfCells {
  static constexpr std::size_t W = cell_bytes(w), elements = N / W, used = elements * w;
  using D = hn::FixedTag<std::uint8_t, N>;
  using V = hn::Vec<D>;
  using Order = std::array<std::uint8_t, N>;

  static constexpr Order padded = [] {
    Order order{};
    for (std::size_t j = 0; j < N; ++j)
      order[j] = static_cast<std::uint8_t>(j % W < w ? j / W * w + j % W : 0);
    return order;
  }();
  static constexpr Order packed = [] {
    Order order{};
    for (std::size_t j = 0; j < used; ++j) order[j] = static_cast<std::uint8_t>(j / w * W + j % w);
    return order;
  }();

  // Requires more than one vector. The last one is loaded from before its elements, so that nothing behind
  // them is read.
  static HWY_INLINE void pad(const std::byte* source, std::byte* target, std::size_t count) {
    constexpr std::size_t back = N - used;
    const D d;
    const V order = hn::LoadU(d, padded.data());
    for (; count > elements; count -= elements, source += used, target += N)
      store(d, permuted(d, load(d, source), order), target);
    const V shifted = hn::Add(order, hn::Set(d, static_cast<std::uint8_t>(back)));
    store(d, permuted(d, load(d, source - back), shifted), target);
  }
  // Each vector is stored whole, and the next one overwrites the overshoot.
  static HWY_INLINE void unpad(const std::byte* source, std::byte* target, std::size_t count) {
    const D d;
    const V order = hn::LoadU(d, packed.data());
    for (; count > elements; count -= elements, source += N, target += used)
      store(d, permuted(d, load(d, source), order), target);
    std::byte last[N];
    store(d, permuted(d, load(d, source), order), last);
    std::memcpy(target, last, used);
  }
};

template <std::size_t w>
struct Cells {
  using Short = VectorOfCells<w, 16>;
  using Long = VectorOfCells<w, HWY_TARGET == HWY_AVX3_DL ? 64 : 16>;
  static void pad(const std::byte* source, std::byte* target, std::size_t count) {
    (count > Long::elements ? Long::pad : Short::pad)(source, target, count);
  }
  static void unpad(const std::byte* source, std::byte* target, std::size_t count) {
    Long::unpad(source, target, count);
  }
};

#endif  // HWY_TARGET == HWY_SCALAR

Padding padding_of(std::size_t element_bytes) {
  const auto of = [](auto cells) { return Padding{cells.pad, cells.unpad}; };
  switch (element_bytes) {
    case 3:
      return of(Cells<3>());
    case 5:
      return of(Cells<5>());
    case 6:
      return of(Cells<6>());
    case 7:
      return of(Cells<7>());
    default:
      return {nullptr, nullptr};
  }
}

}  // namespace xorder::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace xorder::kernel {

HWY_EXPORT(padding_of);

Padding padding_functions(std::size_t element_bytes) {
  return HWY_DYNAMIC_DISPATCH(padding_of)(element_bytes);
}

}  // namespace xorder::kernel
#endif
