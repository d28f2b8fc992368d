#include "io/give_name.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cerrno>

#include "io/create.hpp"
#include "io/disk.hpp"
#include "text/reason.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

namespace fs = std::filesystem;

void require_in_place(int directory, const fs::path& file) {
  struct stat mine, there;
  const fs::path path = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (fstat(directory, &mine) != 0) return;
  if (stat(path.c_str(), &there) == 0 && there.st_dev == mine.st_dev && there.st_ino == mine.st_ino) return;
  std::error_code unknown;
  const fs::path now = fs::read_symlink(proc_path(directory), unknown);
  throw IoError(file.string(),
                fmt::format("is complete, but not there: {} was moved during the run{}", path.string(),
                            unknown ? "" : fmt::format("; it is {}", (now / file.filename()).string())));
}

}  // namespace

int link_nameless(Disk& disk, int directory, int descriptor, const std::string& name) {
  return disk.link(AT_FDCWD, proc_path(descriptor).c_str(), directory, name.c_str(), AT_SYMLINK_FOLLOW);
}

int give_name(Disk& disk, int directory, int descriptor, std::string& temporary, const std::string& name) {
  if (temporary.empty()) return link_nameless(disk, directory, descriptor, name);
  int code = disk.rename(directory, temporary.c_str(), name.c_str(), RENAME_NOREPLACE);
  if (code == EINVAL || code == ENOSYS) {  // not supported here; a link does not replace either
    code = disk.link(directory, temporary.c_str(), directory, name.c_str(), 0);
    if (code == 0 && disk.remove(directory, temporary.c_str()) != 0)
      return 0;  // the caller tries again at the end
  }
  if (code == EPERM || code == EOPNOTSUPP || code == ENOSYS) {  // no links either: a check has to do
    struct stat status;
    const bool exists = fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
    code = exists ? EEXIST : disk.rename(directory, temporary.c_str(), name.c_str(), 0);
  }
  if (code == 0) temporary.clear();
  return code;
}

void remove_name(Disk& disk, int directory, const std::string& name, std::uint64_t device,
                 std::uint64_t inode) {
  struct stat there;
  if (fstatat(directory, name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 && there.st_dev == device &&
      there.st_ino == inode)
    disk.remove(directory, name.c_str());
}

void sync_directory(Disk& disk, int directory, const fs::path& file) {
  // Some network file systems cannot sync a directory and do not need to.
  const int code = disk.sync(directory);
  if (code != 0 && code != EINVAL && code != ENOTSUP) {
    throw IoError(file.string(), fmt::format("is complete, but its directory could not be synced: {}; it "
                                             "may be lost if the machine crashes now",
                                             reason(code)));
  }
  require_in_place(directory, file);
}

}  // namespace xorder::io
