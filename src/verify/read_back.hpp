// Checks the output of a run before it gets its name.
#pragma once

#include "verify/comparison.hpp"
#include "work/run.hpp"

namespace xorder::verify {

/// Syncs the run's target and reads it again, past the page cache where the file system allows that. The
/// comparison has had all of the source. Throws IoError, naming the bytes, if something differs, and as
/// read() does. Uses `memory` bytes.
void read_back(work::Run& run, Comparison& comparison, std::uint64_t memory);

}  // namespace xorder::verify
