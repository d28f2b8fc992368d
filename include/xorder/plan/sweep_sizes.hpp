// Overrides for how a ±2^b-descend computation on files is cut (descend/job.hpp).
#pragma once

#include <cstdint>

namespace xorder::plan {

/// For tests and experiments; 0 lets the planner choose. All but bytes and `iterations` are powers of two.
struct SweepSizes {
  std::uint64_t processors = 0;     ///< P, into whose blocks a file is cut
  std::uint64_t columns = 0;        ///< of a strip, in the sweeps between blocks
  std::uint64_t slices = 0;         ///< in which the rows that meet are read if they are not all in memory
  std::uint64_t iterations = 0;     ///< of a sweep between blocks, at most; any number
  std::uint64_t cache_bytes = 0;    ///< of a patch in the cache; two are needed
  std::uint64_t request_bytes = 0;  ///< of what is read or written at once
  std::uint64_t message_bytes = 0;  ///< of what virtual processors send each other at once, at most
};

}  // namespace xorder::plan
