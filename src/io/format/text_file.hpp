// Small text files that go with the data: matrices, device profiles, tables.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace xorder::io {

/// The content of a regular file of at most `largest` bytes. Throws InputError if it is larger or cannot be
/// an input, and IoError if reading fails.
std::string read_text(const std::filesystem::path& path, std::uint64_t largest = 1 << 20);

}  // namespace xorder::io
