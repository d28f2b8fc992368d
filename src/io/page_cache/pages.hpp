// The pages of mapped windows. They are brought in before they are touched, because a fault that fails kills
// the process, and are given back after use.
#pragma once

#include <cstddef>
#include <cstdint>

#include "io/file.hpp"

namespace xorder::io {

// `window` is where the bytes at `offset` of a file are mapped (Disk::map). It may begin anywhere in a page.
// The next two functions return 0 or an errno.

/// Reads the window's bytes and makes its pages present.
int bring_in(const File& file, std::byte* window, std::uint64_t offset, std::size_t bytes);
/// The same for a window of which every byte will be written. Pages that lie wholly within it are not read;
/// they become new pages of zeros. The window must be mapped for writing.
int make_new(const File& file, std::byte* window, std::uint64_t offset, std::size_t bytes);

/// Carries out a transfer with Transfer::in_place.
Completion perform_in_place(const Transfer& transfer);

}  // namespace xorder::io
