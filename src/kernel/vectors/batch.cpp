// Transposes batches: matrices of whole blocks, for none of which anything has to be looked up.
#include "kernel/vectors/batch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/vectors/batch.cpp"
#include <hwy/foreach_target.h>
// Highway compiles the rest of this file once for each kind of processor, from this line on.
#include <hwy/highway.h>

#include "kernel/vectors/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace xorder::kernel::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

BatchFunction batch_of(std::size_t, std::size_t, std::size_t) { return nullptr; }

#else

template <class B, std::size_t W>
void transpose_batch(const Batch& batch) {
  const Batch b = batch;  // a copy, which no store can change
  const std::byte* source = b.source;
  std::byte* target = b.target;
  const std::size_t row_bytes = b.columns * W, pitch = b.rows * W;
  for (std::size_t i = 0; i < b.count; ++i, source += b.source_step, target += b.target_step) {
    for (std::size_t r = 0; r < b.rows; r += B::rows) {
      for (std::size_t c = 0; c < b.columns; c += B::columns) {
        const std::byte* const from = source + r * row_bytes + c * W;
        std::byte* const to = target + c * pitch + r * W;
        B::transpose([&](std::size_t row) { return from + row * row_bytes; },
                     [&](std::size_t column) { return to + column * pitch; });
      }
    }
  }
}

template <std::size_t W>
BatchFunction batch_by(std::size_t rows, std::size_t columns) {
  BatchFunction function = nullptr;
  const auto with = [&](auto block) {
    if (rows % block.rows == 0 && columns % block.columns == 0)
      function = transpose_batch<decltype(block), W>;
    return function != nullptr;
  };
  // 16 single bytes in each of many rows are split faster.
  if (W == 1 && columns == 16 && rows >= 32) return nullptr;
  // With vectors of 64 bytes parcels are fast, and this was not measured.
  if constexpr (widest_bytes <= 32) (void)(with(Block<W, widest_bytes, 16>()) || with(Block<W, 16>()));
  return function;
}

BatchFunction batch_of(std::size_t element_bytes, std::size_t rows, std::size_t columns) {
  switch (element_bytes) {
    case 1:
      return batch_by<1>(rows, columns);
    case 2:
      return batch_by<2>(rows, columns);
    case 4:
      return batch_by<4>(rows, columns);
    case 8:
      return batch_by<8>(rows, columns);
    case 16:
      return batch_by<16>(rows, columns);
    default:
      return nullptr;
  }
}

#endif

}  // namespace xorder::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace xorder::kernel {

HWY_EXPORT(batch_of);

BatchFunction batch_function(std::size_t element_bytes, std::size_t rows, std::size_t columns) {
  constexpr std::size_t largest = 8192;  // so that source and target stay in the first-level cache
  if (rows * columns * element_bytes > largest) return nullptr;
  return HWY_DYNAMIC_DISPATCH(batch_of)(element_bytes, rows, columns);
}

}  // namespace xorder::kernel
#endif
