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

Parcel::Functions parcel_functions(bool, std::size_t) { return {}; }

#else

// Picks single bytes. Where a lookup stays within a block of 16 bytes, each vector of the source has the same
// 16 bytes in all its blocks, so that two blocks of the target are picked at once.
struct PickBytes {
  static constexpr std::size_t loaded = permuted_bytes,
                               picked = loaded == 16 ? std::min<std::size_t>(32, widest_bytes) : loaded;
  using D = hn::FixedTag<std::uint8_t, picked>;
  using V = hn::Vec<D>;

  static HWY_INLINE V load_vector(const std::byte* p) {
    if constexpr (loaded == 16) return hn::LoadDup128(D(), reinterpret_cast<const std::uint8_t*>(p));
    return load(D(), p);
  }

  static constexpr std::size_t lookups(std::size_t vectors) {
    return loaded == 64 ? (vectors + 1) / 2 : vectors;
  }

  // Picks a vector from those of a parcel.
  template <std::size_t vectors>
  static HWY_INLINE V pick(const V (&from)[vectors], const std::uint8_t* order) {
    V result = hn::Zero(D());
    for (std::size_t k = 0; k < lookups(vectors); ++k, order += picked) {
      const V where = hn::Load(D(), order);
#if HWY_TARGET == HWY_AVX3_DL
      const __mmask64 here = ~_mm512_movepi8_mask(where.raw);
      if (2 * k + 1 == vectors) {
        result.raw = _mm512_mask_permutexvar_epi8(result.raw, here, where.raw, from[2 * k].raw);
      } else {
        const __m512i both = _mm512_permutex2var_epi8(from[2 * k].raw, where.raw, from[2 * k + 1].raw);
        result.raw = k == 0 ? both : _mm512_mask_mov_epi8(result.raw, here, both);
      }
#else
      result = hn::Or(result, hn::TableLookupBytesOr0(from[k], where));
#endif
    }
    return result;
  }
};

#if HWY_TARGET == HWY_AVX2
// Picks words of 4 bytes, each from any place in a vector. This beats a table for 4 bytes, and maps line by
// line for 4 to 16 bytes; for small matrices of 8 bytes a table is a little faster.
struct PickWords {
  static constexpr std::size_t loaded = widest_bytes, picked = widest_bytes;
  using D = Widest;
  using V = hn::Vec<D>;

  static HWY_INLINE V load_vector(const std::byte* p) { return load(D(), p); }
  static constexpr std::size_t lookups(std::size_t vectors) { return vectors; }

  template <std::size_t vectors>
  static HWY_INLINE V pick(const V (&from)[vectors], const std::uint8_t* order) {
    V result{};
    for (std::size_t k = 0; k < vectors; ++k, order += picked) {
      // The lowest byte of each word has its offset. The highest has the top bit if there is none.
      const V where = hn::Load(D(), order);
      const __m256 words =
          _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(from[k].raw, _mm256_srli_epi32(where.raw, 2)));
      result.raw = _mm256_castps_si256(
          k == 0 ? words
                 : _mm256_blendv_ps(words, _mm256_castsi256_ps(result.raw), _mm256_castsi256_ps(where.raw)));
    }
    return result;
  }
};
#else
using PickWords = PickBytes;
#endif

enum class Write { overlapping, exactly };

// Reads may go beyond the parcel unless they are exact.
template <class Pick, std::size_t vectors, Write write>
void move_parcels(const Parcel& parcel, std::byte* to, const std::byte* from, std::size_t parcels,
                  [[maybe_unused]] bool exact_reads) {
  const ParcelShape& shape = parcel.shape();
  const std::uint64_t source_step = shape.taken * shape.along.source.bytes,
                      target_step = shape.taken * shape.along.target.bytes;
  const Parcel::Loaded* const places = parcel.loaded().data();
  for (std::size_t i = 0; i < parcels; ++i, from += source_step, to += target_step) {
    typename Pick::V loaded[vectors];
    for (std::size_t k = 0; k < vectors; ++k) {
      if (write == Write::exactly && exact_reads) {
        alignas(line_bytes) std::byte copy[Pick::loaded];
        std::memcpy(copy, from + places[k].source, places[k].bytes);
        loaded[k] = Pick::load_vector(copy);
      } else {
        loaded[k] = Pick::load_vector(from + places[k].source);
      }
    }
    const std::uint8_t* order = parcel.orders();
    for (const Parcel::Picked& picked : parcel.picked()) {
      const auto v = Pick::pick(loaded, order);
      order += Pick::lookups(vectors) * Pick::picked;
      if constexpr (write == Write::exactly) {
        alignas(line_bytes) std::byte whole[Pick::picked];
        store(typename Pick::D(), v, whole);
        std::memcpy(to + picked.target, whole, picked.bytes);
      } else {
        store(typename Pick::D(), v, to + picked.target);
      }
    }
  }
}

template <class Pick, std::size_t vectors = 1>
Parcel::Functions functions_from(std::size_t wanted) {
  if constexpr (vectors < Parcel::most_vectors) {
    if (wanted > vectors) return functions_from<Pick, vectors + 1>(wanted);
  }
  return {{Pick::loaded, Pick::picked},
          move_parcels<Pick, vectors, Write::overlapping>,
          move_parcels<Pick, vectors, Write::exactly>};
}
Parcel::Functions parcel_functions(bool words, std::size_t vectors) {
  return words ? functions_from<PickWords>(vectors) : functions_from<PickBytes>(vectors);
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace xorder::kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace xorder::kernel {

HWY_EXPORT(parcel_functions);

namespace {

// Vectors are permuted in pairs if they have 64 bytes.
std::size_t vectors_of_lookup(const ParcelVectors& vectors) { return vectors.loaded == 64 ? 2 : 1; }

// Cycles, fitted to 300 random arrays of 64 and 500 KB.
struct Costs {
  double parcel = 5, row = 0.9, load = 1, lookup = 1.75;
  double lookup_in_one = 1.25;  // vector of 16 bytes, with AVX2
  double exact = 10;            // more for a parcel that is moved exactly, and for each of its stores
  double call = 45;
};

Parcel::Functions functions(std::uint64_t element_bytes, std::size_t vectors) {
  return HWY_DYNAMIC_DISPATCH(parcel_functions)(element_bytes % 4 == 0, vectors);
}

}  // namespace

std::size_t ParcelShape::run_axes() const {
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
  for (std::size_t i = 0, end = run_axes(); i < end; ++i) sizes.run *= axes[i].length;
  for (const Axis& axis : by_source()) {
    if (axis.source.bytes == sizes.row) sizes.row *= axis.length;
  }
  return sizes;
}

std::uint64_t ParcelSizes::loaded(const ParcelVectors& vectors) const {
  return bytes / row * ceil_div(row, vectors.loaded);
}

std::uint64_t ParcelSizes::excess(const ParcelVectors& vectors) const {
  return round_up(run, vectors.picked) - run;
}

std::uint64_t ParcelSizes::exact_parcels(const ParcelVectors& vectors, std::uint64_t behind) const {
  const std::uint64_t most = excess(vectors);
  return most <= behind ? 0 : ceil_div(most - behind, run);
}

double ParcelSizes::cycles(const ParcelVectors& vectors, std::uint64_t behind) const {
  constexpr Costs costs;
  const auto real = [](std::uint64_t number) { return static_cast<double>(number); };
  const std::uint64_t loads = loaded(vectors), of_lookup = vectors_of_lookup(vectors);
  const double lookup = of_lookup == 1 ? costs.lookup_in_one : costs.lookup;
  const double lookups = real(ceil_div(loads, of_lookup)),
               picked = real(bytes / run * ceil_div(run, vectors.picked)),
               exact = real(std::min(count, exact_parcels(vectors, behind))) +
                       (rest && behind < excess(vectors) ? 1 : 0);
  return (real(count) + rest) * (costs.parcel + real(bytes / row) * costs.row + real(loads) * costs.load +
                                 picked * lookups * lookup) +
         exact * costs.exact * (1 + picked) + costs.call;
}

ParcelVectors Parcel::vectors(std::uint64_t element_bytes) { return functions(element_bytes, 1).vectors; }

Parcel::Parcel(ParcelShape shape)
    : shape_(std::move(shape)),
      sizes_(shape_.sizes()),
      functions_(functions(shape_.element_bytes, sizes_.loaded(vectors(shape_.element_bytes)))) {
  const std::size_t n = functions_.vectors.loaded, m = functions_.vectors.picked;
  // The places of rows.
  const std::uint64_t row = sizes_.row, of_row = ceil_div(row, n);
  std::vector<std::uint64_t> rows = {0};
  for (const Axis& axis : shape_.by_source()) {
    if (axis.source.bytes >= row) repeat(rows, axis.length, axis.source.bytes);
  }
  for (const std::uint64_t place : rows) {
    for (std::uint64_t begin = 0; begin < row; begin += n)
      loaded_.push_back({place + begin, std::min<std::uint64_t>(n, row - begin)});
    reach_ = std::max(reach_, place + of_row * n);
  }
  // The places of a run's elements among the loaded bytes, and of the runs there and in the target.
  std::vector<std::uint64_t> elements = {0}, sources = {0}, targets = {0};
  const auto step = [&](const Stride& source) {
    if (source.bytes < row) return source.bytes;
    const auto found = std::ranges::find(rows, source.bytes);
    return static_cast<std::uint64_t>(found - rows.begin()) * of_row * n;
  };
  const std::size_t in_run = shape_.run_axes();
  for (std::size_t i = 0; i < shape_.axes.size(); ++i) {
    const auto& [length, source, target] = shape_.axes[i];
    if (length == 1) continue;
    if (i < in_run) {
      repeat(elements, length, step(source));
    } else {
      repeat(sources, length, step(source));
      repeat(targets, length, target.bytes);
    }
  }
  if (shape_.taken != 1) repeat(elements, shape_.taken, step(shape_.along.source));

  const std::size_t of_lookup = n * vectors_of_lookup(functions_.vectors),
                    lookups = ceil_div(loaded_.size() * n, of_lookup);
  const std::uint64_t bytes = sizes_.run;
  const std::size_t count = sources.size() * ceil_div(bytes, m) * lookups;
  orders_ = hwy::AllocateAligned<std::uint8_t>(count * m);
  if (!orders_) throw std::bad_alloc();
  std::fill_n(orders_.get(), count * m, no_byte);
  const int lg_of_lookup = std::countr_zero(of_lookup);  // no divisions: a plan has thousands of bytes
  for (std::size_t run = 0; run < sources.size(); ++run) {
    auto element = elements.begin();
    std::uint64_t byte = 0;  // of the element
    for (std::uint64_t begin = 0; begin < bytes; begin += m) {
      const std::size_t here = std::min<std::uint64_t>(m, bytes - begin), first = picked_.size() * lookups;
      picked_.push_back({targets[run] + begin, here});
      for (std::size_t b = 0; b < here; ++b) {
        const std::uint64_t from = sources[run] + *element + byte;
        const std::size_t k = first + (from >> lg_of_lookup);
        orders_[k * m + b] = static_cast<std::uint8_t>(from & (of_lookup - 1));
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
  const std::uint64_t parcels = count / shape_.taken, excess = sizes_.excess(functions_.vectors);
  // How many may be read with whole vectors, and written so; of those that may only be read, what follows.
  const std::uint64_t readable =
      rest < reach_ ? 0 : std::min(parcels, (rest - reach_) / (shape_.taken * source_stride) + 1);
  const std::uint64_t exact = sizes_.exact_parcels(functions_.vectors, behind);
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
