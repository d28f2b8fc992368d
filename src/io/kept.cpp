#include "io/kept.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

#include "io/create.hpp"
#include "io/disk.hpp"
#include "text/reason.hpp"
#include "xorder/error.hpp"

namespace xorder::io {

std::string kept_name(int directory_fd, const std::string& name, const std::string& what) {
  return hidden_name(directory_fd, name, ".xorder-" + what);
}

std::string identity(const std::filesystem::path& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) throw IoError(path.string(), "stat", errno);
  return fmt::format("{:x}-{}", found.st_dev, found.st_ino);
}

Descriptor open_kept(Disk& disk, int directory_fd, const std::filesystem::path& directory,
                     const std::string& kept, mode_t mode, Kept how) {
  const std::string path = (directory / kept).string();
  for (;;) {
    constexpr int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
    const int fd =
        disk.open(directory_fd, kept.c_str(), how == Kept::made ? flags | O_CREAT | O_EXCL : flags, mode);
    if (fd < 0 && !(how == Kept::made && fd == -EEXIST))
      throw InputError(
          fmt::format("{}: cannot be {}: {}", path, how == Kept::made ? "made" : "opened", reason(-fd)), -fd);
    if (fd >= 0) {
      Descriptor file(fd);
      lock_file(fd, path);
      return file;
    }
    if (in_use(directory / kept))
      throw InputError(fmt::format("{}: is in use by a run that is still going on", path), EBUSY);
    if (const int code = disk.remove(directory_fd, kept.c_str()); code != 0 && code != ENOENT)
      throw InputError(fmt::format("{}: cannot be removed: {}", path, reason(code)), code);
  }
}

void lock_file(int fd, const std::string& path) {
  if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw InputError(fmt::format("{}: is in use by a run that is still going on", path), EBUSY);
}

bool in_use(const std::filesystem::path& kept) {
  const Descriptor file(open(kept.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  return file && flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace xorder::io
