// Keeps one file's share of the page cache small while blocks pass through it.
//
// Pages that were read are dropped some MiB later. For writes, write-back starts at once. When more than a
// window of data is in write-back, the oldest is waited for and dropped. This also bounds the dirty pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

namespace xorder::io {

class Disk;

/// The unit of the page cache.
inline constexpr std::uint64_t page_bytes = 4096;

/// 0 or an errno, and the offset in the file.
struct Failure {
  int error = 0;
  std::uint64_t offset = 0;
};

/// May be used by several threads at once.
class PageCache {
 public:
  explicit PageCache(Disk& disk) : disk_(disk) {}

  void set_keep(bool keep) { keep_ = keep; }
  bool keeps() const { return keep_; }
  /// How many bytes may stay after they were read, and how many may be in write-back.
  void set_windows(std::size_t read, std::size_t written) {
    read_window_ = read;
    write_window_ = written;
  }

  /// Call it after the bytes were read from `fd`. None of their pages may be mapped.
  void after_read(int fd, std::uint64_t offset, std::size_t bytes);
  /// The same for bytes that were mapped for a while: drops them at once, and the pages before them that
  /// faults have mapped as well.
  void drop_mapped(int fd, std::uint64_t offset, std::size_t bytes);
  /// Call it after the bytes were written to `fd`. Reports a failed write-back of these or earlier bytes.
  /// `fd` must not be the open file that File::sync() uses, because the kernel reports an error only once to
  /// each.
  Failure after_write(int fd, std::uint64_t offset, std::size_t bytes);
  /// The same for parts of blocks of a direct file, which go through the page cache and would stay there.
  /// Write-back does not start at once: the oldest pages are written back and dropped when there are more
  /// than the write window holds.
  Failure after_partial_write(int fd, std::uint64_t offset, std::size_t bytes);
  /// Drops all clean pages. Call it after a sync.
  void drop_all(int fd);

 private:
  struct Range {
    std::uint64_t offset;
    std::size_t bytes;
  };
  /// Ranges in the order of their transfers, and the bytes of their pages.
  struct Window {
    std::deque<Range> ranges;
    std::size_t bytes = 0;
  };
  /// Appends `range`. While there are more than `limit` bytes, takes out the oldest range. Returns those that
  /// were taken out.
  std::vector<Range> pass(Window& window, Range range, std::size_t limit);
  Failure finish(int fd, const std::vector<Range>& ranges);
  void drop(int fd, std::uint64_t offset, std::size_t bytes);

  Disk& disk_;
  bool keep_ = false;
  std::size_t read_window_ = std::size_t{4} << 20;
  std::size_t write_window_ = std::size_t{32} << 20;
  std::mutex mutex_;
  Window read_;
  Window written_;
  Window partial_;
};

}  // namespace xorder::io
