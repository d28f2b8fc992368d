#include "kernel/micro.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/micro.cpp"
#include <hwy/foreach_target.h>
// Highway compiles the rest of this file once for each kind of processor, from this line on.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstring>

#include "kernel/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace xorder::kernel::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

// No vectors (Highway has no SSE2 before 1.0.5), so plain loops.
template <std::size_t W, bool xored>
void tile(const TileRows& rows) {
  for (std::size_t u = 0; u < line_bytes / W; ++u) {
    for (std::size_t t = 0; t < line_bytes / W; ++t) {
      const std::size_t from = xored ? (u * W) ^ rows.source_xor[t] : u * W;
      const std::size_t to = xored ? (t * W) ^ rows.target_xor[u] : t * W;
      std::memcpy(rows.target[u] + to, rows.source[t] + from, W);
    }
  }
}

void copy_xored(std::byte* target, const std::byte* source, std::uint64_t bytes, std::uint64_t mask) {
  for (std::uint64_t i = 0; i < bytes; ++i) target[i ^ mask] = source[i];
}

#else

using Vector = hn::Vec<decltype(bytes16)>;
constexpr std::size_t pieces = line_bytes / 16;

HWY_INLINE Vector load(const std::byte* p) { return load(bytes16, p); }
HWY_INLINE void store(Vector v, std::byte* p) { store(bytes16, v, p); }

// Byte i of the result is byte i ^ mask of v, mask < 16.
HWY_INLINE Vector xor_lanes(Vector v, std::uint8_t mask) {
  return hn::TableLookupBytes(v, hn::Xor(hn::Iota(bytes16, 0), hn::Set(bytes16, mask)));
}

// Block by block of 16/W × 16/W elements.
template <std::size_t W, bool xored>
void tile(const TileRows& rows) {
  constexpr std::size_t n = 16 / W;
  for (std::size_t row = 0; row < pieces; ++row) {
    for (std::size_t column = 0; column < pieces; ++column) {
      Vector v[n];
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t t = row * n + i;
        if constexpr (xored) {
          const std::uint8_t mask = rows.source_xor[t];
          v[i] = xor_lanes(load(rows.source[t] + ((column * 16) ^ (mask & 0x30U))), mask & 15U);
        } else {
          v[i] = load(rows.source[t] + column * 16);
        }
      }
      transpose_within_blocks<W>(v);
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t u = column * n + i;
        std::byte* const to = rows.target[u];
        if constexpr (xored) {
          const std::uint8_t mask = rows.target_xor[u];
          store(xor_lanes(v[i], mask & 15U), to + ((row * 16) ^ (mask & 0x30U)));
        } else {
          store(v[i], to + row * 16);
        }
      }
    }
  }
}

void copy_xored(std::byte* target, const std::byte* source, std::uint64_t bytes, std::uint64_t mask) {
  const auto within = static_cast<std::uint8_t>(mask & 15);
  const std::uint64_t between = mask & ~std::uint64_t{15};
  for (std::uint64_t i = 0; i < bytes; i += 16)
    store(xor_lanes(load(source + i), within), target + (i ^ between));
}

#endif  // HWY_TARGET == HWY_SCALAR

template <std::size_t W>
TileKernels kernels_of() {
  return {tile<W, false>, tile<W, true>};
}

TileKernels tile_kernels(std::uint64_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return kernels_of<1>();
    case 2:
      return kernels_of<2>();
    case 4:
      return kernels_of<4>();
    case 8:
      return kernels_of<8>();
    case 16:
      return kernels_of<16>();
    default:
      return {};
  }
}

void copy_streamed(std::byte* target, const std::byte* source, std::uint64_t bytes) {
  const std::uint64_t head =
      (line_bytes - reinterpret_cast<std::uintptr_t>(target) % line_bytes) % line_bytes;
  if (bytes < head + line_bytes) {
    std::memcpy(target, source, bytes);
    return;
  }
  std::memcpy(target, source, head);
  std::uint64_t i = head;
  for (; i + line_bytes <= bytes; i += line_bytes) copy_line<true>(target + i, source + i);
  std::memcpy(target + i, source + i, bytes - i);
}

CopyFunction streaming() { return copy_streamed; }

}  // namespace xorder::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace xorder::kernel {

HWY_EXPORT(tile_kernels);
HWY_EXPORT(copy_xored);
HWY_EXPORT(streaming);

TileKernels tile_kernels(std::uint64_t element_bytes) {
  return HWY_DYNAMIC_DISPATCH(tile_kernels)(element_bytes);
}

void copy_xored(std::byte* target, const std::byte* source, std::uint64_t bytes, std::uint64_t mask) {
  HWY_DYNAMIC_DISPATCH(copy_xored)(target, source, bytes, mask);
}

CopyFunction copy_function(bool streamed) {
  if (streamed) return HWY_DYNAMIC_DISPATCH(streaming)();
  return [](std::byte* target, const std::byte* source, std::uint64_t bytes) {
    std::memcpy(target, source, bytes);
  };
}

void finish_streams() { hwy::FlushStream(); }

}  // namespace xorder::kernel
#endif
