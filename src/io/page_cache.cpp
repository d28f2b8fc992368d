#include "io/page_cache.hpp"

#include <fcntl.h>

#include "io/disk.hpp"
#include "rounding.hpp"

namespace xorder::io {
namespace {

// Pages that have just been read are in a per-processor list that pins them. If they are dropped a little
// later, the kernel does not have to interrupt all processors.
constexpr std::size_t read_window = std::size_t{4} << 20;

std::uint64_t first_page(std::uint64_t offset) { return offset / page_bytes * page_bytes; }
std::uint64_t end_page(std::uint64_t end) { return first_page(end + page_bytes - 1); }

}  // namespace

void PageCache::after_read(int fd, std::uint64_t offset, std::size_t bytes) {
  if (keep_ || bytes == 0) return;
  Range oldest;
  if (pass(read_, {offset, bytes}, read_window, oldest)) drop(fd, oldest.offset, oldest.bytes);
}

// A fault maps what is in memory of the 64 KiB around it. So pages before the range, which its neighbour has
// dropped, were still mapped here and stayed: 144 MiB of 1 GiB in ranges of 144 KiB.
void PageCache::drop_mapped(int fd, std::uint64_t offset, std::size_t bytes) {
  constexpr std::uint64_t fault_around = std::uint64_t{64} << 10;
  if (keep_ || bytes == 0) return;
  const std::uint64_t begin = round_down(offset, fault_around);
  drop(fd, begin, static_cast<std::size_t>(offset - begin) + bytes);
}

Failure PageCache::after_write(int fd, std::uint64_t offset, std::size_t bytes) {
  if (keep_ || bytes == 0) return {};
  if (const int error = disk_.write_back(fd, offset, bytes, SYNC_FILE_RANGE_WRITE)) return {error, offset};
  Range oldest;
  return pass(written_, {offset, bytes}, write_window_, oldest) ? finish(fd, oldest) : Failure{};
}

// Write-back does not begin at once, because others may still write to these pages.
Failure PageCache::after_partial_write(int fd, std::uint64_t offset, std::size_t bytes) {
  if (keep_ || bytes == 0) return {};
  Range oldest;
  return pass(partial_, {offset, bytes}, write_window_, oldest) ? finish(fd, oldest) : Failure{};
}

void PageCache::drop_all(int fd) {
  if (!keep_) disk_.advise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

bool PageCache::pass(Window& window, Range range, std::size_t limit, Range& oldest) {
  const std::lock_guard lock(mutex_);
  window.ranges.push_back(range);
  window.bytes += end_page(range.offset + range.bytes) - first_page(range.offset);
  if (window.bytes <= limit) return false;
  oldest = window.ranges.front();
  window.ranges.pop_front();
  window.bytes -= end_page(oldest.offset + oldest.bytes) - first_page(oldest.offset);
  return true;
}

Failure PageCache::finish(int fd, const Range& range) {
  constexpr unsigned all_of_it =
      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
  if (const int error = disk_.write_back(fd, range.offset, range.bytes, all_of_it))
    return {error, range.offset};
  drop(fd, range.offset, range.bytes);
  return {};
}

// The kernel does not drop pages that are only partly in the range, so the range is extended to whole pages.
// Otherwise such pages would add up: a mapped run in 16 MiB took 69 MiB. A neighbour that needs such a page
// reads it again together with its own. This costs a mapped run 5 to 8% of its time.
void PageCache::drop(int fd, std::uint64_t offset, std::size_t bytes) {
  const std::uint64_t begin = first_page(offset);
  disk_.advise(fd, begin, end_page(offset + bytes) - begin, POSIX_FADV_DONTNEED);
}

}  // namespace xorder::io
