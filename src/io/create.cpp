#include "io/create.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <limits>

#include "io/disk.hpp"
#include "io/memory.hpp"
#include "io/page_cache/residency.hpp"
#include "text/count_text.hpp"
#include "text/reason.hpp"
#include "text/size_text.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

[[noreturn]] void throw_no_room(int fd, const std::filesystem::path& directory, const std::string& name,
                                std::uint64_t bytes) {
  const std::optional<std::uint64_t> room = free_bytes(fd);
  // Some file systems need more than the file (btrfs), or count what other files have reserved as free.
  const bool enough = room && *room >= bytes;
  throw InputError(fmt::format("{}: no room for {}: needs {}, {} free{}", directory.string(), name,
                               describe_bytes(bytes), room ? describe_bytes(*room) : "not enough",
                               enough ? ", of which the file system cannot reserve as much" : ""),
                   ENOSPC);
}

[[noreturn]] void throw_not_there(const std::filesystem::path& directory, const std::string& name, int code) {
  throw InputError(fmt::format("{}: cannot make {} there: {}", directory.string(), name, reason(code)), code);
}

std::optional<std::uint64_t> free_in_file_system(int fd) {
  struct statfs fs;
  if (fstatfs(fd, &fs) != 0 || fs.f_blocks == 0) return {};
  const auto unit = static_cast<std::uint64_t>(fs.f_frsize ? fs.f_frsize : fs.f_bsize);
  // The superuser may use the reserved blocks. btrfs has none and counts room for metadata as free.
  const bool all = geteuid() == 0 && fs.f_type != BTRFS_SUPER_MAGIC;
  return (all ? fs.f_bfree : std::min(fs.f_bavail, fs.f_bfree)) * unit;
}

}  // namespace

std::optional<std::uint64_t> free_bytes(int fd) {
  const std::optional<std::uint64_t> room = free_in_file_system(fd);
  const std::uint64_t memory = only_in_memory(fd) ? available_memory() : 0;
  // Its files may go to swap space.
  struct sysinfo system;
  if (memory == 0 || sysinfo(&system) != 0) return room;
  return std::min(room.value_or(~std::uint64_t{0}), memory + system.freeswap * system.mem_unit);
}

const char* kind_of_file(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR:
      return "a directory";
    case S_IFIFO:
      return "a FIFO";
    case S_IFSOCK:
      return "a socket";
    case S_IFCHR:
      return "a character device";
    case S_IFBLK:
      return "a block device";
    default:
      return "a special file";
  }
}

std::string describe_bytes(std::uint64_t bytes) {
  return bytes < 1024 ? count_text(bytes, "byte") : fmt::format("{} bytes ({})", bytes, size_text(bytes));
}

std::string proc_path(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

Descriptor open_directory(Disk& disk, const std::filesystem::path& directory, const std::string& name) {
  const int opened = disk.open(AT_FDCWD, directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) throw_not_there(directory, name, -opened);
  Descriptor fd(opened);
  // Also detects read-only mounts. Checks the effective ids, which open() will use too.
  if (faccessat(fd.get(), ".", W_OK | X_OK, AT_EACCESS) != 0) throw_not_there(directory, name, errno);
  return fd;
}

std::string hidden_name(int directory_fd, const std::string& name, const std::string& suffix) {
  const long limit = fpathconf(directory_fd, _PC_NAME_MAX);
  const std::size_t longest = limit > 0 ? static_cast<std::size_t>(limit) : 255;
  const std::size_t kept = std::min(name.size(), longest - std::min(longest, suffix.size() + 1));
  return "." + name.substr(0, kept) + suffix;
}

std::string temporary_name(int directory_fd, const std::string& name) {
  static std::atomic<unsigned> counter{0};
  return hidden_name(directory_fd, name, fmt::format(".xorder-{}-{}", getpid(), counter++));
}

bool is_temporary_name(std::string_view candidate, std::string_view name) {
  const std::size_t suffix = candidate.rfind(".xorder-");
  if (!candidate.starts_with('.') || suffix == std::string_view::npos || suffix == 0) return false;
  if (candidate.find_first_not_of("0123456789-", suffix + 8) != std::string_view::npos) return false;
  const std::string_view kept = candidate.substr(1, suffix - 1);
  constexpr std::size_t least_cut = 128;  // file systems allow names of 143 bytes or more
  return kept == name || (kept.size() >= least_cut && name.starts_with(kept));
}

NewFile create_in(Disk& disk, int directory_fd, const std::filesystem::path& directory,
                  const std::string& name, mode_t mode, bool named) {
  if (!named) {
    const int fd = disk.open(directory_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    if (fd >= 0) {
      Descriptor nameless(fd);
      // Without /proc it could never be given a name. A temporary name is used then.
      if (access(proc_path(fd).c_str(), F_OK) == 0) return {std::move(nameless), {}};
    } else if (fd != -EOPNOTSUPP && fd != -EISDIR && fd != -EINVAL && fd != -ENOENT) {
      // Which of the four says "no nameless files here" depends on the kernel and the file system.
      throw_not_there(directory, name, -fd);
    }
  }
  for (;;) {
    std::string temporary = temporary_name(directory_fd, name);
    const int fd = disk.open(directory_fd, temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd >= 0) return {Descriptor(fd), std::move(temporary)};
    // A killed process with our pid may have left a file of this name.
    if (fd != -EEXIST) throw_not_there(directory, name, -fd);
  }
}

void require_room(int directory_fd, const std::filesystem::path& directory, const std::string& name,
                  std::uint64_t bytes) {
  struct rlimit limit;
  // Exceeding the limit would raise SIGXFSZ, which kills the process.
  const bool limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  if (limited && bytes > limit.rlim_cur) {
    throw InputError(
        fmt::format("{}: needs {}, but this process may write no more than {} to a file (ulimit -f)", name,
                    describe_bytes(bytes), describe_bytes(limit.rlim_cur)),
        EFBIG);
  }
  require_free(directory_fd, directory, name, bytes);
}

void require_free(int directory_fd, const std::filesystem::path& directory, const std::string& name,
                  std::uint64_t bytes) {
  const std::optional<std::uint64_t> room = free_bytes(directory_fd);
  if (bytes > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max()) || (room && bytes > *room)) {
    throw_no_room(directory_fd, directory, name, bytes);
  }
}

void reserve(Disk& disk, int fd, const std::filesystem::path& directory, const std::string& name,
             std::uint64_t bytes) {
  // Check first: a hopeless request must not fill the disk even for a moment.
  require_room(fd, directory, name, bytes);
  if (bytes == 0) return;
  int code = disk.reserve(fd, bytes);
  // Some file systems cannot reserve space. There, the check above has to do.
  if (code == EOPNOTSUPP || code == ENOSYS || code == EINVAL) code = disk.truncate(fd, bytes);
  if (code == ENOSPC || code == EDQUOT) throw_no_room(fd, directory, name, bytes);
  if (code != 0) {
    throw InputError(fmt::format("{}: {} cannot be reserved: {}", name, describe_bytes(bytes), reason(code)),
                     code);
  }
}

}  // namespace xorder::io
