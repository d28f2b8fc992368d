#include "io/disk_filter.hpp"

#include <boost/interprocess/exceptions.hpp>
#include <utility>
#include <vector>

namespace xorder::io {
namespace {

// The queue behind sees other tokens: 2 × slot for a transfer, 2 × token + 1 for a post. (The mark is the
// lowest bit, not the highest, because filters can stand behind filters.)
class FilteredQueue final : public Queue {
 public:
  FilteredQueue(DiskFilter& filter, std::unique_ptr<Queue> behind)
      : filter_(filter), behind_(std::move(behind)) {}

  unsigned depth() const override { return behind_->depth(); }

  void submit(const Transfer& transfer) override {
    const auto begun = DiskFilter::Clock::now();
    if (const int error = filter_.before(transfer)) {
      refused_.push_back({transfer.token, error, transfer.offset});
      filter_.after(transfer, refused_.back(), begun);
      return;
    }
    if (free_.empty()) {
      free_.push_back(slots_.size());
      slots_.emplace_back();
    }
    const std::size_t slot = free_.back();
    free_.pop_back();
    slots_[slot] = {transfer, begun};
    Transfer passed = transfer;
    passed.token = slot << 1;
    behind_->submit(passed);
  }

  void post(std::uint64_t token) override { behind_->post(token << 1 | 1); }

  void wait(std::vector<Completion>& done) override {
    if (!refused_.empty()) {
      done.insert(done.end(), refused_.begin(), refused_.end());
      refused_.clear();
      return;
    }
    const std::size_t before = done.size();
    behind_->wait(done);
    for (std::size_t i = before; i < done.size(); ++i) {
      Completion& completion = done[i];
      const bool posted = (completion.token & 1) != 0;
      completion.token >>= 1;
      if (posted) continue;
      const auto slot = static_cast<std::size_t>(completion.token);
      completion.token = slots_[slot].transfer.token;
      filter_.after(slots_[slot].transfer, completion, slots_[slot].begun);
      free_.push_back(slot);
    }
  }

 private:
  struct Slot {
    Transfer transfer;
    DiskFilter::Clock::time_point begun;
  };
  DiskFilter& filter_;
  std::vector<Slot> slots_;
  std::vector<std::size_t> free_;
  std::vector<Completion> refused_;
  std::unique_ptr<Queue> behind_;  // last: destroyed before the slots of its transfers
};

}  // namespace

Completion DiskFilter::perform(const Transfer& transfer) {
  const auto begun = Clock::now();
  const int error = before(transfer);
  const Completion done =
      error != 0 ? Completion{transfer.token, error, transfer.offset} : behind_.perform(transfer);
  after(transfer, done, begun);
  return done;
}

std::unique_ptr<Queue> DiskFilter::queue(QueueKind kind, unsigned depth) {
  return std::make_unique<FilteredQueue>(*this, behind_.queue(kind, depth));
}

boost::interprocess::mapped_region DiskFilter::map(int fd, bool writable, std::uint64_t offset,
                                                   std::size_t bytes) {
  namespace ipc = boost::interprocess;
  if (const int error = before(Operation::map)) throw ipc::interprocess_exception(ipc::error_info(error));
  return behind_.map(fd, writable, offset, bytes);
}

int DiskFilter::prepare(const File& file, std::byte* window, std::uint64_t offset, std::size_t bytes) {
  const int error = before(Operation::prepare);
  return error != 0 ? error : behind_.prepare(file, window, offset, bytes);
}

int DiskFilter::open(int directory, const char* path, int flags, mode_t mode) {
  const int error = before(Operation::open);
  return error != 0 ? -error : behind_.open(directory, path, flags, mode);
}

int DiskFilter::reserve(int fd, std::uint64_t bytes) {
  const int error = before(Operation::reserve);
  return error != 0 ? error : behind_.reserve(fd, bytes);
}

int DiskFilter::truncate(int fd, std::uint64_t bytes) {
  const int error = before(Operation::truncate);
  return error != 0 ? error : behind_.truncate(fd, bytes);
}

int DiskFilter::sync(int fd) {
  const int error = before(Operation::sync);
  return error != 0 ? error : behind_.sync(fd);
}

int DiskFilter::link(int from_directory, const char* from, int to_directory, const char* to, int flags) {
  const int error = before(Operation::link);
  return error != 0 ? error : behind_.link(from_directory, from, to_directory, to, flags);
}

int DiskFilter::rename(int directory, const char* from, const char* to, unsigned flags) {
  const int error = before(Operation::rename);
  return error != 0 ? error : behind_.rename(directory, from, to, flags);
}

int DiskFilter::remove(int directory, const char* name) {
  const int error = before(Operation::remove);
  return error != 0 ? error : behind_.remove(directory, name);
}

void DiskFilter::advise(int fd, std::uint64_t offset, std::uint64_t bytes, int advice) {
  if (before(Operation::advise) == 0) behind_.advise(fd, offset, bytes, advice);
}

int DiskFilter::write_back(int fd, std::uint64_t offset, std::uint64_t bytes, unsigned flags) {
  const int error = before(Operation::write_back);
  return error != 0 ? error : behind_.write_back(fd, offset, bytes, flags);
}

}  // namespace xorder::io
