#include "kernel/vectors/picker.hpp"

// As in lines.cpp.
#define HWY_WANT_AVX3_DL

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/vectors/picker.cpp"
#include <hwy/foreach_target.h>
// Highway compiles the rest of this file once for each kind of processor, from this line on.
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "kernel/records.hpp"
#include "kernel/vectors/vectors-inl.hpp"
#include "rounding.hpp"

HWY_BEFORE_NAMESPACE();
namespace xorder::kernel::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

Picker::ByLoads by_loads() { return {}; }

#else

constexpr std::size_t vector_bytes = permuted_bytes;
using Bytes = Permuted;
using Vector = hn::Vec<Bytes>;

// Adds the bytes of a load to those that were picked before.
HWY_INLINE Vector add_load(Vector picked, const std::byte* place, const std::uint8_t* order) {
  const Vector from = load(Bytes(), place), where = hn::LoadU(Bytes(), order);
#if HWY_TARGET == HWY_AVX3_DL
  return Vector{
      _mm512_mask_permutexvar_epi8(picked.raw, ~_mm512_movepi8_mask(where.raw), where.raw, from.raw)};
#else
  return hn::Or(picked, hn::TableLookupBytesOr0(from, where));
#endif
}

// Loads = 0 means picker.loads().
template <std::size_t Loads>
void pick_vectors(const Picker& picker, std::byte* to, const std::byte* from, std::size_t vectors) {
  const std::size_t loads = Loads != 0 ? Loads : picker.loads();
  const std::size_t step = picker.in_vector() * picker.element_bytes();
  const std::uint32_t* offset = picker.offsets();
  const std::uint8_t* order = picker.orders();
  for (std::size_t v = 0; v < vectors; ++v, to += step) {
    Vector picked = hn::Zero(Bytes());
    for (std::size_t k = 0; k < loads; ++k, order += vector_bytes)
      picked = add_load(picked, from + *offset++, order);
    store(Bytes(), picked, to);
  }
}

void pick_by_loads(const Picker& picker, std::byte* to, const std::byte* from, std::size_t vectors) {
  switch (picker.loads()) {
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

Picker::ByLoads by_loads() { return {vector_bytes, pick_by_loads}; }

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace xorder::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace xorder::kernel {

HWY_EXPORT(by_loads);

namespace {

// Each element overwrites what the copy of the one before wrote behind its end.
Picker::Function one_by_one(std::size_t element_bytes) {
  return with_record(element_bytes, [](const auto& record) -> Picker::Function {
    using Record = std::remove_cvref_t<decltype(record)>;
    return [](const Picker& picker, std::byte* to, const std::byte* from, std::size_t count) {
      const Record each = Record::of_size(picker.element_bytes());
      const std::uint32_t* const places = picker.places().data();
#pragma GCC unroll 8
      for (std::size_t i = 0; i < count; ++i) each.copy_ahead(to + i * each.bytes(), from + places[i]);
    };
  });
}

}  // namespace

Picker::Picker(std::vector<std::uint32_t> places, std::size_t element_bytes)
    : element_bytes_(element_bytes), places_(std::move(places)), one_by_one_(one_by_one(element_bytes)) {
  const ByLoads vectors = HWY_DYNAMIC_DISPATCH(by_loads)();
  by_loads_ = vectors.function;
  in_vector_ = vectors.vector_bytes / element_bytes;
  if (find_loads(vectors.vector_bytes)) set_orders(vectors.vector_bytes);
}

// Each load of a vector begins at the first element that the others do not have. All vectors get as many
// loads as the one that needs most. False if copying one by one is faster.
bool Picker::find_loads(std::size_t vector_bytes) {
  // A load takes about as long as four elements, if all orders stay in the first-level cache.
  const std::size_t most_loads = in_vector_ / 4;
  constexpr std::size_t most_bytes = 32 * 1024;
  if (in_vector_ < 2) return false;
  const std::size_t vectors = ceil_div(places_.size(), in_vector_);
  std::vector<std::uint32_t> found(vectors * most_loads);
  std::size_t most = 0;
  for (std::size_t v = 0; v < vectors; ++v) {
    const std::span<const std::uint32_t> places = places_of(v);
    std::uint32_t* const loads = found.data() + v * most_loads;
    std::size_t count = 0;
    constexpr std::uint32_t none = ~std::uint32_t{0};
    for (std::size_t least = 0;; ++count) {
      std::uint32_t next = none;
      for (const std::uint32_t place : places) next = std::min(next, place >= least ? place : none);
      if (next == none) break;
      if (count == most_loads) return false;
      loads[count] = next;
      least = next + vector_bytes - element_bytes_ + 1;
    }
    std::fill(loads + count, loads + most_loads, loads[0]);
    most = std::max(most, count);
  }
  if (vectors * most * vector_bytes > most_bytes) return false;
  loads_ = most;
  for (std::size_t v = 0; v < vectors; ++v)
    offsets_.insert(offsets_.end(), found.data() + v * most_loads, found.data() + v * most_loads + most);
  return true;
}

void Picker::set_orders(std::size_t vector_bytes) {
  orders_.assign(offsets_.size() * vector_bytes, no_byte);
  for (std::size_t v = 0; v * loads_ < offsets_.size(); ++v) {
    const std::uint32_t* const loads = offsets_.data() + v * loads_;
    std::uint8_t* const orders = orders_.data() + v * loads_ * vector_bytes;
    for (std::size_t i = 0; const std::uint32_t place : places_of(v)) {
      std::size_t k = 0;
      while (place - loads[k] > vector_bytes - element_bytes_) ++k;
      for (std::size_t b = 0; b < element_bytes_; ++b, ++i)
        orders[k * vector_bytes + i] = static_cast<std::uint8_t>(place - loads[k] + b);
    }
  }
}

}  // namespace xorder::kernel
#endif
