#include "io/disk.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>

#include "io/file.hpp"
#include "io/page_cache/pages.hpp"
#include "io/patience.hpp"
#include "io/queue/queues.hpp"

namespace xorder::io {
namespace {

namespace ipc = boost::interprocess;

/// Wraps an open file for Boost.Interprocess, whose own file_mapping would open a path again.
class Mappable {
 public:
  Mappable(int fd, ipc::mode_t mode) : handle_{fd, false}, mode_(mode) {}
  ipc::mapping_handle_t get_mapping_handle() const { return handle_; }
  ipc::mode_t get_mode() const { return mode_; }

 private:
  ipc::mapping_handle_t handle_;
  ipc::mode_t mode_;
};

// Repeats the call on EINTR. Returns its result, or -errno.
template <typename Call>
int repeated(const Call& call) {
  for (Patience patience;;) {
    const int result = call();
    if (result >= 0) return result;
    if (errno != EINTR || !patience.with(errno)) return -errno;
  }
}

// Returns 0 or an errno.
template <typename Call>
int tried(const Call& call) {
  return -repeated(call);
}

}  // namespace

Completion Disk::perform(const Transfer& transfer) {
  if (transfer.in_place) return perform_in_place(transfer);
  const bool mapped = transfer.file->access() == Access::mapped && !transfer.unaligned;
  return mapped ? perform_by_mapping(transfer) : perform_by_system_calls(transfer);
}

std::unique_ptr<Queue> Disk::queue(QueueKind kind, unsigned depth) { return make_queue(kind, depth); }

ipc::mapped_region Disk::map(int fd, bool writable, std::uint64_t offset, std::size_t bytes) {
  const ipc::mode_t mode = writable ? ipc::read_write : ipc::read_only;
  ipc::mapped_region region(Mappable(fd, mode), mode, static_cast<ipc::offset_t>(offset), bytes);
  // Without it a fault reads around the window, in folios of up to 2 MiB. Dropping a part of a folio frees
  // nothing.
  region.advise(ipc::mapped_region::advice_random);
  return region;
}

int Disk::prepare(const File& file, std::byte* window, std::uint64_t offset, std::size_t bytes) {
  return make_new(file, window, offset, bytes);
}

int Disk::open(int directory, const char* path, int flags, mode_t mode) {
  return repeated([&] { return ::openat(directory, path, flags, mode); });
}

int Disk::reserve(int fd, std::uint64_t bytes) {
  return tried([&] { return fallocate(fd, 0, 0, static_cast<off_t>(bytes)); });
}

int Disk::truncate(int fd, std::uint64_t bytes) {
  return tried([&] { return ftruncate(fd, static_cast<off_t>(bytes)); });
}

// Never repeated: after a failure the kernel marks the pages clean, and a second fsync would return success.
int Disk::sync(int fd) { return fsync(fd) == 0 ? 0 : errno; }

int Disk::link(int from_directory, const char* from, int to_directory, const char* to, int flags) {
  return tried([&] { return linkat(from_directory, from, to_directory, to, flags); });
}

int Disk::rename(int directory, const char* from, const char* to, unsigned flags) {
  return tried([&] {
    return flags == 0 ? renameat(directory, from, directory, to)
                      : renameat2(directory, from, directory, to, flags);
  });
}

int Disk::remove(int directory, const char* name) {
  return tried([&] { return unlinkat(directory, name, 0); });
}

void Disk::advise(int fd, std::uint64_t offset, std::uint64_t bytes, int advice) {
  posix_fadvise(fd, static_cast<off_t>(offset), static_cast<off_t>(bytes), advice);
}

int Disk::write_back(int fd, std::uint64_t offset, std::uint64_t bytes, unsigned flags) {
  const int result = sync_file_range(fd, static_cast<off_t>(offset), static_cast<off_t>(bytes), flags);
  return result == 0 || errno == ENOSYS ? 0 : errno;  // without it, the kernel writes back when it likes
}

Disk& system_disk() {
  static Disk disk;
  return disk;
}

}  // namespace xorder::io
