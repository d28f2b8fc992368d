// Blocks at joints of tiles of two members of a team: each has a part of them, one writes them.
#pragma once

#include <cstdint>
#include <vector>

#include "io/carry.hpp"
#include "io/file.hpp"
#include "work/team.hpp"

namespace xorder::tiles {

/// Collective. Sends the parts that are left with this member to the owners of their blocks, and writes the
/// blocks that it owns itself. Neighbouring blocks belong to the same member as far as possible. The blocks
/// are those of [begin, end) of the file. Allocates about twice the parts that are sent and received. Throws
/// IoError.
void complete_joints(work::Team& team, const io::File& file, std::uint64_t begin, std::uint64_t end,
                     std::uint64_t block_bytes, const std::vector<io::BlockPart>& mine);

}  // namespace xorder::tiles
