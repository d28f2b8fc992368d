#include "kernel/parcel.hpp"

// As in lines.cpp.
#define HWY_WANT_AVX3_DL

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/parcel.cpp"
#include <hwy/foreach_target.h>
// Highway compiles the rest of this file once for each kind of processor, from this line on.
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "kernel/places.hpp"
#include "kernel/vectors-inl.hpp"
#include "rounding.hpp"

HWY_BEFORE_NAMESPACE();
namespace xorder::kernel::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

Parcel::Functions parcel_functions(std::size_t) { return {}; }

#else

constexpr std::size_t vector_bytes = permuted_bytes;
using Bytes = Permuted;
using Vector = hn::Vec<Bytes>;

template <std::size_t vectors>
constexpr std::size_t lookups = vector_bytes == 64 ? (vectors + 1) / 2 : vectors;

// Picks a vector from those of a parcel.
template <std::size_t vectors>
HWY_INLINE Vector pick(const Vector (&from)[vectors], const std::uint8_t* order) {
  Vector picked = hn::Zero(Bytes());
  for (std::size_t k = 0; k < lookups<vectors>; ++k, order += vector_bytes) {
    const Vector where = hn::Load(Bytes(), order);
#if HWY_TARGET == HWY_AVX3_DL
    const __mmask64 here = ~_mm512_movepi8_mask(where.raw);
    if (2 * k + 1 == vectors) {
      picked.raw = _mm512_mask_permutexvar_epi8(picked.raw, here, where.raw, from[2 * k].raw);
    } else {
      const __m512i both = _mm512_permutex2var_epi8(from[2 * k].raw, where.raw, from[2 * k + 1].raw);
      picked.raw = k == 0 ? both : _mm512_mask_mov_epi8(picked.raw, here, both);
    }
#else
    picked = hn::Or(picked, hn::TableLookupBytesOr0(from[k], where));
#endif
  }
  return picked;
}

template <std::size_t vectors, bool exact>
void move_parcels(const Parcel& parcel, std::byte* to, const std::byte* from, std::size_t parcels) {
  const ParcelShape& shape = parcel.shape();
  const std::uint64_t source_step = shape.taken * shape.along.source.bytes,
                      target_step = shape.taken * shape.along.target.bytes;
  for (std::size_t i = 0; i < parcels; ++i, from += source_step, to += target_step) {
    alignas(line_bytes) std::byte copy[exact ? vectors * vector_bytes : 1];
    if constexpr (exact) std::memcpy(copy, from, shape.bytes());
    Vector loaded[vectors];
    for (std::size_t k = 0; k < vectors; ++k)
      loaded[k] = load(Bytes(), (exact ? copy : from) + k * vector_bytes);
    const std::uint8_t* order = parcel.orders();
    for (const Parcel::Picked& picked : parcel.picked()) {
      const Vector v = pick(loaded, order);
      order += lookups<vectors> * vector_bytes;
      if constexpr (exact) {
        alignas(line_bytes) std::byte whole[vector_bytes];
        store(Bytes(), v, whole);
        std::memcpy(to + picked.target, whole, picked.bytes);
      } else {
        store(Bytes(), v, to + picked.target);
      }
    }
  }
}

template <std::size_t vectors>
Parcel::Functions functions_from(std::size_t wanted) {
  if constexpr (vectors < Parcel::most_vectors) {
    if (wanted > vectors) return functions_from<vectors + 1>(wanted);
  }
  return {vector_bytes, move_parcels<vectors, false>, move_parcels<vectors, true>};
}
Parcel::Functions parcel_functions(std::size_t vectors) { return functions_from<1>(vectors); }

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace xorder::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace xorder::kernel {

HWY_EXPORT(parcel_functions);

namespace {

// Vectors are permuted in pairs if they have 64 bytes.
std::size_t vectors_of_lookup(std::size_t vector_bytes) { return vector_bytes == 64 ? 2 : 1; }

// Cycles, fitted on AMD Zen 4 to 600 random arrays that need at most 512 bytes.
struct Costs {
  double load = 0.7, lookup = 1.4, store = 2;
  double exact = 7;  // more for a parcel that is moved exactly, and for each of its stores
  double call = 20;
};

}  // namespace

std::uint64_t ParcelShape::bytes() const {
  std::uint64_t bytes = element_bytes * taken;
  for (const Axis& axis : axes) bytes *= axis.length;
  return bytes;
}

std::size_t ParcelShape::piece_axes() const {
  std::uint64_t bytes = element_bytes;
  std::size_t count = 0;
  for (; count < axes.size() && axes[count].target == Stride{0, bytes}; ++count) bytes *= axes[count].length;
  return count;
}

std::uint64_t ParcelShape::piece_bytes() const {
  std::uint64_t bytes = element_bytes * taken;
  for (std::size_t i = 0, end = piece_axes(); i < end; ++i) bytes *= axes[i].length;
  return bytes;
}

// Those that read too much are among them: a parcel has whole pieces.
std::uint64_t ParcelShape::exact_parcels(std::size_t vector_bytes) const {
  const std::uint64_t piece = piece_bytes();
  return ceil_div(round_up(piece, vector_bytes) - piece, piece);
}

double ParcelShape::cycles(std::size_t vector_bytes) const {
  constexpr Costs costs;
  const std::uint64_t whole = bytes(), piece = piece_bytes(), vectors = ceil_div(whole, vector_bytes),
                      lookups = ceil_div(vectors, vectors_of_lookup(vector_bytes)),
                      picked = whole / piece * ceil_div(piece, vector_bytes),
                      parcels = ceil_div(along.length, taken),
                      exact = std::min(parcels, exact_parcels(vector_bytes) + (along.length % taken != 0));
  const auto real = [](std::uint64_t count) { return static_cast<double>(count); };
  return real(parcels) *
             (real(vectors) * costs.load + real(picked) * (real(lookups) * costs.lookup + costs.store)) +
         real(exact) * costs.exact * (1 + real(picked)) + costs.call;
}

std::size_t Parcel::vector_bytes() { return HWY_DYNAMIC_DISPATCH(parcel_functions)(1).vector_bytes; }

Parcel::Parcel(ParcelShape shape)
    : shape_(std::move(shape)),
      exact_parcels_(shape_.exact_parcels(vector_bytes())),
      functions_(HWY_DYNAMIC_DISPATCH(parcel_functions)(ceil_div(shape_.bytes(), vector_bytes()))) {
  const std::size_t n = functions_.vector_bytes;
  // The places of a piece's elements in the source, and of the pieces on both sides.
  std::vector<std::uint64_t> elements = {0}, sources = {0}, targets = {0};
  for (std::size_t i = 0; i < shape_.axes.size(); ++i) {
    const auto& [length, source, target] = shape_.axes[i];
    if (i < shape_.piece_axes()) {
      repeat(elements, length, source.bytes);
    } else {
      repeat(sources, length, source.bytes);
      repeat(targets, length, target.bytes);
    }
  }
  repeat(elements, shape_.taken, shape_.along.source.bytes);

  const std::size_t of_lookup = n * vectors_of_lookup(n), lookups = ceil_div(shape_.bytes(), of_lookup);
  const std::uint64_t bytes = shape_.piece_bytes();
  const std::size_t count = sources.size() * ceil_div(bytes, n) * lookups;
  orders_ = hwy::AllocateAligned<std::uint8_t>(count * n);
  if (!orders_) throw std::bad_alloc();
  std::fill_n(orders_.get(), count * n, no_byte);
  for (std::size_t piece = 0; piece < sources.size(); ++piece) {
    for (std::uint64_t begin = 0; begin < bytes; begin += n) {
      const std::size_t here = std::min<std::uint64_t>(n, bytes - begin), row = picked_.size() * lookups;
      picked_.push_back({targets[piece] + begin, here});
      for (std::size_t b = 0; b < here; ++b) {
        const std::uint64_t element = (begin + b) / shape_.element_bytes,
                            from = sources[piece] + elements[element] + (begin + b) % shape_.element_bytes;
        const std::size_t k = row + from / of_lookup;
        orders_[k * n + b] = static_cast<std::uint8_t>(from % of_lookup);
      }
    }
  }
}

void Parcel::move(std::byte* to, const std::byte* from, std::uint64_t count) const {
  const std::uint64_t source_stride = shape_.along.source.bytes, target_stride = shape_.along.target.bytes;
  const std::uint64_t parcels = count / shape_.taken, exact = std::min(parcels, exact_parcels_),
                      before = parcels - exact, at = before * shape_.taken;
  functions_.overlapping(*this, to, from, before);
  functions_.exact(*this, to + at * target_stride, from + at * source_stride, exact);
  if (count % shape_.taken == 0) return;
  // The last one has coordinates of the one before again.
  const std::uint64_t last = count - shape_.taken;
  functions_.exact(*this, to + last * target_stride, from + last * source_stride, 1);
}

}  // namespace xorder::kernel
#endif
