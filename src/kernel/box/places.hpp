// Lists of places in several dimensions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernel/kernel.hpp"

namespace xorder::kernel {

/// Adds one more axis to a list: all its places once more for each further coordinate c, advanced(place, c).
template <class Place, class Advanced>
void repeat(std::vector<Place>& places, std::uint64_t length, const Advanced& advanced) {
  const std::size_t size = places.size();
  places.reserve(size * length);
  for (std::uint64_t c = 1; c < length; ++c) {
    for (std::size_t i = 0; i < size; ++i) places.push_back(advanced(places[i], c));
  }
}

/// The same for places in bytes, with the distance of two coordinates.
template <class Bytes>
void repeat(std::vector<Bytes>& places, std::uint64_t length, std::uint64_t stride) {
  repeat(places, length,
         [stride](Bytes place, std::uint64_t c) { return static_cast<Bytes>(place + c * stride); });
}

inline void repeat(std::vector<Stride>& places, std::uint64_t length, const Stride& stride) {
  repeat(places, length, [&stride](const Stride& place, std::uint64_t c) {
    return Stride{place.runs + c * stride.runs, place.bytes + c * stride.bytes};
  });
}

}  // namespace xorder::kernel
