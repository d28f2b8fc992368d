// Loops over elements, whose size is a compile-time constant if it is a usual one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace xorder::kernel {

/// A size known at compile time; 0 means that it is not.
template <std::size_t N>
using ConstantSize = std::integral_constant<std::size_t, N>;

/// Calls f(ConstantSize<bytes>) for the usual sizes, f(ConstantSize<0>) for all others.
template <class F>
auto with_constant_size(std::uint64_t bytes, const F& f) {
  switch (bytes) {
    case 1:
      return f(ConstantSize<1>{});
    case 2:
      return f(ConstantSize<2>{});
    case 3:
      return f(ConstantSize<3>{});
    case 4:
      return f(ConstantSize<4>{});
    case 6:
      return f(ConstantSize<6>{});
    case 8:
      return f(ConstantSize<8>{});
    case 12:
      return f(ConstantSize<12>{});
    case 16:
      return f(ConstantSize<16>{});
    case 24:
      return f(ConstantSize<24>{});
    case 32:
      return f(ConstantSize<32>{});
    case 48:
      return f(ConstantSize<48>{});
    case 64:
      return f(ConstantSize<64>{});
    default:
      return f(ConstantSize<0>{});
  }
}

/// Copies one element of N bytes, or of `bytes` if N is 0.
template <std::size_t N>
inline void copy_element(std::byte* target, const std::byte* source, std::uint64_t bytes) {
  if constexpr (N != 0) {
    std::memcpy(target, source, N);
  } else {
    std::memcpy(target, source, bytes);
  }
}

}  // namespace xorder::kernel
