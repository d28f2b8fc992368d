// Keeping one file's share of the page cache small while blocks pass through it.
//
// Reads: pages are dropped some MiB after they were read. Writes: write-back starts at once, and once more
// than a window of data is under way the oldest is waited for and dropped, which bounds the dirty pages as
// well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

namespace xorder::io {

class Disk;

/// What the page cache counts by.
inline constexpr std::uint64_t page_bytes = 4096;

/// 0 or an errno, and where in the file.
struct Failure {
  int error = 0;
  std::uint64_t offset = 0;
};

/// May be used by several threads at once.
class PageCache {
 public:
  explicit PageCache(Disk& disk) : disk_(disk) {}

  void set_keep(bool keep) { keep_ = keep; }
  bool keep() const { return keep_; }
  void set_write_window(std::size_t bytes) { write_window_ = bytes; }

  /// To be called when the bytes were read from `fd`; none of their pages may be mapped.
  void after_read(int fd, std::uint64_t offset, std::size_t bytes);
  /// The same for what was read a while ago.
  void drop_read(int fd, std::uint64_t offset, std::size_t bytes);
  /// To be called when the bytes were written to `fd`. Reports a failed write-back, of this or of earlier
  /// bytes. `fd` must be another open file than the one that File::sync() uses, as the kernel reports an
  /// error only once to each.
  Failure after_write(int fd, std::uint64_t offset, std::size_t bytes);
  /// The same for parts of blocks of a direct file, which go through the page cache and would stay there.
  /// Pages that many parts make dirty are written back and dropped once there are more than the write window
  /// holds.
  Failure after_partial_write(int fd, std::uint64_t offset, std::size_t bytes);
  /// Drops what is clean; after a sync.
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
  /// Appends `range`, and takes out the oldest one if there are more than `limit` bytes.
  bool pass(Window& window, Range range, std::size_t limit, Range& oldest);
  Failure finish(int fd, const Range& range);
  void drop(int fd, std::uint64_t offset, std::size_t bytes);

  Disk& disk_;
  bool keep_ = false;
  std::size_t write_window_ = std::size_t{32} << 20;
  std::mutex mutex_;
  Window read_;
  Window written_;
  Window partial_;
};

}  // namespace xorder::io
