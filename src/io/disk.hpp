// The interface between xorder and its files.
//
// All data of all engines passes through perform() or a queue() of a Disk, or through windows that map() and
// prepare() gave. Every other file operation that can fail is a function of Disk too. A file is opened on a
// disk (file.hpp) and remembers it, so whoever is given the file uses the same disk. Other disks can stand in
// front of the operating system's, to count, record or fail what passes: disk_filter.hpp.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <boost/interprocess/mapped_region.hpp>
#include <cstdint>
#include <limits>
#include <memory>

#include "io/queue/queue.hpp"
#include "io/transfer.hpp"

namespace xorder::io {

/// For Disk::write_back(): starts writing the range back, and waits until all of it is on the disk.
inline constexpr unsigned write_back_and_wait =
    SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;

/// Safe to use from several threads at once. This class is the operating system's disk; see system_disk().
class Disk {
 public:
  Disk() = default;
  virtual ~Disk() = default;
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  /// Carries out one transfer of a file that was opened on this disk. Blocks until it has ended.
  virtual Completion perform(const Transfer& transfer);
  /// Makes a queue for many transfers in flight: see make_queue(). The disk must outlive it.
  virtual std::unique_ptr<Queue> queue(QueueKind kind, unsigned depth);
  /// Maps a window of an open file. Throws boost::interprocess::interprocess_exception.
  virtual boost::interprocess::mapped_region map(int fd, bool writable, std::uint64_t offset,
                                                 std::size_t bytes);
  /// Makes pages for a mapped window of which every byte will be written: make_new() of
  /// io/page_cache/pages.hpp. Returns 0 or an errno.
  virtual int prepare(const File& file, std::byte* window, std::uint64_t offset, std::size_t bytes);

  // The system calls of the same names. All but sync() and write_back() are repeated on EINTR. open() returns
  // a descriptor or -errno; the others return 0 or an errno.
  virtual int open(int directory, const char* path, int flags, mode_t mode = 0);
  virtual int reserve(int fd, std::uint64_t bytes);  ///< fallocate
  virtual int truncate(int fd, std::uint64_t bytes);
  virtual int sync(int fd);
  virtual int link(int from_directory, const char* from, int to_directory, const char* to, int flags);
  virtual int rename(int directory, const char* from, const char* to, unsigned flags);
  virtual int remove(int directory, const char* name);
  /// posix_fadvise; failures are ignored, as it is only a hint.
  virtual void advise(int fd, std::uint64_t offset, std::uint64_t bytes, int advice);
  virtual int write_back(int fd, std::uint64_t offset, std::uint64_t bytes,
                         unsigned flags);  ///< sync_file_range

  /// At most so many bytes pass in a second, read and written together; infinity if the user sets no limit.
  virtual double rate_limit() const { return std::numeric_limits<double>::infinity(); }
};

/// The operating system's disk. It lives as long as the process.
Disk& system_disk();

}  // namespace xorder::io
