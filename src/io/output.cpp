#include "io/output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <utility>

#include "io/create.hpp"
#include "io/disk.hpp"
#include "io/give_name.hpp"
#include "io/kept.hpp"
#include "io/take_over.hpp"
#include "text/reason.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& destination, const std::string& why, int code = 0) {
  throw InputError(fmt::format("{}: {}", destination.string(), why), code);
}

/// Whether names in this directory stand for open files of a process, as those of /proc/self/fd.
bool holds_open_files(const fs::path& directory) {
  struct statfs system;
  return statfs(directory.empty() ? "." : directory.c_str(), &system) == 0 &&
         system.f_type == PROC_SUPER_MAGIC;
}

fs::path parent(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

/// The kernel's rule (fs.protected_symlinks), which does not hold for whoever reads a link and goes on by
/// himself: where all may make files but only remove their own, as in /tmp, a link that another user made
/// leads where he wants others to write.
bool may_follow(const struct stat& link, const struct stat& directory) {
  constexpr mode_t shared = S_ISVTX | S_IWOTH;
  return (directory.st_mode & shared) != shared || link.st_uid == geteuid() ||
         link.st_uid == directory.st_uid;
}

/// Where a chain of symbolic links leads. Nothing needs to exist there. /dev/stdout leads to an open file,
/// whose name would get a new file while its content stays as it was.
fs::path follow_links(const fs::path& path) {
  constexpr int most_links = 40;  // the kernel's limit
  fs::path at = path;
  for (int i = 0; i <= most_links; ++i) {
    const Descriptor directory(open(parent(at).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    const Descriptor link(openat(directory.get(), at.filename().c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat above, status;
    if (!link || fstat(directory.get(), &above) != 0 || fstat(link.get(), &status) != 0 ||
        !S_ISLNK(status.st_mode))
      return at;
    std::string target(PATH_MAX, '\0');
    const ssize_t bytes = readlinkat(link.get(), "", target.data(), target.size());
    if (bytes < 0) return at;
    target.resize(static_cast<std::size_t>(bytes));
    if (holds_open_files(at.parent_path()))
      refuse(path,
             "is a file that is open already, such as standard output; xorder makes a new file: name one");
    if (!may_follow(status, above))
      refuse(
          path,
          fmt::format("{} is a symbolic link of another user in a directory where all may write (chmod +t), "
                      "and like the kernel xorder does not follow it; name the file that it leads to",
                      at == path ? "it" : at.string()),
          EACCES);
    at = at.parent_path() / target;  // target alone if it is absolute
  }
  refuse(path, reason(ELOOP), ELOOP);
}

struct Destination {
  fs::path path;  // links followed
  fs::path directory;
  Descriptor directory_fd;
  bool exists;
};

/// Throws if rename() will not be allowed to replace the old file, as far as this can be known before the
/// run.
void require_replaceable(const fs::path& given, int directory, const std::string& name,
                         const struct stat& old) {
  struct statx file, parent;
  const auto look = [](int at, const char* path, int flags, struct statx& into) {
    return statx(at, path, flags | AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &into) == 0;
  };
  if (look(directory, name.c_str(), 0, file)) {
    if (file.stx_attributes & STATX_ATTR_IMMUTABLE)
      refuse(given, "is immutable (chattr +i), so that it cannot be replaced");
    if (file.stx_attributes & STATX_ATTR_APPEND)
      refuse(given, "is append-only (chattr +a), so that it cannot be replaced");
    if (file.stx_attributes & STATX_ATTR_MOUNT_ROOT)
      refuse(given, "is a mount point, which cannot be replaced");
  }
  if (look(directory, "", AT_EMPTY_PATH, parent)) {
    if (parent.stx_attributes & STATX_ATTR_APPEND)
      refuse(given, "cannot be replaced in an append-only directory (chattr +a)");
    const uid_t user = geteuid();
    if ((parent.stx_mode & S_ISVTX) != 0 && user != 0 && user != old.st_uid && user != parent.stx_uid) {
      refuse(given, "belongs to another user, and its directory lets only owners replace files (chmod +t)");
    }
  }
}

/// `input` may be null, for an output that is made from no input file.
Destination examine(const fs::path& given, std::uint64_t bytes, bool overwrite, Disk& disk,
                    const File* input) {
  if (given.empty()) throw InputError("the output's name is empty");
  if (given == "-") refuse(given, "xorder works on files, not on pipes; name a file");
  Destination result;
  result.path = follow_links(given);
  const std::string name = result.path.filename().string();
  if (name.empty() || name == "." || name == "..") refuse(given, "is a directory, name a file");
  result.directory = parent(result.path);
  result.directory_fd = open_directory(disk, result.directory, name);
  const int directory = result.directory_fd.get();

  struct stat status;
  result.exists = fstatat(directory, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
  if (result.exists) {
    if (S_ISDIR(status.st_mode)) refuse(given, "is a directory, name a file", EISDIR);
    if (!S_ISREG(status.st_mode))
      refuse(given, fmt::format("is {}, not a regular file; name a file", kind_of_file(status.st_mode)));
    if (input != nullptr) {
      const FileStamp in = input->stamp();
      if (status.st_dev == in.device && status.st_ino == in.inode) {
        refuse(given, fmt::format("is the same file as the input {}", input->name()));
      }
    }
    if (!overwrite) refuse(given, "exists", EEXIST);
    require_replaceable(given, directory, name, status);
  } else if (errno == ENAMETOOLONG) {
    refuse(given,
           fmt::format("the name has {} bytes, the file system allows {}", name.size(),
                       fpathconf(directory, _PC_NAME_MAX)),
           ENAMETOOLONG);
  } else if (errno != ENOENT) {
    refuse(given, reason(errno), errno);
  }
  require_room(directory, result.directory, name, bytes);
  return result;
}

}  // namespace

void Output::check(const fs::path& destination, std::uint64_t bytes, bool overwrite, const File& input) {
  examine(destination, bytes, overwrite, input.disk(), &input);
}

Output::Output(const fs::path& destination, std::uint64_t bytes, bool overwrite, Access access,
               const File& input, Naming naming, mode_t permissions)
    : Output(destination, bytes, overwrite, access, input.disk(), &input, naming, permissions) {}

Output::Output(const fs::path& destination, std::uint64_t bytes, bool overwrite, Access access, Disk& disk,
               const File* input, Naming naming, mode_t permissions)
    : disk_(&disk), overwrite_(overwrite) {
  const bool resumed = naming == Naming::resumed, keeps = resumed || naming == Naming::kept;
  Destination found = examine(destination, resumed ? 0 : bytes, overwrite, disk, input);
  destination_ = std::move(found.path);
  directory_ = std::move(found.directory_fd);
  const std::string name = destination_.filename().string();
  // The old file may be private. Until the new one gets its permissions, nobody else may read it.
  const mode_t mode = found.exists ? 0600 : permissions;
  NewFile made;
  if (keeps) {
    made.temporary = kept_name(directory_.get(), name, "output");
    made.descriptor = open_kept(*disk_, directory_.get(), found.directory, made.temporary, mode,
                                resumed ? Kept::opened : Kept::made);
  } else {
    made = create_in(*disk_, directory_.get(), found.directory, name, mode, naming == Naming::temporary);
  }
  temporary_ = std::move(made.temporary);
  if (resumed) {
    keeps_ = true;
    file_ =
        File::opened_for_writing(std::move(made.descriptor), destination_.string(), bytes, access, *disk_);
    return;
  }
  try {
    file_ = File::adopt_new(std::move(made.descriptor), found.directory, destination_.string(), bytes, access,
                            *disk_);
  } catch (...) {
    if (!temporary_.empty()) disk_->remove(directory_.get(), temporary_.c_str());
    throw;
  }
}

Output::~Output() {
  if (!temporary_.empty() && !keeps_) disk_->remove(directory_.get(), temporary_.c_str());
}

fs::path Output::temporary_path() const {
  return temporary_.empty() ? fs::path() : destination_.parent_path() / temporary_;
}

fs::path followed_links(const fs::path& destination) { return follow_links(destination); }
fs::path directory_of_output(const fs::path& destination) { return parent(follow_links(destination)); }

std::vector<fs::path> left_over(const fs::path& destination) {
  const fs::path path = follow_links(destination);
  const fs::path directory = parent(path);
  std::vector<fs::path> found;
  std::error_code unreadable;
  int names = 10'000;
  for (fs::directory_iterator entry(directory, unreadable);
       !unreadable && entry != fs::directory_iterator() && names-- > 0; entry.increment(unreadable)) {
    const fs::path name = entry->path().filename();
    if (is_temporary_name(name.string(), path.filename().string()))
      found.push_back(path.parent_path() / name);
  }
  return found;
}

void Output::fail(const char* operation, int code) const {
  throw IoError(destination_.string(), operation, code);
}

void Output::commit() {
  file_->sync();
  const std::string name = destination_.filename().string();
  for (;;) {
    struct stat old;
    if (overwrite_ && fstatat(directory_.get(), name.c_str(), &old, AT_SYMLINK_NOFOLLOW) == 0) {
      const int replaced = disk_->open(directory_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
      if (replaced >= 0) take_over(file_->plain_descriptor(), Descriptor(replaced).get());
      // The new mode should be on the disk before the name is.
      file_->sync();
      replace_old();
      break;
    }
    const int code = give_name(*disk_, directory_.get(), file_->plain_descriptor(), temporary_, name);
    is_new_ = code == 0;
    if (is_new_) break;
    // Another run may have put its output there since we checked.
    if (code != EEXIST) fail("give it its name", code);
    if (!overwrite_)
      fail("someone else created it during the run; the result of this run is discarded", code);
  }
  has_name_ = true;
  sync_directory(*disk_, directory_.get(), destination_);
}

void Output::withdraw() {
  if (!is_new_) return;
  const FileStamp mine = file_->stamp();
  remove_name(*disk_, directory_.get(), destination_.filename().string(), mine.device, mine.inode);
}

void Output::replace_old() {
  const int directory = directory_.get();
  // rename() replaces atomically, but needs a name to start from.
  while (temporary_.empty()) {
    std::string temporary = temporary_name(directory, destination_.filename().string());
    const int code = link_nameless(*disk_, directory, file_->plain_descriptor(), temporary);
    if (code == 0) temporary_ = std::move(temporary);
    // A killed process with our pid may have left a file of this name.
    if (code != 0 && code != EEXIST) fail("give it a name", code);
  }
  if (const int code = disk_->rename(directory, temporary_.c_str(), destination_.filename().c_str(), 0)) {
    fail("replace", code);  // the destructor removes the temporary name
  }
  temporary_.clear();
}

}  // namespace xorder::io
