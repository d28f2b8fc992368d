// A job of several processes, which make the output together.
#pragma once

#include "xorder/tiles/job.hpp"

namespace xorder::tiles {

/// Each process of the team makes its own job; memory and threads are per process. The team must outlive it.
std::unique_ptr<Job> job_of_team(std::vector<io::ArrayFile> inputs, const Reordering& what,
                                 std::vector<std::uint64_t> extents, std::filesystem::path output,
                                 work::Options options, work::Team& team);

}  // namespace xorder::tiles
