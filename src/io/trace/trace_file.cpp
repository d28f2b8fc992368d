#include "io/trace/trace_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "io/format/npy.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

static_assert(std::endian::native == std::endian::little, "records are written as they are in memory");

constexpr std::uint64_t length_bytes = 8;
constexpr std::uint64_t longest_description = std::uint64_t{16} << 20;
constexpr std::size_t records_at_once = 1 << 15;

[[noreturn]] void refuse_trace(const std::string& name, const std::string& why) {
  throw InputError(fmt::format("{}: {}; a trace is made by --trace FILE", name, why));
}

bool possible(const TraceRecord& record) {
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  return record.begin >= 0 && record.seconds >= 0 && std::isfinite(record.end()) && record.is_write <= 1 &&
         record.is_partial <= 1 && record.offset <= most && record.bytes <= most;
}

}  // namespace

std::string trace_header(std::uint64_t records) {
  const DType type{sizeof(TraceRecord),
                   "[('begin', '<f8'), ('seconds', '<f4'), ('file', '<u2'), ('write', '|b1'), "
                   "('partial', '|b1'), ('offset', '<u8'), ('bytes', '<u8')]"};
  // npy_header() makes a shorter header for no records. But the room is reserved before the number of records
  // is known.
  std::string header = npy_header(type, {std::max<std::uint64_t>(records, 1)});
  if (records == 0) header.replace(header.find("(1,)"), 4, "(0,)");
  return header;
}

std::string trace_trailer(std::string_view description) {
  std::string text(description);
  for (std::uint64_t i = 0; i < length_bytes; ++i) {
    text += static_cast<char>(description.size() >> (8 * i) & 0xFF);
  }
  return text;
}

TraceReader::TraceReader(const std::filesystem::path& path)
    : file_(File::open_input(path, Access::buffered)), buffer_(records_at_once) {
  if (!is_npy(file_)) refuse_trace(name(), "is not a trace");
  if (file_.size() < trace_header_bytes + length_bytes)
    refuse_trace(name(), "is not a trace, or was cut short");
  const std::uint64_t room = file_.size() - trace_header_bytes - length_bytes;
  std::uint8_t digits[length_bytes];
  file_.read_exactly(digits, length_bytes, file_.size() - length_bytes);
  std::uint64_t length = 0;
  for (std::uint64_t i = length_bytes; i-- > 0;) length = length << 8 | digits[i];
  if (length > std::min(room, longest_description) || (room - length) % sizeof(TraceRecord) != 0) {
    refuse_trace(name(), "is not a trace, or was cut short");
  }
  records_ = (room - length) / sizeof(TraceRecord);
  std::string header(trace_header_bytes, '\0');
  file_.read_exactly(header.data(), header.size(), 0);
  if (header != trace_header(records_)) refuse_trace(name(), "is not a trace, or was cut short");
  description_.resize(static_cast<std::size_t>(length));
  if (length > 0) {
    file_.read_exactly(description_.data(), description_.size(), file_.size() - length_bytes - length);
  }
}

std::span<const TraceRecord> TraceReader::next() {
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(records_ - passed_, buffer_.size()));
  if (count == 0) return {};
  file_.read_exactly(buffer_.data(), count * sizeof(TraceRecord),
                     trace_header_bytes + passed_ * sizeof(TraceRecord));
  const std::span records(buffer_.data(), count);
  for (std::size_t i = 0; i < count; ++i) {
    if (!possible(records[i])) refuse_trace(name(), fmt::format("record {} is damaged", passed_ + i));
  }
  passed_ += count;
  return records;
}

}  // namespace xorder::io
