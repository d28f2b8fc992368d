// The headers of containers, read piece by piece. They are hostile input: nothing is read beyond the file's
// end, and no more than a header can need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "io/file.hpp"
#include "io/format/stored_number.hpp"

namespace xorder::io {

/// Of all headers of a file together. Larger ones are refused.
inline constexpr std::uint64_t max_header_bytes = std::uint64_t{1} << 24;

class HeaderBytes {
 public:
  using Read = std::function<void(char* to, std::size_t bytes, std::uint64_t offset)>;

  /// `read` is never asked for bytes beyond `file_bytes`.
  HeaderBytes(std::uint64_t file_bytes, Read read);
  /// The file must outlive it.
  explicit HeaderBytes(const File& file);

  std::uint64_t file_bytes() const { return file_bytes_; }
  /// Valid until the next call. Throws InputError, one line without a path, if the file ends before, or if
  /// more than max_header_bytes have been asked for by then; IoError if reading fails.
  std::string_view at(std::uint64_t offset, std::size_t bytes);

 private:
  std::uint64_t file_bytes_;
  Read read_;
  std::string window_;
  std::uint64_t window_at_ = 0, spent_ = 0;
};

/// A whole number in decimal digits, perhaps with a sign. `what` is its name for the message. Throws
/// InputError, one line without a path, for anything else.
std::int64_t whole_number(std::string_view text, std::string_view what);

/// Without blanks, tabs and carriage returns at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace xorder::io
