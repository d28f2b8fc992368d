#include "kernel/records.hpp"

#include "kernel/vectors/micro.hpp"
#include "kernel/vectors/transpose.hpp"

namespace xorder::kernel {
namespace {

// Rows processed at a time. A line of each stays in the cache until all its elements have been copied.
constexpr std::size_t rows_at_once = 16;

template <class Record>
void transpose_some(const Record& record, const std::byte* const* rows, std::size_t count,
                    std::size_t columns, std::byte* target, std::size_t pitch, bool fetching) {
  const std::size_t w = record.bytes();
  for (std::size_t r = 0; r < count; r += rows_at_once) {
    const std::size_t some = count - r < rows_at_once ? count - r : rows_at_once;
    std::size_t asked = 0;
    for (std::size_t c = 0; c < columns; ++c) {
      std::byte* to = target + c * pitch + r * w;
      for (; fetching && asked <= c * w; asked += line_bytes) {
        for (std::size_t i = 0; i < some; ++i) prefetch(rows[r + i] + asked + bytes_ahead);
      }
      if (c + 1 < columns) {
        for (std::size_t i = 0; i + 1 < some; ++i, to += w) record.copy_ahead(to, rows[r + i] + c * w);
        record.copy(to, rows[r + some - 1] + c * w);
      } else {
        for (std::size_t i = 0; i < some; ++i, to += w) record.copy(to, rows[r + i] + c * w);
      }
    }
  }
}

}  // namespace

void transpose_records(const std::byte* const* rows, std::size_t count, std::size_t columns,
                       std::byte* target, std::size_t pitch, std::size_t element_bytes, bool fetching) {
  with_record(element_bytes, [&](const auto& record) {
    transpose_some(record, rows, count, columns, target, pitch, fetching);
  });
}

}  // namespace xorder::kernel
