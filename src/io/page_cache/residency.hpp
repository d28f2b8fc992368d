// Whether a file is in memory.
#pragma once

#include <cstdint>
#include <filesystem>

#include "io/file.hpp"

namespace xorder::io {

/// For files up to this size it is not worth asking: mapped windows are as fast as anything else. (At 8 MiB
/// they take twice as long, because each page of the output is faulted in.)
inline constexpr std::uint64_t small_file = std::uint64_t{4} << 20;

/// Whether most of a sample of the file's pages is in memory. False where the kernel does not say: for a file
/// that the caller neither owns nor may write. Takes well under a millisecond.
bool mostly_cached(const io::File& file);
/// Whether a file system keeps its files nowhere else: tmpfs, ramfs. False for a path that does not exist.
bool only_in_memory(int descriptor);
bool only_in_memory(const std::filesystem::path& directory);

}  // namespace xorder::io
