#include "io/page_cache/page_cache.hpp"

#include <fcntl.h>

#include "io/disk.hpp"
#include "rounding.hpp"

namespace xorder::io {
namespace {

std::uint64_t first_page(std::uint64_t offset) { return offset / page_bytes * page_bytes; }
std::uint64_t end_page(std::uint64_t end) { return first_page(end + page_bytes - 1); }

}  // namespace

// Pages that have just been read are in a per-processor list that pins them. If they are dropped a little
// later, the kernel does not have to interrupt all processors.
void PageCache::after_read(int fd, std::uint64_t offset, std::size_t bytes) {
  if (keep_ || bytes == 0) return;
  for (const Range& old : pass(read_, {offset, bytes}, read_window_)) drop(fd, old.offset, old.bytes);
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
  return finish(fd, pass(written_, {offset, bytes}, write_window_));
}

// Write-back does not begin at once, because others may still write to these pages.
Failure PageCache::after_partial_write(int fd, std::uint64_t offset, std::size_t bytes) {
  if (keep_ || bytes == 0) return {};
  return finish(fd, pass(partial_, {offset, bytes}, write_window_));
}

void PageCache::drop_all(int fd) {
  if (!keep_) disk_.advise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

std::vector<PageCache::Range> PageCache::pass(Window& window, Range range, std::size_t limit) {
  const auto pages = [](const Range& r) { return end_page(r.offset + r.bytes) - first_page(r.offset); };
  std::vector<Range> old;
  const std::lock_guard lock(mutex_);
  window.ranges.push_back(range);
  window.bytes += pages(range);
  while (window.bytes > limit) {
    old.push_back(window.ranges.front());
    window.ranges.pop_front();
    window.bytes -= pages(old.back());
  }
  return old;
}

// Returns the first failure.
Failure PageCache::finish(int fd, const std::vector<Range>& ranges) {
  for (const Range& range : ranges) {
    if (const int error = disk_.write_back(fd, range.offset, range.bytes, write_back_and_wait))
      return {error, range.offset};
    drop(fd, range.offset, range.bytes);
  }
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
