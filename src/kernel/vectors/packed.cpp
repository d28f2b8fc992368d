#include "kernel/vectors/packed.hpp"

// As in lines.cpp.
#define HWY_WANT_AVX3_DL

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/vectors/packed.cpp"
#include <hwy/foreach_target.h>
// Highway compiles the rest of this file once for each kind of processor, from this line on.
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "kernel/records.hpp"
#include "kernel/vectors/micro.hpp"
#include "kernel/vectors/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace xorder::kernel::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

TransposeFunction packed_of(std::size_t) { return nullptr; }

#else

// A block of elements of w bytes, 3 or 5 to 7, which are W bytes wide in registers. A piece of a row has P
// bytes, of which the block's columns take the first ones.
template <std::size_t w, std::size_t N>
struct PackedBlock {
  static constexpr std::size_t W = std::bit_ceil(w), P = std::max<std::size_t>(16, N / 2);
  using Wide = Block<W, N, P>;
  using V = typename Wide::V;
  static constexpr std::size_t columns = Wide::columns, rows = Wide::rows, piece = P;
  static constexpr std::size_t excess_rows = (16 - 16 / W * w + w - 1) / w;

  // Row r is at at(r) + back. Nothing is read but P bytes from each at(r) on. Column c goes to to(c).
  // Unless it is stored exactly, some bytes behind it are overwritten, at most excess_rows elements.
  template <class At, class To>
  static HWY_INLINE void transpose(const At& at, std::size_t back, const To& to, bool exactly) {
    const typename Wide::D d;
    const V order = hn::Add(hn::LoadU(d, widened.data()), hn::Set(d, static_cast<std::uint8_t>(back)));
    Wide::transpose(
        at, [&](V v) HWY_ATTR { return permuted(d, v, order); },
        [&](std::size_t c, V v) HWY_ATTR { store_packed(v, to(c), exactly); });
  }

 private:
  using Order = std::array<std::uint8_t, N>;
  static constexpr std::size_t register_bytes = N == 64 ? 64 : 16;  // permuted at once
  // Byte j of the wide elements is byte widened[j] of the pieces, for bytes that are used.
  static constexpr Order widened = [] {
    Order order{};
    for (std::size_t j = 0; j < N; ++j)
      order[j] =
          static_cast<std::uint8_t>(j % W < w ? j / P * P % register_bytes + j % P / W * w + j % W : 0);
    return order;
  }();
  // And the other way round, in each register.
  static constexpr Order packed = [] {
    Order order{};
    for (std::size_t j = 0; j < N; ++j) {
      const std::size_t at = j % register_bytes;
      order[j] = static_cast<std::uint8_t>(at < register_bytes / W * w ? at / w * W + at % w : 0);
    }
    return order;
  }();

  // Stores `rows` elements. To store nothing else takes longer, as their end goes by way of the stack.
  static HWY_INLINE void store_packed(V v, std::byte* to, [[maybe_unused]] bool exactly) {
    const typename Wide::D d;
    const V narrow = permuted(d, v, hn::LoadU(d, packed.data()));
#if HWY_TARGET == HWY_AVX3_DL
    if constexpr (N == 64) {
      _mm512_mask_storeu_epi8(to, (std::uint64_t{1} << (rows * w)) - 1, narrow.raw);
      return;
    }
#endif
    constexpr std::size_t used = 16 / W * w;
    for_each_part(d, narrow, [&](std::size_t part, auto bytes) HWY_ATTR {
      if (!exactly || part + 1 < N / 16) {
        store(bytes16, bytes, to + part * used);  // the next part overwrites the overshoot
        return;
      }
      std::byte last[16];
      store(bytes16, bytes, last);
      std::memcpy(to + part * used, last, used);
    });
  }
};

// As transpose_in_blocks. Requires at least a piece in each row.
template <class B, std::size_t w>
HWY_INLINE void transpose_in_packed_blocks(const std::byte* const* rows, std::size_t count,
                                           std::size_t columns, std::byte* target, std::size_t pitch,
                                           bool fetching) {
  for (std::size_t r = 0; r < count; r += B::rows) {
    const std::size_t row = std::min(r, count - B::rows);
    const std::byte* const* const from = rows + row;
    // Otherwise the next block overwrites the overshoot, which spares a detour through a buffer.
    const bool exactly = row + B::rows + B::excess_rows > count;
    std::size_t asked = 0;
    for (std::size_t c = 0; c < columns; c += B::columns) {
      for (; fetching && asked <= c * w; asked += line_bytes) {
        for (std::size_t i = 0; i < B::rows; ++i) prefetch(from[i] + asked + bytes_ahead);
      }
      const std::size_t column = std::min(c, columns - B::columns);
      const std::size_t at = std::min(column * w, columns * w - B::piece);
      std::byte* const to = target + column * pitch + row * w;
      B::transpose([&](std::size_t r2) { return from[r2] + at; }, column * w - at,
                   [&](std::size_t c2) { return to + c2 * pitch; }, exactly);
    }
  }
}

template <std::size_t w>
void transpose_packed(const std::byte* const* rows, std::size_t count, std::size_t columns, std::byte* target,
                      std::size_t pitch, std::size_t, bool fetching) {
  const auto with = [&](auto block) {
    if (count < block.rows || columns * w < block.piece) return false;
    transpose_in_packed_blocks<decltype(block), w>(rows, count, columns, target, pitch, fetching);
    return true;
  };
  // Bytes of 64 are permuted by one instruction, or not at all.
  constexpr std::size_t wide = HWY_TARGET == HWY_AVX3_DL ? 64 : std::min<std::size_t>(32, widest_bytes);
  if (with(PackedBlock<w, wide>()) || with(PackedBlock<w, 16>())) return;
  transpose_records(rows, count, columns, target, pitch, w, fetching);
}

TransposeFunction packed_of(std::size_t element_bytes) {
  switch (element_bytes) {
    case 3:
      return transpose_packed<3>;
    case 5:
      return transpose_packed<5>;
    case 6:
      return transpose_packed<6>;
    case 7:
      return transpose_packed<7>;
    default:
      return nullptr;
  }
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace xorder::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace xorder::kernel {

HWY_EXPORT(packed_of);

TransposeFunction packed_transpose_function(std::size_t element_bytes) {
  return HWY_DYNAMIC_DISPATCH(packed_of)(element_bytes);
}

}  // namespace xorder::kernel
#endif
