// The pages of mapped windows: brought in before they are touched, since a fault that fails kills the
// process, and given back.
#pragma once

#include <cstddef>
#include <cstdint>

#include "io/file.hpp"

namespace xorder::io {

// `window` is where the bytes at `offset` of a file are mapped (Disk::map), which begin anywhere in a page.
// These two return 0 or an errno.

/// Has the window's bytes read, and makes its pages present.
int bring_in(const File& file, std::byte* window, std::uint64_t offset, std::size_t bytes);
/// The same for a window of which every byte will be written: pages that lie wholly within it are new ones of
/// zeros, and not read. Needs a window that was mapped for writing.
int make_new(const File& file, std::byte* window, std::uint64_t offset, std::size_t bytes);

/// Carries out a Transfer::in_place.
Completion carry_in_place(const Transfer& transfer);

}  // namespace xorder::io
