// Permutes up to a KiB in registers.
//
// A parcel is contiguous in the source, up to most_vectors vectors: a small matrix or several. Its vectors
// are loaded once, and each vector of the target is picked from all of them. Parcels repeat along an axis.
// What one writes too much is overwritten by the next few; the last few are written exactly.
#pragma once

#include <hwy/aligned_allocator.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernel/kernel.hpp"

namespace xorder::kernel {

/// The bytes of a parcel and where they go.
struct ParcelShape {
  std::uint64_t element_bytes = 1;
  /// Fastest in the target first. Together they are contiguous in the source.
  std::vector<Axis> axes;
  /// Parcels repeat along this axis, which comes next in the target after the first few of `axes`. Each takes
  /// so many of its coordinates; if more than one, the axis comes next in the source too.
  Axis along;
  std::uint64_t taken = 1;

  std::uint64_t bytes() const;  ///< of a parcel
  /// The first few of `axes`, and the coordinates of `along` that a parcel takes, are contiguous in the
  /// target: a piece.
  std::size_t piece_axes() const;
  std::uint64_t piece_bytes() const;
  /// How many parcels at the end must be moved without reading and writing too much, by vectors of so many
  /// bytes.
  std::uint64_t exact_parcels(std::size_t vector_bytes) const;
  /// An estimate for all coordinates of `along`.
  double cycles(std::size_t vector_bytes) const;
};

class Parcel {
 public:
  static constexpr std::size_t most_vectors = 16;
  /// Of this processor's vectors; 0 if it has none.
  static std::size_t vector_bytes();

  /// Requires vectors, and a shape of at most most_vectors · vector_bytes() bytes.
  explicit Parcel(ParcelShape shape);

  /// Moves `count` coordinates of the axis, at least shape().taken. Reads nothing beyond the last one, and
  /// writes nothing else.
  void move(std::byte* to, const std::byte* from, std::uint64_t count) const;

  const ParcelShape& shape() const { return shape_; }
  /// Where the vectors of the target go.
  struct Picked {
    std::uint64_t target;  ///< from the parcel's place
    std::size_t bytes;     ///< that belong to the piece
  };
  std::span<const Picked> picked() const { return picked_; }
  /// A vector of the target takes some lookups, each in one vector of the parcel or, if these have N = 64
  /// bytes, in two. Byte b of lookup k for picked()[p] is byte orders()[(p·lookups + k)·N + b] of these, or
  /// none if that is no_byte.
  const std::uint8_t* orders() const { return orders_.get(); }
  static constexpr std::uint8_t no_byte = 0x80;

  using Function = void (*)(const Parcel&, std::byte* to, const std::byte* from, std::size_t parcels);
  struct Functions {
    std::size_t vector_bytes = 0;
    Function overlapping = nullptr;  ///< may read and write up to a vector too much
    Function exact = nullptr;
  };

 private:
  ParcelShape shape_;
  std::uint64_t exact_parcels_;  // the last ones, behind which something else may be
  std::vector<Picked> picked_;
  hwy::AlignedFreeUniquePtr<std::uint8_t[]> orders_;
  Functions functions_;
};

}  // namespace xorder::kernel
