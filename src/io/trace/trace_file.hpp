// Trace files: a Trace writes them and a report reads them.
//
// A trace is an .npy file with one record for each transfer, in no particular order. numpy.load() reads it.
// After the records comes a description, one JSON object in UTF-8, and then its length in 8 bytes, lowest
// first.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/file.hpp"

namespace xorder::io {

struct TraceRecord {
  double begin = 0;             ///< when the transfer was submitted, in seconds since the trace began
  float seconds = 0;            ///< from then until it was known to have ended
  std::uint16_t file = 0;       ///< the number of the file in the description's list
  std::uint8_t is_write = 0;    ///< 0 or 1
  std::uint8_t is_partial = 0;  ///< 1 for a header or a part of a block, which goes through the page cache
  std::uint64_t offset = 0;     ///< in the file
  std::uint64_t bytes = 0;      ///< requested

  double end() const { return begin + static_cast<double>(seconds); }
};
static_assert(sizeof(TraceRecord) == 32);

/// The .npy header for that many records. It always has trace_header_bytes.
std::string trace_header(std::uint64_t records);
inline constexpr std::uint64_t trace_header_bytes = 4096;

/// What follows the records.
std::string trace_trailer(std::string_view description);

class TraceReader {
 public:
  /// Throws InputError, one line, if it is not a regular file, not a trace, or cut short.
  explicit TraceReader(const std::filesystem::path& path);

  const std::string& name() const { return file_.name(); }
  /// The text of the JSON object, not parsed.
  const std::string& description() const { return description_; }
  std::uint64_t records() const { return records_; }
  /// The next records, as many as fit in a buffer; none at the end. They are valid until the next call.
  /// Throws InputError for records that no run makes: negative or non-finite times, flags other than 0 and 1,
  /// offsets or lengths above 2^62.
  std::span<const TraceRecord> next();

 private:
  File file_;
  std::uint64_t records_ = 0, passed_ = 0;
  std::string description_;
  std::vector<TraceRecord> buffer_;
};

}  // namespace xorder::io
