// Files of transfers: what a Trace writes and a report reads.
//
// A trace is an .npy file of one record for each transfer, in no order, which numpy.load() reads. Behind the
// records stands a description, one JSON object in UTF-8, and behind it its length: 8 bytes, the lowest
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
  double begin = 0;           ///< when it was handed over, in seconds since the trace began
  float seconds = 0;          ///< until it was known to have ended
  std::uint16_t file = 0;     ///< the number of the file in the description's list
  std::uint8_t is_write = 0;  ///< 0 or 1
  std::uint8_t is_partial =
      0;  ///< 1: of a header or of a part of a block, which goes through the page cache; else 0
  std::uint64_t offset = 0;  ///< in the file
  std::uint64_t bytes = 0;   ///< that were asked for

  double end() const { return begin + static_cast<double>(seconds); }
};
static_assert(sizeof(TraceRecord) == 32);

/// The .npy header of so many records. Always as long as this:
std::string trace_header(std::uint64_t records);
inline constexpr std::uint64_t trace_header_bytes = 4096;

/// What stands behind the records.
std::string trace_trailer(std::string_view description);

class TraceReader {
 public:
  /// Throws InputError, one line, if it is no regular file, no trace or cut short.
  explicit TraceReader(const std::filesystem::path& path);

  const std::string& name() const { return file_.name(); }
  /// The text of the JSON object; not parsed here.
  const std::string& description() const { return description_; }
  std::uint64_t records() const { return records_; }
  /// The next records, as many as fit in a buffer; none at the end. They stay until the next call. Throws
  /// InputError for records that no run makes: times that are below 0 or no numbers, ends of ranges beyond
  /// 2^63.
  std::span<const TraceRecord> next();

 private:
  File file_;
  std::uint64_t records_ = 0, passed_ = 0;
  std::string description_;
  std::vector<TraceRecord> buffer_;
};

}  // namespace xorder::io
