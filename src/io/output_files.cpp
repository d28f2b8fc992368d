#include "io/output_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>
#include <utility>

#include "io/create.hpp"
#include "io/disk.hpp"
#include "io/give_name.hpp"
#include "io/page_cache/page_cache.hpp"
#include "text/count_text.hpp"
#include "text/reason.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

namespace fs = std::filesystem;
using std::uint64_t;

// Each file takes two descriptors. Half of what is left is for others.
std::size_t most_open_files() {
  constexpr uint64_t least = 2, most = 4096;
  rlimit limit;
  std::error_code unknown;
  const auto used = std::distance(fs::directory_iterator("/proc/self/fd", unknown), fs::directory_iterator());
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return least;
  const uint64_t left = limit.rlim_cur - std::min<uint64_t>(limit.rlim_cur, static_cast<uint64_t>(used));
  return std::clamp(left / 4, least, most);
}

}  // namespace

NumberedName::NumberedName(const fs::path& pattern)
    : directory_(pattern.parent_path()), pattern_(pattern.filename().string()) {
  const auto refuse = [&] {
    throw InputError(fmt::format(
        "{}: names several files, so it must have one %d or %0Nd in the name of the file, as in out.%04d.npy",
        pattern.string()));
  };
  bool found = false;
  for (std::size_t i = 0; i < pattern_.size(); ++i) {
    std::string& part = found ? after_ : before_;
    if (pattern_[i] != '%') {
      part += pattern_[i];
      continue;
    }
    if (pattern_.compare(i, 2, "%%") == 0) {
      part += '%';
      ++i;
      continue;
    }
    const std::size_t end = std::min(pattern_.find_first_not_of("0123456789", i + 1), pattern_.size());
    const std::string digits = pattern_.substr(i + 1, end - i - 1);
    const bool padded = digits.size() >= 2 && digits.size() <= 4 && digits[0] == '0';
    if (found || end == pattern_.size() || pattern_[end] != 'd' || (!digits.empty() && !padded)) refuse();
    if (padded) digits_ = std::stoul(digits);
    found = true;
    i = end;
  }
  if (!found) refuse();
}

std::string NumberedName::name(uint64_t number) const {
  return fmt::format("{}{:0{}}{}", before_, number, digits_, after_);
}

struct OutputFiles::Part {
  std::string temporary;  // name in the directory; empty if it has none
  uint64_t device = 0, inode = 0;
  uint64_t number = 0;  // File::number()
  std::unique_ptr<File> file;
  unsigned uses = 0;
};

void OutputFiles::check(const fs::path& pattern, uint64_t count, uint64_t bytes, Disk& disk) {
  const NumberedName names(pattern);
  const Descriptor directory = open_directory(disk, names.directory(), names.pattern());
  std::optional<uint64_t> first, last;
  uint64_t there = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const std::string name = names.name(i);
    struct stat status;
    if (fstatat(directory.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0) {
      if (!first) first = i;
      last = i;
      ++there;
    } else if (errno == ENAMETOOLONG) {
      throw InputError(
          fmt::format("{}: the name has {} bytes, the file system allows {}", names.path(i).string(),
                      name.size(), fpathconf(directory.get(), _PC_NAME_MAX)),
          ENAMETOOLONG);
    } else if (errno != ENOENT) {
      throw InputError(fmt::format("{}: {}", names.path(i).string(), reason(errno)), errno);
    }
  }
  if (first) {
    const std::string others =
        there == 1
            ? "exists"
            : fmt::format("and {} up to {} exist", count_text(there - 1, "more file"), names.name(*last));
    throw InputError(
        fmt::format("{} {}, of the {} that are to be made; several files are only made anew: remove "
                    "them (a killed run may have left them), or name others",
                    names.path(*first).string(), others, count));
  }
  require_room(directory.get(), names.directory(), names.pattern(), bytes);
  require_free(directory.get(), names.directory(), names.pattern(), count * bytes);
}

OutputFiles::OutputFiles(const fs::path& pattern, uint64_t count, uint64_t bytes, Access access, Disk& disk,
                         std::function<void(File&)> adapt)
    : names_(pattern),
      bytes_(bytes),
      access_(access),
      disk_(&disk),
      adapt_(std::move(adapt)),
      directory_(open_directory(disk, names_.directory(), names_.pattern())),
      parts_(count),
      most_open_(most_open_files()) {}

// The destructor removes what was made if this throws.
OutputFiles::OutputFiles(const fs::path& pattern, uint64_t count, uint64_t bytes, const std::string& header,
                         Access access, Disk& disk, mode_t permissions, std::function<void(File&)> adapt)
    : OutputFiles(pattern, count, bytes, access, disk, std::move(adapt)) {
  check(pattern, count, bytes, disk);
  for (uint64_t i = 0; i < count; ++i) make(parts_[i], i, header, permissions);
}

OutputFiles::~OutputFiles() {
  for (const Part& part : parts_)
    if (!part.temporary.empty()) disk_->remove(directory_.get(), part.temporary.c_str());
}

void OutputFiles::make(Part& part, uint64_t number, const std::string& header, mode_t permissions) {
  make_room();  // only the first is in use
  NewFile made = create_in(*disk_, directory_.get(), names_.directory(), names_.pattern(), permissions,
                           parts_.size() > most_open_);
  part.temporary = std::move(made.temporary);
  File file = File::adopt_new(std::move(made.descriptor), names_.directory(), names_.path(number).string(),
                              bytes_, access_, *disk_);
  const FileStamp stamp = file.stamp();
  part.device = stamp.device;
  part.inode = stamp.inode;
  part.number = file.number();
  opened(part, number, std::move(file));
  if (number == 0) part.uses = 1;
  part.file->write_exactly(header.data(), header.size(), 0);
}

void OutputFiles::opened(Part& part, uint64_t number, File file) {
  file.number_ = part.number;
  part.file = std::make_unique<File>(std::move(file));
  open_.push_back(number);
  adapt_(*part.file);
}

File& OutputFiles::first() const { return *parts_.front().file; }

const File* OutputFiles::use(uint64_t number) {
  Part& part = parts_[number];
  if (!part.file) {
    if (!make_room()) return nullptr;
    const std::string name = names_.path(number).string();
    const int fd = disk_->open(directory_.get(), part.temporary.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) throw IoError(name, "open its temporary file again", -fd);
    opened(part, number, File::opened_for_writing(Descriptor(fd), name, bytes_, access_, *disk_));
  }
  ++part.uses;
  return part.file.get();
}

void OutputFiles::release(uint64_t number) { --parts_[number].uses; }

bool OutputFiles::make_room() {
  if (open_.size() < most_open_) return true;
  for (std::size_t tried = 0; tried < open_.size(); ++tried) {
    next_ = (next_ + 1) % open_.size();
    Part& part = parts_[open_[next_]];
    if (part.uses > 0) continue;
    const File& file = *part.file;
    // The kernel may forget that it could not write something back when nobody has the file open.
    if (const int code = disk_->write_back(file.plain_descriptor(), 0, 0, write_back_and_wait))
      throw IoError(file.name(), "write", code);
    file.page_cache().drop_all(file.descriptor());
    part.file.reset();
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(next_));
    return true;
  }
  return false;
}

void OutputFiles::commit() {
  for (uint64_t i = 0; i < parts_.size(); ++i) {
    use(i)->sync();
    release(i);
  }
  uint64_t named = 0;
  try {
    for (; named < parts_.size(); ++named) {
      Part& part = parts_[named];
      const std::string name = names_.path(named).string();
      const int descriptor = part.file ? part.file->plain_descriptor() : -1;
      const int code = give_name(*disk_, directory_.get(), descriptor, part.temporary, names_.name(named));
      if (code == EEXIST)
        throw IoError(name, "someone else created it during the run; the result of this run is discarded");
      if (code != 0) throw IoError(name, "give it its name", code);
    }
  } catch (...) {
    while (named-- > 0)
      remove_name(*disk_, directory_.get(), names_.name(named), parts_[named].device, parts_[named].inode);
    throw;
  }
  sync_directory(*disk_, directory_.get(), names_.path(0));
}

}  // namespace xorder::io
