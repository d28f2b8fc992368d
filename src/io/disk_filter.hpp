// A disk in front of another one: sees every transfer and every file operation, and may let them fail.
//
//   class Failing final : public DiskFilter {          // the N-th write fails
//     int before(const Transfer& t) override { return t.kind == Transfer::Kind::write && ++writes_ == n_ ? EIO : 0; }
//     ..
//   };
#pragma once

#include <chrono>

#include "io/disk.hpp"

namespace xorder::io {

class DiskFilter : public Disk {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Operation {
    open,
    reserve,
    truncate,
    sync,
    link,
    rename,
    remove,
    advise,
    write_back,
    map,
    prepare
  };

  /// The other one stays as long as this.
  explicit DiskFilter(Disk& behind) : behind_(behind) {}

  Completion carry(const Transfer& transfer) final;
  std::unique_ptr<Queue> queue(Engine engine, unsigned depth) final;
  boost::interprocess::mapped_region map(int fd, bool writable, std::uint64_t offset,
                                         std::size_t bytes) final;
  int prepare(const File& file, std::byte* window, std::uint64_t offset, std::size_t bytes) final;
  int open(int directory, const char* path, int flags, mode_t mode = 0) final;
  int reserve(int fd, std::uint64_t bytes) final;
  int truncate(int fd, std::uint64_t bytes) final;
  int sync(int fd) final;
  int link(int from_directory, const char* from, int to_directory, const char* to, int flags) final;
  int rename(int directory, const char* from, const char* to, unsigned flags) final;
  int remove(int directory, const char* name) final;
  void advise(int fd, std::uint64_t offset, std::uint64_t bytes, int advice) final;
  int write_back(int fd, std::uint64_t offset, std::uint64_t bytes, unsigned flags) final;

  // Called by any thread, for several transfers at once.

  /// 0, or the errno with which the transfer fails without having been made.
  virtual int before(const Transfer&) { return 0; }
  /// It has ended; at `begun` it was handed over, to the queue or to be carried out. Called for those that
  /// before() lets fail, too.
  virtual void after(const Transfer&, const Completion&, [[maybe_unused]] Clock::time_point begun) {}
  /// 0, or the errno with which the operation fails without having been made.
  virtual int before(Operation) { return 0; }

 private:
  Disk& behind_;
};

}  // namespace xorder::io
