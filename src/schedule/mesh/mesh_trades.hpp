// Which nodes below a mesh's diagonal go up, which go right, and when (mesh.hpp).
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/mesh/mesh.hpp"

namespace xorder::schedule {

/// In T(N) steps, for every N.
std::vector<Mesh::Step> trades_at_bound(std::uint64_t side);

/// For XY routing: the same, and none goes up in the last step wherever that is possible (for 31 of the sides
/// from 2 to 64).
std::vector<Mesh::Step> trades_of_xy(std::uint64_t side);

/// In two phases of x and y steps (mesh_phases() in bounds.hpp). Throws InputError if the side is odd.
std::vector<Mesh::Step> trades_in_two_phases(std::uint64_t side);

}  // namespace xorder::schedule
