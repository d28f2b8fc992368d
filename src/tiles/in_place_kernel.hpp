// Permutes what is within a tile of a run in place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "plan/tiles/in_place_pass.hpp"

namespace xorder::tiles {

/// A tile in memory, and where its elements go.
struct InPlaceTile {
  std::vector<const std::byte*> sources;  ///< the runs of its place, by their numbers; nullptr for empty ones
  std::vector<std::byte*> targets;        ///< those of the place where it goes
  std::uint64_t number = 0;
  std::vector<std::uint64_t> lengths;  ///< along each axis
  gf2::Word offset = 0;                ///< as in InPlaceHop
};

/// Immutable. Permutes in parts, which several threads can do.
class InPlaceKernel {
 public:
  virtual ~InPlaceKernel() = default;
  virtual std::uint64_t parts(const InPlaceTile& tile) const = 0;
  virtual void permute(const InPlaceTile& tile, std::uint64_t part) const = 0;
};

using InPlaceKernels = std::array<std::unique_ptr<const InPlaceKernel>, 2>;

/// For a pass, which must outlive them, and for its inverse.
InPlaceKernels make_in_place_kernels(const plan::InPlacePass& pass);

}  // namespace xorder::tiles
