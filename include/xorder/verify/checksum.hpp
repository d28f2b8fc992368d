// What a file holds, in few bytes, to find later whether it still does.
//
//   const auto then = xorder::verify::checksum("b.npy");
//   ...
//   if (!then.differences(xorder::verify::checksum("b.npy")).empty()) ..  // it has changed
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "xorder/verify/verify.hpp"

namespace xorder::verify {

/// The XXH3 hashes of a file's pieces, of 128 bits each. They find decay, not forgery.
struct Checksum {
  static constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 20;

  std::uint64_t bytes = 0;                             ///< of the file
  std::vector<std::array<std::uint64_t, 2>> hashes{};  ///< for each piece, the last may be shorter; high, low

  /// The ranges of bytes, [begin, end), of pieces that are not alike, or are in one of the files only.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> differences(const Checksum& other) const;
  /// Lines of text: a comment with the number of bytes, and a hash on each line, as xxh128sum prints it.
  std::string text() const;
  bool operator==(const Checksum&) const = default;
};

/// Of all bytes of a regular file. Reads it once, past the page cache where the file system allows it, and
/// uses 16 bytes for each MiB besides Options::memory. Calls `progress` as work::Work::run() does. Throws
/// InputError if it cannot be an input, or is half done in place, IoError, also if it changes meanwhile, and
/// Cancelled.
Checksum checksum(const std::filesystem::path& path, const Options& options = {},
                  const work::ProgressCallback& progress = {}, std::stop_token stop = {});

/// What Checksum::text() made. Throws InputError, with `name` and the line, for anything else.
Checksum parse_checksum(const std::string& text, const std::string& name);

}  // namespace xorder::verify
