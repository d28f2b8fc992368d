// Power loss: a disk that forgets what was not synced, and one in front of it that ends.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "io/create.hpp"
#include "io/disk_filter.hpp"
#include "io/file.hpp"
#include "io/scratch.hpp"

namespace xorder::test {

/// These tests do not need a real disk.
inline fs::path memory() { return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : fs::temp_directory_path(); }

/// Its files forget what was not synced, in part, when it is cut off from power; directories that were not forget the last
/// names that were made, changed and removed.
class UnsyncedWrites final : public io::Disk {
 public:
  int sync(int fd) override {
    const int code = Disk::sync(fd);
    struct stat status;
    fstat(fd, &status);
    const std::lock_guard lock(mutex_);
    std::erase_if(writes_, [&](const Write& write) { return write.inode == status.st_ino; });
    if (S_ISDIR(status.st_mode)) names_.clear();
    return code;
  }

  int open(int directory, const char* path, int flags, mode_t mode = 0) override {
    const bool makes = (flags & O_CREAT) != 0 && faccessat(directory, path, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
    const int fd = Disk::open(directory, path, flags, mode);
    if (makes && fd >= 0)
      to_undo(directory, [name = std::string(path)](int there) { unlinkat(there, name.c_str(), 0); });
    return fd;
  }

  int link(int from_directory, const char* from, int to_directory, const char* to, int flags) override {
    const int code = Disk::link(from_directory, from, to_directory, to, flags);
    if (code == 0)
      to_undo(to_directory, [name = std::string(to)](int there) { unlinkat(there, name.c_str(), 0); });
    return code;
  }

  int rename(int directory, const char* from, const char* to, unsigned flags) override {
    const auto old = aside(directory, to);
    const int code = Disk::rename(directory, from, to, flags);
    if (code == 0)
      to_undo(directory, [from = std::string(from), to = std::string(to), old](int there) {
        renameat(there, to.c_str(), there, from.c_str());
        if (!old.empty()) linkat(AT_FDCWD, old.c_str(), there, to.c_str(), 0);
      });
    return code;
  }

  int remove(int directory, const char* name) override {
    const auto old = aside(directory, name);
    const int code = Disk::remove(directory, name);
    if (code == 0 && !old.empty())
      to_undo(directory, [name = std::string(name), old](int there) {
        linkat(AT_FDCWD, old.c_str(), there, name.c_str(), 0);
      });
    return code;
  }

  void remember(const io::Transfer& transfer) {
    const int fd = transfer.file->plain_descriptor();
    struct stat status;
    fstat(fd, &status);
    Write write{status.st_ino, std::make_shared<io::Descriptor>(dup(fd)), transfer.offset, {}};
    write.before.resize(transfer.bytes());
    const auto got = pread(fd, write.before.data(), write.before.size(), static_cast<off_t>(write.offset));
    write.before.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    const std::lock_guard lock(mutex_);
    writes_.push_back(std::move(write));
  }

  /// Of all sectors, each keeps what was last written to it, or nothing of what was not synced. Of the names, the last
  /// ones are as they were before.
  void forget(std::uint64_t seed) {
    constexpr std::uint64_t sector = 512;
    for (auto write = writes_.rbegin(); write != writes_.rend(); ++write) {
      for (std::uint64_t at = 0; at < write->before.size();) {
        const std::uint64_t place = write->offset + at, number = place / sector;
        const std::uint64_t bytes = std::min((number + 1) * sector - place, write->before.size() - at);
        if ((((number * 0x9E3779B97F4A7C15) ^ seed) * 0xBF58476D1CE4E5B9) >> 63 != 0) {
          EXPECT_EQ(pwrite(write->file->get(), write->before.data() + at, bytes, static_cast<off_t>(place)),
                    static_cast<ssize_t>(bytes));
        }
        at += bytes;
      }
    }
    writes_.clear();
    for (std::size_t lost = seed % (names_.size() + 1); lost > 0; --lost) {
      names_.back()();
      names_.pop_back();
    }
    names_.clear();
  }

 private:
  struct Write {
    ino_t inode;
    std::shared_ptr<io::Descriptor> file;
    std::uint64_t offset;
    std::string before;
  };

  void to_undo(int directory, std::function<void(int)> undo) {
    const std::lock_guard lock(mutex_);
    const auto there =
        std::make_shared<io::Descriptor>(directory == AT_FDCWD ? ::open("/", O_PATH) : dup(directory));
    names_.emplace_back([there, undo = std::move(undo)] { undo(there->get()); });
  }
  // Another name of the file, elsewhere; empty if there is none.
  std::string aside(int directory, const char* name) {
    const std::string other = aside_ / std::to_string(number_++);
    return linkat(directory, name, AT_FDCWD, other.c_str(), 0) == 0 ? other : "";
  }

  std::mutex mutex_;
  std::vector<Write> writes_;
  std::vector<std::function<void()>> names_;
  ScratchDirectory aside_{memory()};
  std::atomic<int> number_ = 0;
};

/// Nothing more happens from some transfer or operation on.
class CutOff final : public io::DiskFilter {
 public:
  CutOff(UnsyncedWrites& behind, long after) : DiskFilter(behind), writes_(behind), left_(after) {}
  int before(const io::Transfer& transfer) override {
    if (transfer.kind == io::Transfer::Kind::read) return left_ < 0 ? EIO : 0;
    if (--left_ < 0) return EIO;
    writes_.remember(transfer);
    return 0;
  }
  int before(Operation operation) override {
    if (operation == Operation::advise) return 0;
    if (operation == Operation::sync) {
      const std::lock_guard lock(mutex_);
      syncs_.push_back(left_);
    }
    return operation == Operation::open ? (left_ < 0 ? EIO : 0) : --left_ < 0 ? EIO : 0;
  }
  long left() const { return left_; }
  /// What was left before each sync; read it when the run has ended.
  const std::vector<long>& syncs() const { return syncs_; }

 private:
  UnsyncedWrites& writes_;
  std::atomic<long> left_;
  std::mutex mutex_;
  std::vector<long> syncs_;
};
}  // namespace xorder::test
