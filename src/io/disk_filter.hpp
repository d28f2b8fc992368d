// A disk in front of another one. It sees every transfer and every file operation, and can make them fail.
//
//   class Failing final : public DiskFilter {          // the N-th write fails
//     int before(const Transfer& t) override {
//       return t.kind == Transfer::Kind::write && ++writes_ == n_ ? EIO : 0;
//     }
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

  /// `behind` must outlive this.
  explicit DiskFilter(Disk& behind) : behind_(behind) {}

  Completion perform(const Transfer& transfer) final;
  std::unique_ptr<Queue> queue(QueueKind kind, unsigned depth) final;
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
  double rate_limit() const override { return behind_.rate_limit(); }

  // The functions below are called from any thread, possibly several at once.

  /// Returns 0, or the errno with which the transfer fails without being made.
  virtual int before(const Transfer&) { return 0; }
  /// The transfer has ended. It was handed to the queue or to perform() at `begun`. Also called for transfers
  /// that before() made fail.
  virtual void after(const Transfer&, const Completion&, [[maybe_unused]] Clock::time_point begun) {}
  /// Returns 0, or the errno with which the operation fails without being made.
  virtual int before(Operation) { return 0; }

 private:
  Disk& behind_;
};

}  // namespace xorder::io
