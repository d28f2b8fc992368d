// What a job may use, as C programs say it.
#pragma once

#include <string>

#include "xorder.h"
#include "xorder/work/work.hpp"

namespace xorder::c {

/// Throws ArgumentError unless it is from 0 to 1024.
unsigned checked_threads(int threads);

struct JobOptions {
  work::Options options;
  std::string note;  ///< what is remarkable about them, or empty
};
/// `given` null: the defaults. Throws ArgumentError for a size or a value that this version does not know,
/// InputError for a device that is none.
JobOptions job_options(const xorder_options* given, const char* output);

}  // namespace xorder::c
