// Which nodes below a mesh's diagonal go up, which go right, and when (mesh.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "xorder/schedule/mesh.hpp"

namespace xorder::schedule {

/// T(N) steps, for every N.
std::vector<Mesh::Step> trades_at_bound(std::uint64_t side);

/// x steps, then y (bounds.hpp). Throws InputError if the side is odd.
std::vector<Mesh::Step> trades_in_two_phases(std::uint64_t side);

}  // namespace xorder::schedule
