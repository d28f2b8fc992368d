// Converts the options that C programs pass.
#pragma once

#include "xorder.h"
#include "xorder/work/work.hpp"

namespace xorder::c {

/// Throws ArgumentError if it is not from 0 to 1024.
unsigned checked_threads(int threads);

/// Null for `given` means the defaults. Throws ArgumentError for a size or a value that this version does not
/// know, and InputError for an unknown device.
work::Options job_options(const xorder_options* given);

}  // namespace xorder::c
