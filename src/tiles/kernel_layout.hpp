// Converts the plan's geometry, in elements and axes, to the kernel's, in bytes and runs.
#pragma once

#include "kernel/kernel.hpp"
#include "plan/tiles/chunks.hpp"

namespace xorder::tiles {

/// How a group of this tiling lies in memory. Source runs are numbered as in the group. Target runs are the
/// tile's chunks, by their numbers.
kernel::Layout kernel_layout(const plan::Tiling& tiling, const plan::ChunkShape& chunk);

/// The lengths of the group's unmapped axes, as the kernel of that layout expects them.
void kernel_lengths(const plan::Tiling& tiling, const plan::Group& group,
                    std::vector<std::uint64_t>& lengths);

}  // namespace xorder::tiles
