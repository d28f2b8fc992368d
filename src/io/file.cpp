#include "io/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <thread>

#include "io/create.hpp"
#include "io/disk.hpp"
#include "io/kept.hpp"
#include "io/page_cache/page_cache.hpp"
#include "text/reason.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

constexpr std::uint32_t default_alignment = 4096;

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> files = 0;
  return ++files;
}

// The step by which the file system's times move, as far as a time shows it by the zeros at its end. FAT has
// steps of two seconds, ext4 with inodes of 128 bytes of one.
std::chrono::nanoseconds tick(const FileStamp& stamp) {
  if (stamp.ctime_nanoseconds == 0) return std::chrono::seconds(2);
  std::int64_t step = 1;
  while (stamp.ctime_nanoseconds % (10 * step) == 0) step *= 10;
  return std::chrono::nanoseconds(step);
}

// Its files are made up when they are read, and no size says how long they will be.
bool made_by_the_kernel(int fd) {
  constexpr std::array<long, 7> types = {PROC_SUPER_MAGIC,   SYSFS_MAGIC,      DEBUGFS_MAGIC,
                                         TRACEFS_MAGIC,      SECURITYFS_MAGIC, CGROUP_SUPER_MAGIC,
                                         CGROUP2_SUPER_MAGIC};
  struct statfs system;
  return fstatfs(fd, &system) == 0 && std::ranges::count(types, system.f_type) != 0;
}

void require_regular(const std::string& name, const struct stat& status) {
  if (S_ISREG(status.st_mode)) return;
  throw InputError(fmt::format("{}: is {}, not a regular file", name, kind_of_file(status.st_mode)));
}

[[noreturn]] void throw_unreadable(const std::string& name, int code) {
  throw InputError(fmt::format("{}: cannot be read: {}", name, reason(code)), code);
}

/// What O_DIRECT demands of a file.
struct DirectAlignment {
  std::uint32_t memory = default_alignment;
  std::uint32_t offset = default_alignment;
};

DirectAlignment direct_alignment(int fd) {
#ifdef STATX_DIOALIGN
  struct statx status = {};
  if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &status) == 0 && (status.stx_mask & STATX_DIOALIGN)) {
    return {status.stx_dio_mem_align, status.stx_dio_offset_align};  // 0: not supported
  }
#endif
  return {};  // enough for every file system in use
}

/// The file system's block size; the default if it is not a power of two or is above 64 KiB.
std::uint32_t block_size(int fd) {
  struct stat status;
  if (fstat(fd, &status) != 0) return default_alignment;
  const auto size = static_cast<std::uint64_t>(std::max<blksize_t>(status.st_blksize, 1));
  return std::has_single_bit(size) && size <= (64u << 10) ? static_cast<std::uint32_t>(size)
                                                          : default_alignment;
}

}  // namespace

void Descriptor::reset() {
  if (fd_ >= 0) close(std::exchange(fd_, -1));
}

File::File(Disk& disk)
    : disk_(&disk), number_(next_number()), page_cache_(std::make_unique<PageCache>(disk)) {}
File::~File() = default;
File::File(File&& other) noexcept = default;
File& File::operator=(File&& other) noexcept = default;

void File::set_keep_cached(bool keep) { page_cache_->set_keep(keep); }
void File::set_windows(std::size_t read, std::size_t written) { page_cache_->set_windows(read, written); }

File File::open_input(const std::filesystem::path& path, Access access, Disk& disk) {
  File file(disk);
  file.name_ = path.string();
  if (path.empty()) throw InputError("the input's name is empty");
  if (path == "-") throw InputError("-: xorder works on files, not on pipes; name a file");
  // Check the type before opening, because opening a device can have effects (a tape rewinds), and again
  // after.
  struct stat status;
  if (stat(path.c_str(), &status) != 0) throw_unreadable(file.name_, errno);
  require_regular(file.name_, status);
  const int fd = disk.open(AT_FDCWD, path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) throw_unreadable(file.name_, -fd);
  file.plain_ = Descriptor(fd);
  if (fstat(file.plain_.get(), &status) != 0) throw_unreadable(file.name_, errno);
  require_regular(file.name_, status);
  if (made_by_the_kernel(fd))
    throw InputError(
        fmt::format("{}: the kernel makes its content up when it is read, so it has no size; copy it with cp "
                    "and name the copy",
                    file.name_));
  // O_NONBLOCK protected against FIFOs. If it stayed on, io_uring would fail with EAGAIN instead of waiting.
  fcntl(file.plain_.get(), F_SETFL, 0);
  file.size_ = static_cast<std::uint64_t>(status.st_size);
  file.open_data_descriptor(access, O_RDONLY);
  file.advise_no_read_ahead();
  return file;
}

File File::reopen(Access access, Disk& disk) const {
  File file(disk);
  file.name_ = name_;
  file.size_ = size_;
  // Open through the descriptor: the path may lead to another file by now.
  int fd = disk.open(AT_FDCWD, proc_path(plain_.get()).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fd = fcntl(plain_.get(), F_DUPFD_CLOEXEC, 0);
  if (fd < 0) throw_unreadable(name_, errno);
  file.plain_ = Descriptor(fd);
  file.open_data_descriptor(access, O_RDONLY);
  file.advise_no_read_ahead();
  return file;
}

File File::reopen_for_writing(Access access, Disk& disk) const {
  const int fd = disk.open(AT_FDCWD, proc_path(plain_.get()).c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) throw InputError(fmt::format("{}: cannot be written: {}", name_, reason(-fd)), -fd);
  return opened_for_writing(Descriptor(fd), name_, size_, access, disk);
}

File File::create_nameless(const std::filesystem::path& directory, const std::string& name,
                           std::uint64_t bytes, Access access, Disk& disk) {
  const Descriptor parent = open_directory(disk, directory, name);
  // Scratch data is nobody else's business.
  NewFile made = create_in(disk, parent.get(), directory, name, 0600, false);
  if (!made.temporary.empty()) {
    if (const int code = disk.remove(parent.get(), made.temporary.c_str())) {
      throw InputError(fmt::format("{}: cannot be made: {}", name, reason(code)), code);
    }
  }
  return adopt_new(std::move(made.descriptor), directory, name, bytes, access, disk);
}

std::pair<File, std::filesystem::path> File::create_named(const std::filesystem::path& directory,
                                                          const std::string& name, std::uint64_t bytes,
                                                          Access access, Disk& disk) {
  const Descriptor parent = open_directory(disk, directory, name);
  NewFile made = create_in(disk, parent.get(), directory, name, 0600, true);
  try {
    return {adopt_new(std::move(made.descriptor), directory, name, bytes, access, disk),
            directory / made.temporary};
  } catch (...) {
    disk.remove(parent.get(), made.temporary.c_str());
    throw;
  }
}

File File::kept(const std::filesystem::path& directory, const std::string& kept, const std::string& name,
                std::uint64_t bytes, Access access, Kept how, Disk& disk) {
  const Descriptor parent = open_directory(disk, directory, name);
  Descriptor opened = open_kept(disk, parent.get(), directory, kept, 0600, how);
  return how == Kept::made ? adopt_new(std::move(opened), directory, name, bytes, access, disk)
                           : opened_for_writing(std::move(opened), name, bytes, access, disk);
}

File File::join(const std::filesystem::path& path, const std::string& name, std::uint64_t bytes,
                Access access, Disk& disk) {
  const int fd = disk.open(AT_FDCWD, path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) throw IoError(path.string(), "open the file made by the first process", -fd);
  return opened_for_writing(Descriptor(fd), name, bytes, access, disk);
}

File File::adopt_new(Descriptor plain, const std::filesystem::path& directory, const std::string& name,
                     std::uint64_t bytes, Access access, Disk& disk) {
  reserve(disk, plain.get(), directory, name, bytes);
  return opened_for_writing(std::move(plain), name, bytes, access, disk);
}

File File::opened_for_writing(Descriptor plain, const std::string& name, std::uint64_t bytes, Access access,
                              Disk& disk) {
  File file(disk);
  file.name_ = name;
  file.writable_ = true;
  file.size_ = bytes;
  file.plain_ = std::move(plain);
  file.open_data_descriptor(access, O_RDWR);
  file.advise_no_read_ahead();
  return file;
}

void File::open_data_descriptor(Access access, int flags) {
  // Open through the descriptor. This works for nameless files and cannot hit another file.
  const std::string path = proc_path(plain_.get());
  if (access == Access::direct) {
    if (const int fd = disk_->open(AT_FDCWD, path.c_str(), flags | O_DIRECT | O_CLOEXEC); fd >= 0)
      data_ = Descriptor(fd);
    const DirectAlignment alignment = direct_alignment(plain_.get());
    if (data_ && alignment.offset != 0 && alignment.memory != 0) {
      access_ = Access::direct;
      offset_alignment_ = alignment.offset;
      memory_alignment_ = alignment.memory;
      write_alignment_ = std::max({default_alignment, block_size(plain_.get()), alignment.offset});
      return;
    }
  }
  access_ = access == Access::mapped ? Access::mapped : Access::buffered;
  // The kernel reports a write-back error once to each open file. Two open files are needed so that sync()
  // still sees an error that an engine has met.
  int fd = disk_->open(AT_FDCWD, path.c_str(), flags | O_CLOEXEC);
  if (fd < 0) fd = fcntl(plain_.get(), F_DUPFD_CLOEXEC, 0);
  if (fd < 0) throw IoError(name_, "open", errno);
  data_ = Descriptor(fd);
}

void File::advise_no_read_ahead() const {
  // The plan decides the order of reads, and the kernel's read-ahead can only disturb it. Both descriptors
  // need the advice: reading the header through one that reads ahead leaves a mark in the page cache, and
  // whoever passes the mark starts reading ahead too. (Seen: folios of 2 MiB, which survive dropping 1 MiB at
  // a time, for the whole file.)
  for (const int fd : {plain_.get(), data_.get()}) disk_->advise(fd, 0, 0, POSIX_FADV_RANDOM);
}

FileStamp File::stamp() const {
  struct stat status;
  if (fstat(plain_.get(), &status) != 0) throw IoError(name_, "stat", errno);
  return {status.st_dev,         status.st_ino,          static_cast<std::uint64_t>(status.st_size),
          status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
          status.st_ctim.tv_nsec};
}

FileStamp File::settled_stamp() const {
  using namespace std::chrono;
  constexpr seconds longest = 2s;
  const auto end = steady_clock::now() + longest;
  for (;;) {
    const FileStamp now = stamp();
    timespec clock;
    clock_gettime(CLOCK_REALTIME_COARSE, &clock);  // the one that the kernel takes files' times from
    // Long ago, or by the clock of a file server, which is ahead.
    if (now.ctime_seconds < clock.tv_sec - longest / 1s || now.ctime_seconds > clock.tv_sec + 1) return now;
    const nanoseconds left = tick(now) - seconds(clock.tv_sec - now.ctime_seconds) -
                             nanoseconds(clock.tv_nsec - now.ctime_nanoseconds);
    const auto rest = duration_cast<nanoseconds>(end - steady_clock::now());
    if (left <= 0ns || rest <= 0ns) return now;
    std::this_thread::sleep_for(std::min(rest, std::max<nanoseconds>(left, 1ms)));
  }
}

void File::write_back_dirty_pages() const {
  // A failure concerns the writer. We read the pages that the writer sees.
  [[maybe_unused]] const int ignored =
      disk_->write_back(plain_.get(), 0, 0, write_back_and_wait);  // 0 bytes: to the end
}

void File::read_exactly(void* data, std::size_t bytes, std::uint64_t offset) const {
  transfer_exactly(Transfer::Kind::read, static_cast<std::byte*>(data), bytes, offset);
}

void File::write_exactly(const void* data, std::size_t bytes, std::uint64_t offset) const {
  transfer_exactly(Transfer::Kind::write, const_cast<std::byte*>(static_cast<const std::byte*>(data)), bytes,
                   offset);
}

void File::transfer_exactly(Transfer::Kind kind, std::byte* data, std::size_t bytes,
                            std::uint64_t offset) const {
  if (bytes == 0) return;
  const Transfer transfer{.kind = kind,
                          .file = this,
                          .offset = offset,
                          .pieces = {Piece{data, bytes}},
                          .piece_count = 1,
                          .required_bytes = bytes,
                          .unaligned = true};
  const Completion done = disk_->perform(transfer);
  if (done.error != 0) throw failed(kind, done);
}

IoError File::failed(Transfer::Kind kind, const Completion& done) const {
  if (kind == Transfer::Kind::write) return {name_, "write", done.error, done.offset};
  struct stat status {};
  const bool known = fstat(plain_.get(), &status) == 0;
  if (done.error == EIO && known && done.offset >= static_cast<std::uint64_t>(status.st_size))
    return {name_, fmt::format("read at byte {}: the file ends at byte {}", done.offset, status.st_size)};
  return {name_, "read", done.error, done.offset};
}

void File::sync() const {
  if (const int code = disk_->sync(plain_.get())) throw IoError(name_, "fsync", code);
  page_cache_->drop_all(data_.get());
}

void File::finish_writing() const {
  if (access_ != Access::direct && !page_cache_->keeps()) sync();
}

const char* name(Access access) {
  switch (access) {
    case Access::direct:
      return "direct";
    case Access::buffered:
      return "buffered";
    case Access::mapped:
      return "mapped";
  }
  return "";
}

}  // namespace xorder::io
