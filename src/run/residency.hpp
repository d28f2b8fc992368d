// Whether a file is in the page cache.
#pragma once

#include "xorder/io/file.hpp"

namespace xorder::run {

/// Whether most of a sample of the file's pages is in memory. Takes well under a millisecond.
bool mostly_cached(const io::File& file);

}  // namespace xorder::run
