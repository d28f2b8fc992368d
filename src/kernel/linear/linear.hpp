// The parts of the linear strategy: movers that permute 2^k elements or whole pieces.
#pragma once

#include <algorithm>
#include <memory>

#include "kernel/linear/tile_shape.hpp"
#include "kernel/strategy.hpp"
#include "kernel/vectors/micro.hpp"

namespace xorder::kernel {

/// Where the coordinates of the linear axis lie on one side.
struct LinearSide {
  LinearSide(int low, const Stride& stride)
      : shift(std::min(low, 63)),
        mask(gf2::low_mask(low)),
        run_stride(stride.runs),
        byte_stride(stride.bytes) {}

  std::uint64_t run(gf2::Word coordinate) const { return ((coordinate & ~mask) >> shift) * run_stride; }
  std::uint64_t byte(gf2::Word coordinate) const { return (coordinate & mask) * byte_stride; }

  int shift;
  gf2::Word mask;
  std::uint64_t run_stride;
  std::uint64_t byte_stride;
};

/// The address of each coordinate, for one piece of a group. A local copy, so that the compiler knows that
/// stores cannot change it.
template <class Byte>
struct LinearPlace {
  LinearPlace(Byte* const* runs, const Stride& place, const LinearSide& coordinates)
      : first(runs + place.runs), byte(place.bytes), side(coordinates) {}

  Byte* operator()(gf2::Word coordinate) const {
    return first[side.run(coordinate)] + byte + side.byte(coordinate);
  }

  Byte* const* first;
  std::uint64_t byte;
  LinearSide side;
};

/// An axis with its lowest `bits` made part of the element.
LinearAxis folded(const LinearAxis& axis, int bits);
/// The reverse: elements are divided into 2^bits parts.
LinearAxis unfolded(const LinearAxis& axis, int bits);

/// Of a tile, whose buffer is on the stack. It takes most of a first-level cache.
constexpr std::uint64_t largest_tile = 32768;

class LinearMover {
 public:
  LinearMover() = default;
  LinearMover(const LinearMover&) = delete;
  LinearMover& operator=(const LinearMover&) = delete;
  virtual ~LinearMover() = default;
  /// Copies `piece` bytes for each coordinate. Only movers of pieces use that argument.
  virtual void run(const Group& group, const Place& place, gf2::Word offset, std::uint64_t piece) const = 0;
};

/// For small elements (below large_piece in linear.cpp) that are next to each other on both sides: line by
/// line, see line_tiles.hpp. Null unless elements have a power of two bytes and all runs whole lines.
std::unique_ptr<LinearMover> make_linear_lines(const LinearAxis& axis, std::uint64_t element_bytes,
                                               bool streamed);

/// For all other small elements, see record_mover.hpp.
std::unique_ptr<LinearMover> make_linear_records(const LinearAxis& axis, std::uint64_t element_bytes,
                                                 bool streamed);

/// For larger elements, wherever they are.
std::unique_ptr<LinearMover> make_linear_pieces(const LinearAxis& axis, std::uint64_t element_bytes,
                                                bool streamed);

/// The longest runs and segments that tiles can have: the source's runs, and the longest pieces of the
/// target's runs that come from this group alone. (A group can be a part of a file's tile.)
TileShape longest(const LinearAxis& axis);

}  // namespace xorder::kernel
