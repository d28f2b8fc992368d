// Whether a file is in the page cache.
#pragma once

#include <cstdint>

#include "io/file.hpp"

namespace xorder::io {

/// Files up to this size are not worth asking, and as fast through mapped windows as otherwise. (Twice as
/// slow at 8 MiB, as each page of the output is faulted in.)
inline constexpr std::uint64_t small_file = std::uint64_t{4} << 20;

/// Whether most of a sample of the file's pages is in memory. Takes well under a millisecond.
bool mostly_cached(const io::File& file);

}  // namespace xorder::io
