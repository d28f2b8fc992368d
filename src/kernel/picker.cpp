#include "kernel/picker.hpp"

// As in lines.cpp.
#define HWY_WANT_AVX3_DL

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/picker.cpp"
#include <hwy/foreach_target.h>
// Highway compiles the rest of this file once for each kind of processor, from this line on.
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernel/vectors-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace xorder::kernel::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

Picker::ByWindows by_windows() { return {}; }

#else

// Permuting bytes freely within 64 is one instruction, or else within 16.
constexpr std::size_t vector_bytes = HWY_TARGET == HWY_AVX3_DL ? 64 : 16;
using Bytes = hn::FixedTag<std::uint8_t, vector_bytes>;
using Vector = hn::Vec<Bytes>;

// Adds the bytes of a window to those that were picked before.
HWY_INLINE Vector add_window(Vector picked, const std::byte* window, const std::uint8_t* order) {
  const Vector from = load(Bytes(), window), where = hn::LoadU(Bytes(), order);
#if HWY_TARGET == HWY_AVX3_DL
  return Vector{
      _mm512_mask_permutexvar_epi8(picked.raw, ~_mm512_movepi8_mask(where.raw), where.raw, from.raw)};
#else
  return hn::Or(picked, hn::TableLookupBytesOr0(from, where));
#endif
}

// Windows = 0 means picker.windows().
template <std::size_t Windows>
void pick_vectors(const Picker& picker, std::byte* to, const std::byte* from, std::size_t vectors) {
  const std::size_t windows = Windows != 0 ? Windows : picker.windows();
  const std::size_t step = picker.in_vector() * picker.element_bytes();
  const std::uint32_t* offset = picker.offsets();
  const std::uint8_t* order = picker.orders();
  for (std::size_t v = 0; v < vectors; ++v, to += step) {
    Vector picked = hn::Zero(Bytes());
    for (std::size_t k = 0; k < windows; ++k, order += vector_bytes)
      picked = add_window(picked, from + *offset++, order);
    store(Bytes(), picked, to);
  }
}

void pick_by_windows(const Picker& picker, std::byte* to, const std::byte* from, std::size_t vectors) {
  switch (picker.windows()) {
    case 1:
      return pick_vectors<1>(picker, to, from, vectors);
    case 2:
      return pick_vectors<2>(picker, to, from, vectors);
    case 3:
      return pick_vectors<3>(picker, to, from, vectors);
    case 4:
      return pick_vectors<4>(picker, to, from, vectors);
    default:
      return pick_vectors<0>(picker, to, from, vectors);
  }
}

Picker::ByWindows by_windows() { return {vector_bytes, pick_by_windows}; }

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace xorder::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace xorder::kernel {

HWY_EXPORT(by_windows);

namespace {

// Bytes = 0 means picker.element_bytes().
template <std::size_t Bytes>
void pick_one_by_one(const Picker& picker, std::byte* to, const std::byte* from, std::size_t count) {
  const std::size_t w = Bytes != 0 ? Bytes : picker.element_bytes();
  const std::uint32_t* const places = picker.places().data();
#pragma GCC unroll 8
  for (std::size_t i = 0; i < count; ++i) std::memcpy(to + i * w, from + places[i], w);
}

Picker::Function one_by_one(std::size_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return pick_one_by_one<1>;
    case 2:
      return pick_one_by_one<2>;
    case 3:
      return pick_one_by_one<3>;
    case 4:
      return pick_one_by_one<4>;
    case 6:
      return pick_one_by_one<6>;
    case 8:
      return pick_one_by_one<8>;
    case 12:
      return pick_one_by_one<12>;
    case 16:
      return pick_one_by_one<16>;
    default:
      return pick_one_by_one<0>;
  }
}

}  // namespace

Picker::Picker(std::vector<std::uint32_t> places, std::size_t element_bytes)
    : element_bytes_(element_bytes), places_(std::move(places)), one_by_one_(one_by_one(element_bytes)) {
  const ByWindows vectors = HWY_DYNAMIC_DISPATCH(by_windows)();
  by_windows_ = vectors.function;
  in_vector_ = vectors.vector_bytes / element_bytes;
  // A window takes about as long as four elements, if all orders stay in the first-level cache.
  constexpr std::size_t most_bytes = 32 * 1024;
  if (in_vector_ > 1 && find_windows(vectors.vector_bytes) <= in_vector_ / 4 && orders_.size() <= most_bytes)
    return;
  windows_ = 0;
  offsets_.clear();
  orders_.clear();
}

// Each window of a vector begins at the first element that the others do not have. All vectors get as many
// windows as the one that needs most.
std::size_t Picker::find_windows(std::size_t vector_bytes) {
  std::vector<std::vector<std::uint32_t>> found;
  std::vector<std::uint32_t> sorted;
  for (std::size_t first = 0; first < places_.size(); first += in_vector_) {
    const auto begin = places_.begin() + static_cast<std::ptrdiff_t>(first);
    sorted.assign(begin, begin + static_cast<std::ptrdiff_t>(std::min(in_vector_, places_.size() - first)));
    std::ranges::sort(sorted);
    std::vector<std::uint32_t>& windows = found.emplace_back();
    for (const std::uint32_t place : sorted) {
      if (windows.empty() || place + element_bytes_ > windows.back() + vector_bytes) windows.push_back(place);
    }
    windows_ = std::max(windows_, windows.size());
    if (windows_ > in_vector_ / 4) return windows_;
  }
  for (std::size_t v = 0; v < found.size(); ++v) {
    found[v].resize(windows_, found[v].front());
    std::vector<std::uint8_t> orders(windows_ * vector_bytes, no_byte);
    for (std::size_t i = 0; i < in_vector_ && v * in_vector_ + i < places_.size(); ++i) {
      const std::uint32_t place = places_[v * in_vector_ + i];
      const auto window = std::ranges::find_if(found[v], [&](std::uint32_t begin) {
        return begin <= place && place + element_bytes_ <= begin + vector_bytes;
      });
      for (std::size_t b = 0; b < element_bytes_; ++b)
        orders[static_cast<std::size_t>(window - found[v].begin()) * vector_bytes + i * element_bytes_ + b] =
            static_cast<std::uint8_t>(place - *window + b);
    }
    offsets_.insert(offsets_.end(), found[v].begin(), found[v].end());
    orders_.insert(orders_.end(), orders.begin(), orders.end());
  }
  return windows_;
}

}  // namespace xorder::kernel
#endif
