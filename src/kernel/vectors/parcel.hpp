// Permutes up to a KiB in registers.
//
// A parcel is a small box: up to most_vectors vectors, which are loaded once. Each vector of the target is
// picked from all of them. Parcels repeat along an axis. A parcel may write past its end: later parcels
// overwrite the overshoot, and the last few are written exactly.
#pragma once

#include <hwy/aligned_allocator.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernel/kernel.hpp"

namespace xorder::kernel {

/// The vectors of a processor that permutes bytes, or words.
struct ParcelVectors {
  std::size_t loaded = 0;  ///< bytes of the source in each
  std::size_t picked = 0;  ///< bytes of the target in each, which may be more
};

/// What decides how long parcels take.
struct ParcelSizes {
  std::uint64_t bytes;  ///< of a parcel
  std::uint64_t row;    ///< what is contiguous in the source
  std::uint64_t run;    ///< what is contiguous in the target
  std::uint64_t count;  ///< of parcels that follow each other
  bool rest;            ///< whether there is another one that moves some coordinates again

  /// How many vectors a parcel is loaded as: each row as whole vectors.
  std::uint64_t loaded(const ParcelVectors& vectors) const;
  /// How many bytes the last vector of a run overshoots.
  std::uint64_t excess(const ParcelVectors& vectors) const;
  /// How many parcels at the end must be written exactly, if `behind` more bytes may be overwritten.
  std::uint64_t exact_parcels(const ParcelVectors& vectors, std::uint64_t behind) const;
  /// An estimate for all.
  double cycles(const ParcelVectors& vectors, std::uint64_t behind) const;
};

/// The bytes of a parcel and where they go.
struct ParcelShape {
  std::uint64_t element_bytes = 1;
  /// Fastest in the target first.
  std::vector<Axis> axes;
  /// Parcels repeat along this axis, which comes next in the target after the first few of `axes`. Each takes
  /// so many of its coordinates.
  Axis along;
  std::uint64_t taken = 1;

  /// The first few of `axes`, and the coordinates of `along` that a parcel takes, are contiguous in the
  /// target: a run.
  std::size_t run_axes() const;
  /// Whether a parcel is one run, so that parcels follow each other in the target.
  bool is_one_run() const { return run_axes() == axes.size(); }
  std::vector<Axis> by_source() const;  ///< the axes of one parcel, fastest in the source first
  ParcelSizes sizes() const;
};

class Parcel {
 public:
  static constexpr std::size_t most_vectors = 16;
  /// Those of this processor for such elements; they have 0 bytes if there are none.
  static ParcelVectors vectors(std::uint64_t element_bytes);

  /// Requires vectors, and a shape of at most most_vectors of them.
  explicit Parcel(ParcelShape shape);

  /// Moves `count` coordinates of the axis, at least shape().taken. Reads nothing from `source_end` on.
  /// Writes nothing else, except perhaps the first of the `behind` bytes that follow, less than a vector.
  /// Only parcels of one run may have such bytes.
  void move(std::byte* to, const std::byte* from, std::uint64_t count, const std::byte* source_end,
            std::uint64_t behind) const;

  const ParcelShape& shape() const { return shape_; }
  const ParcelSizes& sizes() const { return sizes_; }
  /// A vector of the source: where it begins, counted from the parcel's place, and how many of its bytes
  /// belong to the parcel.
  struct Loaded {
    std::uint64_t source;
    std::size_t bytes;
  };
  std::span<const Loaded> loaded() const { return loaded_; }
  /// Where the vectors of the target go.
  struct Picked {
    std::uint64_t target;  ///< from the parcel's place
    std::size_t bytes;     ///< that belong to the run
  };
  std::span<const Picked> picked() const { return picked_; }
  /// A vector of N bytes of the target takes some lookups, each in one vector of the parcel or, if these have
  /// 64 bytes, in two. Byte b of lookup k for picked()[p] is byte orders()[(p·lookups + k)·N + b] of these,
  /// or none if that is no_byte.
  const std::uint8_t* orders() const { return orders_.get(); }
  static constexpr std::uint8_t no_byte = 0x80;

  using Function = void (*)(const Parcel&, std::byte* to, const std::byte* from, std::size_t parcels,
                            bool exact_reads);
  struct Functions {
    ParcelVectors vectors{};
    Function overlapping = nullptr;  ///< may read and write up to a vector past the end
    Function exact = nullptr;        ///< writes nothing past the end, and reads nothing there if exact_reads
  };

 private:
  ParcelShape shape_;
  ParcelSizes sizes_;
  std::uint64_t reach_ = 0;  // what loading a parcel reads, from its place
  std::vector<Loaded> loaded_;
  std::vector<Picked> picked_;
  hwy::AlignedFreeUniquePtr<std::uint8_t[]> orders_;
  Functions functions_;
};

}  // namespace xorder::kernel
