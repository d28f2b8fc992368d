// From the plan's geometry, counted in elements and axes, to the kernel's, counted in bytes and runs.
#pragma once

#include "kernel/kernel.hpp"
#include "plan/chunks.hpp"

namespace xorder::tiles {

/// How a group of this tiling lies in memory: source runs as the group numbers them, and the tile's chunks,
/// by their numbers, as target runs.
kernel::Layout kernel_layout(const plan::Tiling& tiling, const plan::ChunkShape& chunk);
/// The same where target runs are whole.
kernel::Layout kernel_layout(const plan::Tiling& tiling);

/// The lengths of the group's unmapped axes, as the kernel of that layout takes them.
void kernel_lengths(const plan::Tiling& tiling, const plan::Group& group,
                    std::vector<std::uint64_t>& lengths);

}  // namespace xorder::tiles
