#include "kernel/vectors/mirror.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/vectors/mirror.cpp"
#include <hwy/foreach_target.h>
// Highway compiles the rest of this file once for each kind of processor, from this line on.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace xorder::kernel::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <std::size_t W>
void swap_one_by_one(const std::byte* source, std::byte* target, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i, source += W, target += W) {
    std::byte number[W];
    std::reverse_copy(source, source + W, number);
    std::memcpy(target, number, W);
  }
}

template <std::size_t W>
void mirror_one_by_one(const std::byte* source, std::byte* target, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) std::memcpy(target + i * W, source + (count - 1 - i) * W, W);
}

#if HWY_TARGET == HWY_SCALAR

template <std::size_t W>
constexpr MirrorFunction mirror = mirror_one_by_one<W>;
template <std::size_t W>
constexpr MirrorFunction mirror_odd = mirror_one_by_one<W>;
template <std::size_t W>
constexpr SwapFunction swap = swap_one_by_one<W>;

#else

using Bytes = hn::ScalableTag<std::uint8_t>;

const std::uint8_t* octets(const std::byte* data) { return reinterpret_cast<const std::uint8_t*>(data); }
std::uint8_t* octets(std::byte* data) { return reinterpret_cast<std::uint8_t*>(data); }

constexpr std::size_t block = 16;

// Byte i of each block comes from byte from(i) of it.
template <class D, class From>
HWY_INLINE auto order_of(D d, const From& from) {
  HWY_ALIGN std::uint8_t order[block];
  for (std::size_t i = 0; i < block; ++i) order[i] = static_cast<std::uint8_t>(from(i));
  return hn::LoadDup128(d, order);
}

template <std::size_t W>
void mirror(const std::byte* source, std::byte* target, std::size_t count) {
  const std::size_t vector = hn::Lanes(Bytes());
  const auto order = order_of(Bytes(), [](std::size_t i) { return block - W - i / W * W + i % W; });
  std::size_t left = count * W;
  for (; left >= vector; left -= vector, target += vector) {
    const auto v = hn::TableLookupBytes(hn::LoadU(Bytes(), octets(source + left - vector)), order);
    hn::StoreU(hn::ReverseBlocks(Bytes(), v), Bytes(), octets(target));
  }
  mirror_one_by_one<W>(source, target, left / W);
}

// For elements that do not fill a block: as many as it has room for, and what follows them is written again.
template <std::size_t W>
void mirror_odd(const std::byte* source, std::byte* target, std::size_t count) {
  using Block = hn::FixedTag<std::uint8_t, block>;
  constexpr std::size_t whole = block / W * W;
  const auto order =
      order_of(Block(), [](std::size_t i) { return i < whole ? block - W - i / W * W + i % W : 0; });
  std::size_t left = count * W;
  for (; left >= block; left -= whole, target += whole) {
    const auto v = hn::LoadU(Block(), octets(source + left - block));
    hn::StoreU(hn::TableLookupBytes(v, order), Block(), octets(target));
  }
  mirror_one_by_one<W>(source, target, left / W);
}

template <std::size_t W>
void swap(const std::byte* source, std::byte* target, std::size_t count) {
  const std::size_t vector = hn::Lanes(Bytes());
  const auto order = order_of(Bytes(), [](std::size_t i) { return i / W * W + W - 1 - i % W; });
  std::size_t left = count * W;
  for (; left >= vector; left -= vector, source += vector, target += vector)
    hn::StoreU(hn::TableLookupBytes(hn::LoadU(Bytes(), octets(source)), order), Bytes(), octets(target));
  swap_one_by_one<W>(source, target, left / W);
}

#endif

MirrorFunction mirror_of(std::size_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return mirror<1>;
    case 2:
      return mirror<2>;
    case 3:
      return mirror_odd<3>;
    case 4:
      return mirror<4>;
    case 5:
      return mirror_odd<5>;
    case 6:
      return mirror_odd<6>;
    case 7:
      return mirror_odd<7>;
    case 8:
      return mirror<8>;
    case 16:
      return mirror<16>;
    default:
      return nullptr;
  }
}

SwapFunction swap_of(std::size_t number_bytes) {
  switch (number_bytes) {
    case 2:
      return swap<2>;
    case 4:
      return swap<4>;
    case 8:
      return swap<8>;
    case 16:
      return swap<16>;
    default:
      return nullptr;
  }
}

}  // namespace xorder::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace xorder::kernel {

HWY_EXPORT(mirror_of);
HWY_EXPORT(swap_of);

MirrorFunction mirror_function(std::size_t element_bytes) {
  return HWY_DYNAMIC_DISPATCH(mirror_of)(element_bytes);
}
SwapFunction swap_function(std::size_t number_bytes) { return HWY_DYNAMIC_DISPATCH(swap_of)(number_bytes); }

}  // namespace xorder::kernel
#endif
