#include "memory/records.hpp"

#include "memory/micro.hpp"

namespace xorder::memory {
namespace {

// A few rows at a time: of each the next line is in the cache until all its elements have been copied, and the target's rows
// are written in pieces.
template <class Record>
void transpose_some(const Record& record, const std::byte* const* rows, std::size_t count,
                    std::size_t columns, std::byte* target, std::size_t pitch) {
  const std::size_t w = record.bytes();
  for (std::size_t r = 0; r < count; r += rows_ahead) {
    const std::size_t some = count - r < rows_ahead ? count - r : rows_ahead;
    for (std::size_t i = 0; i < some; ++i) {
      const std::byte* const next = rows[r + rows_ahead < count ? r + rows_ahead + i : count + i];
      for (std::size_t at = 0; at < columns * w; at += line_bytes) prefetch(next + at);
    }
    for (std::size_t c = 0; c < columns; ++c) {
      std::byte* to = target + c * pitch + r * w;
      for (std::size_t i = 0; i < some; ++i, to += w) record.copy(to, rows[r + i] + c * w);
    }
  }
}

}  // namespace

void transpose_records(const std::byte* const* rows, std::size_t count, std::size_t columns,
                       std::byte* target, std::size_t pitch, std::size_t element_bytes) {
  with_record(element_bytes,
              [&](const auto& record) { transpose_some(record, rows, count, columns, target, pitch); });
}

}  // namespace xorder::memory
