// Converts the options that C programs pass.
#pragma once

#include <string>

#include "xorder.h"
#include "xorder/work/work.hpp"

namespace xorder::c {

/// Throws ArgumentError if it is not from 0 to 1024.
unsigned checked_threads(int threads);

struct JobOptions {
  work::Options options;
  std::string note;  ///< why an existing disk profile is not used, or empty
};
/// Null for `given` means the defaults. Throws ArgumentError for a size or a value that this version does not
/// know, and InputError for an unknown device.
JobOptions job_options(const xorder_options* given, const char* output);

}  // namespace xorder::c
