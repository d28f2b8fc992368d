// Blocks at the joints of tiles of different members of a team. Each member has a part of such a block; one
// writes it.
#pragma once

#include <cstdint>
#include <vector>

#include "io/carry.hpp"
#include "io/file.hpp"
#include "work/team.hpp"

namespace xorder::tiles {

/// Collective. Sends the parts that this member has left to the owners of their blocks, and writes the blocks
/// that it owns. The blocks of [begin, end) of the file are divided evenly: each member owns consecutive
/// blocks. Allocates about twice the size of the parts sent and received. Throws IoError.
void complete_joints(work::Team& team, const io::File& file, std::uint64_t begin, std::uint64_t end,
                     std::uint64_t block_bytes, const std::vector<io::BlockPart>& mine);

}  // namespace xorder::tiles
