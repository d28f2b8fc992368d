// Boxes: groups without a linear axis, for the strategies copy, picked and transpose.
#pragma once

#include "kernel/strategy.hpp"
#include "kernel/vectors/micro.hpp"

namespace xorder::kernel {

/// The box of one call, with as few axes as possible. Axes that are contiguous on both sides have become part
/// of the piece. Axes of one coordinate are dropped.
struct Box {
  std::uint64_t piece = 0;
  AxisList axes;
  bool empty = false;
};

Box make_box(std::uint64_t element_bytes, std::span<const Axis> axes, std::span<const std::uint64_t> lengths);

/// The axis whose coordinates are `bytes` bytes apart within a run of the given side, or no_axis if there is
/// none.
constexpr std::size_t no_axis = ~std::size_t{0};
std::size_t axis_at(const Box& box, Stride Axis::*side, std::uint64_t bytes);

/// The estimated cycles for each piece if the box is transposed; 0 if it has no matrices, so that its pieces
/// are copied.
double matrix_cycles(Box box);

/// Copies piece by piece.
void copy_box(const Group& group, const Box& box, CopyFunction write);

}  // namespace xorder::kernel
