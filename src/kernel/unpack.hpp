// Puts the elements of a run together, from the spans of a strided source that were read for it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/tiles/source_files.hpp"

namespace xorder::kernel {

/// Unpacks the bytes [begin, begin + bytes) of the source's elements into `memory`, which has room for them,
/// or finds them in one piece where they were read. Returns where they are. `span` points at the places of
/// the run's spans in memory, one for each box, and moves on behind them.
const std::byte* unpack_run(const plan::SourceFiles& source, std::uint64_t begin, std::uint64_t bytes,
                            const std::byte* const*& span, std::byte* memory);

}  // namespace xorder::kernel
