#include "kernel/vectors/parcel.hpp"

// As in lines.cpp.
#define HWY_WANT_AVX3_DL

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/vectors/parcel.cpp"
#include <hwy/foreach_target.h>
// Highway compiles the rest of this file once for each kind of processor, from this line on.
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "kernel/box/places.hpp"
#include "kernel/vectors/vectors-inl.hpp"
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

enum class Write { overlapping, exactly };

// Reads may go beyond the parcel unless they are exact.
template <std::size_t vectors, Write write>
void move_parcels(const Parcel& parcel, std::byte* to, const std::byte* from, std::size_t parcels,
                  [[maybe_unused]] bool exact_reads) {
  const ParcelShape& shape = parcel.shape();
  const std::uint64_t source_step = shape.taken * shape.along.source.bytes,
                      target_step = shape.taken * shape.along.target.bytes;
  const Parcel::Loaded* const places = parcel.loaded().data();
  for (std::size_t i = 0; i < parcels; ++i, from += source_step, to += target_step) {
    Vector loaded[vectors];
    for (std::size_t k = 0; k < vectors; ++k) {
      if (write == Write::exactly && exact_reads) {
        alignas(line_bytes) std::byte copy[vector_bytes];
        std::memcpy(copy, from + places[k].source, places[k].bytes);
        loaded[k] = load(Bytes(), copy);
      } else {
        loaded[k] = load(Bytes(), from + places[k].source);
      }
    }
    const std::uint8_t* order = parcel.orders();
    for (const Parcel::Picked& picked : parcel.picked()) {
      const Vector v = pick(loaded, order);
      order += lookups<vectors> * vector_bytes;
      if constexpr (write == Write::exactly) {
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
  return {vector_bytes, move_parcels<vectors, Write::overlapping>, move_parcels<vectors, Write::exactly>};
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

// Cycles, fitted on AMD Zen 4 to 300 random arrays of 64 and 500 KB.
struct Costs {
  double parcel = 5, segment = 0.9, load = 1, lookup = 1.75;
  double exact = 10;  // more for a parcel that is moved exactly, and for each of its stores
  double call = 45;
};

}  // namespace

std::size_t ParcelShape::piece_axes() const {
  std::uint64_t bytes = element_bytes;
  std::size_t count = 0;
  for (; count < axes.size() && axes[count].target == Stride{0, bytes}; ++count) bytes *= axes[count].length;
  return count;
}

std::vector<Axis> ParcelShape::by_source() const {
  std::vector<Axis> sorted = axes;
  sorted.push_back({taken, along.source, along.target});
  std::ranges::sort(sorted, {}, [](const Axis& axis) { return axis.source.bytes; });
  return sorted;
}

ParcelSizes ParcelShape::sizes() const {
  ParcelSizes sizes{element_bytes * taken, element_bytes, element_bytes * taken, along.length / taken,
                    along.length % taken != 0};
  for (const Axis& axis : axes) sizes.bytes *= axis.length;
  for (std::size_t i = 0, end = piece_axes(); i < end; ++i) sizes.piece *= axes[i].length;
  for (const Axis& axis : by_source()) {
    if (axis.source.bytes == sizes.segment) sizes.segment *= axis.length;
  }
  return sizes;
}

std::uint64_t ParcelSizes::vectors(std::size_t vector_bytes) const {
  return bytes / segment * ceil_div(segment, vector_bytes);
}

std::uint64_t ParcelSizes::excess(std::size_t vector_bytes) const {
  return round_up(piece, vector_bytes) - piece;
}

std::uint64_t ParcelSizes::exact_parcels(std::size_t vector_bytes, std::uint64_t behind) const {
  const std::uint64_t most = excess(vector_bytes);
  return most <= behind ? 0 : ceil_div(most - behind, piece);
}

double ParcelSizes::cycles(std::size_t vector_bytes, std::uint64_t behind) const {
  constexpr Costs costs;
  const auto real = [](std::uint64_t number) { return static_cast<double>(number); };
  const std::uint64_t loads = vectors(vector_bytes);
  const double lookups = real(ceil_div(loads, vectors_of_lookup(vector_bytes))),
               picked = real(bytes / piece * ceil_div(piece, vector_bytes)),
               exact = real(std::min(count, exact_parcels(vector_bytes, behind))) +
                       (rest && behind < excess(vector_bytes) ? 1 : 0);
  return (real(count) + rest) * (costs.parcel + real(bytes / segment) * costs.segment +
                                 real(loads) * costs.load + picked * lookups * costs.lookup) +
         exact * costs.exact * (1 + picked) + costs.call;
}

std::size_t Parcel::vector_bytes() { return HWY_DYNAMIC_DISPATCH(parcel_functions)(1).vector_bytes; }

Parcel::Parcel(ParcelShape shape)
    : shape_(std::move(shape)),
      sizes_(shape_.sizes()),
      functions_(HWY_DYNAMIC_DISPATCH(parcel_functions)(sizes_.vectors(vector_bytes()))) {
  const std::size_t n = functions_.vector_bytes;
  // The places of segments.
  const std::uint64_t segment = sizes_.segment, of_segment = ceil_div(segment, n);
  std::vector<std::uint64_t> segments = {0};
  for (const Axis& axis : shape_.by_source()) {
    if (axis.source.bytes >= segment) repeat(segments, axis.length, axis.source.bytes);
  }
  for (const std::uint64_t place : segments) {
    for (std::uint64_t begin = 0; begin < segment; begin += n)
      loaded_.push_back({place + begin, std::min<std::uint64_t>(n, segment - begin)});
    reach_ = std::max(reach_, place + of_segment * n);
  }
  // The places of a piece's elements among the loaded bytes, and of the pieces there and in the target.
  std::vector<std::uint64_t> elements = {0}, sources = {0}, targets = {0};
  const auto step = [&](const Stride& source) {
    if (source.bytes < segment) return source.bytes;
    const auto found = std::ranges::find(segments, source.bytes);
    return static_cast<std::uint64_t>(found - segments.begin()) * of_segment * n;
  };
  const std::size_t in_piece = shape_.piece_axes();
  for (std::size_t i = 0; i < shape_.axes.size(); ++i) {
    const auto& [length, source, target] = shape_.axes[i];
    if (length == 1) continue;
    if (i < in_piece) {
      repeat(elements, length, step(source));
    } else {
      repeat(sources, length, step(source));
      repeat(targets, length, target.bytes);
    }
  }
  if (shape_.taken != 1) repeat(elements, shape_.taken, step(shape_.along.source));

  const std::size_t of_lookup = n * vectors_of_lookup(n), lookups = ceil_div(loaded_.size() * n, of_lookup);
  const std::uint64_t bytes = sizes_.piece;
  const std::size_t count = sources.size() * ceil_div(bytes, n) * lookups;
  orders_ = hwy::AllocateAligned<std::uint8_t>(count * n);
  if (!orders_) throw std::bad_alloc();
  std::fill_n(orders_.get(), count * n, no_byte);
  const int lg_of_lookup = std::countr_zero(of_lookup);  // no divisions: a plan has thousands of bytes
  for (std::size_t piece = 0; piece < sources.size(); ++piece) {
    auto element = elements.begin();
    std::uint64_t byte = 0;  // of the element
    for (std::uint64_t begin = 0; begin < bytes; begin += n) {
      const std::size_t here = std::min<std::uint64_t>(n, bytes - begin), row = picked_.size() * lookups;
      picked_.push_back({targets[piece] + begin, here});
      for (std::size_t b = 0; b < here; ++b) {
        const std::uint64_t from = sources[piece] + *element + byte;
        const std::size_t k = row + (from >> lg_of_lookup);
        orders_[k * n + b] = static_cast<std::uint8_t>(from & (of_lookup - 1));
        if (++byte < shape_.element_bytes) continue;
        byte = 0;
        ++element;
      }
    }
  }
}

void Parcel::move(std::byte* to, const std::byte* from, std::uint64_t count, const std::byte* source_end,
                  std::uint64_t behind) const {
  const std::uint64_t source_stride = shape_.along.source.bytes, target_stride = shape_.along.target.bytes;
  const auto rest = static_cast<std::uint64_t>(source_end - from);
  const std::uint64_t parcels = count / shape_.taken, excess = sizes_.excess(functions_.vector_bytes);
  // How many may be read with whole vectors, and written so; of those that may only be read, what follows.
  const std::uint64_t readable =
      rest < reach_ ? 0 : std::min(parcels, (rest - reach_) / (shape_.taken * source_stride) + 1);
  const std::uint64_t exact = sizes_.exact_parcels(functions_.vector_bytes, behind);
  const std::uint64_t before = std::min(parcels - std::min(parcels, exact), readable);
  const auto move_by = [&](Function function, std::uint64_t first, std::uint64_t end, bool exact_reads) {
    const std::uint64_t at = first * shape_.taken;
    function(*this, to + at * target_stride, from + at * source_stride, end - first, exact_reads);
  };
  move_by(functions_.overlapping, 0, before, false);
  if (before != readable) move_by(functions_.exact, before, readable, false);
  if (readable != parcels) move_by(functions_.exact, readable, parcels, true);
  if (count % shape_.taken == 0) return;
  // The last one has coordinates of the one before again.
  const std::uint64_t last = count - shape_.taken;
  const bool read_exactly = last * source_stride + reach_ > rest;
  (excess <= behind && !read_exactly ? functions_.overlapping : functions_.exact)(
      *this, to + last * target_stride, from + last * source_stride, 1, read_exactly);
}

}  // namespace xorder::kernel
#endif
