#include <liburing.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>

#include "io/descriptor.hpp"
#include "io/file.hpp"
#include "io/patience.hpp"
#include "io/queue/partial_transfer.hpp"
#include "io/queue/queues.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

/// Submitting costs a system call, which this many transfers share.
constexpr unsigned batch = 16;
constexpr std::uint64_t wake_up = ~std::uint64_t{0};  // user data of the poll for post()

/// A ring, or the error of making it.
class Ring {
 public:
  explicit Ring(unsigned entries) {
    // IORING_SETUP_COOP_TASKRUN gained nothing when measured. DEFER_TASKRUN saved a tenth of the system time,
    // but it ties the ring to one thread. Registered buffers gained at most 5 % (bench/file_bench.md).
    error_ = -io_uring_queue_init(entries, &ring_, 0);
    if (error_ == 0 && !has_what_we_need()) {
      io_uring_queue_exit(&ring_);
      error_ = ENOSYS;
    }
  }
  ~Ring() {
    if (error_ == 0) io_uring_queue_exit(&ring_);
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  int error() const { return error_; }
  io_uring* get() { return &ring_; }

 private:
  bool has_what_we_need() {
    io_uring_probe* probe = io_uring_get_probe_ring(&ring_);
    if (!probe) return false;
    const bool result = std::ranges::all_of(
        std::array{IORING_OP_READ, IORING_OP_WRITE, IORING_OP_READV, IORING_OP_WRITEV, IORING_OP_POLL_ADD},
        [probe](int operation) { return io_uring_opcode_supported(probe, operation) != 0; });
    io_uring_free_probe(probe);
    return result;
  }

  io_uring ring_;
  int error_;
};

class UringQueue final : public Queue {
 public:
  explicit UringQueue(unsigned depth);
  ~UringQueue() override;
  unsigned depth() const override { return depth_; }
  void submit(const Transfer& transfer) override;
  void post(std::uint64_t token) override;
  void wait(std::vector<Completion>& done) override;

 private:
  io_uring_sqe* next_entry();
  void prepare(std::size_t slot);
  void prepare_wake_up();
  /// Gives the prepared entries to the kernel and waits for at least `wait_for` completions. Returns 0 or an
  /// errno.
  int try_to_enter(unsigned wait_for);
  void enter(unsigned wait_for);  ///< the same; throws IoError
  /// Collects the completions that are there. Continues short transfers.
  void reap(std::vector<Completion>& done);
  bool take_posted(std::vector<Completion>& done, bool going_to_sleep);

  const unsigned depth_;
  Ring ring_;
  Descriptor event_;
  std::vector<PartialTransfer> slots_;
  std::vector<std::size_t> free_slots_;
  unsigned prepared_ = 0;   // entries not yet given to the kernel
  unsigned in_kernel_ = 0;  // entries that the kernel has and has not completed
  bool wake_up_armed_ = false;
  std::vector<Completion> immediate_;  // transfers of no bytes

  std::mutex mutex_;  // guards what follows
  std::vector<std::uint64_t> posted_;
  bool asleep_ = false;
};

UringQueue::UringQueue(unsigned depth)
    : depth_(depth), ring_(depth + 1), event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), slots_(depth) {
  if (ring_.error() != 0) throw IoError("io_uring", "set up", ring_.error());
  if (!event_) throw IoError("io_uring", "eventfd", errno);
  for (std::size_t i = depth; i-- > 0;) free_slots_.push_back(i);
  posted_.reserve(most_posts);
}

UringQueue::~UringQueue() {
  // Entries not yet given to the kernel are dropped. Those that it has use the caller's memory, so wait for
  // them.
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = write(event_.get(), &one, sizeof one);  // ends the poll
  for (Patience patience; in_kernel_ > 0;) {
    io_uring_cqe* entry = nullptr;
    const int result = io_uring_wait_cqe(ring_.get(), &entry);
    if (result == 0) {
      --in_kernel_;
      io_uring_cqe_seen(ring_.get(), entry);
      patience.renew();
    } else if (!patience.with(-result)) {
      break;
    }
  }
}

void UringQueue::submit(const Transfer& transfer) {
  if (transfer.bytes() == 0) {
    immediate_.push_back({transfer.token, 0, 0});
    return;
  }
  const std::size_t slot = free_slots_.back();
  free_slots_.pop_back();
  slots_[slot] = PartialTransfer(transfer);
  prepare(slot);
  // wait() tries again, and throws then. The caller counts this transfer as submitted, which it is.
  if (prepared_ >= batch) static_cast<void>(try_to_enter(0));
}

io_uring_sqe* UringQueue::next_entry() {
  io_uring_sqe* entry = io_uring_get_sqe(ring_.get());
  while (
      !entry) {  // cannot last: there are as many entries as transfers, and the kernel takes them in at once
    enter(0);
    entry = io_uring_get_sqe(ring_.get());
  }
  ++prepared_;
  return entry;
}

void UringQueue::prepare(std::size_t slot) {
  io_uring_sqe* entry = next_entry();
  const PartialTransfer& partial = slots_[slot];
  const int fd = partial.transfer().file->descriptor();
  const iovec* vectors = partial.vectors();
  // A transfer above the kernel's limit comes back short and is continued.
  const auto bytes = static_cast<unsigned>(std::min<std::size_t>(vectors->iov_len, 1u << 30));
  const bool single = partial.vector_count() == 1;
  if (partial.transfer().kind == Transfer::Kind::read) {
    if (single)
      io_uring_prep_read(entry, fd, vectors->iov_base, bytes, partial.offset());
    else
      io_uring_prep_readv(entry, fd, vectors, partial.vector_count(), partial.offset());
  } else {
    if (single)
      io_uring_prep_write(entry, fd, vectors->iov_base, bytes, partial.offset());
    else
      io_uring_prep_writev(entry, fd, vectors, partial.vector_count(), partial.offset());
  }
  entry->user_data = slot;
}

void UringQueue::prepare_wake_up() {
  // A poll, not a read, so that the kernel never holds memory of ours beyond the queue's life.
  io_uring_sqe* entry = next_entry();
  io_uring_prep_poll_add(entry, event_.get(), POLLIN);
  entry->user_data = wake_up;
  wake_up_armed_ = true;
}

void UringQueue::enter(unsigned wait_for) {
  if (const int error = try_to_enter(wait_for)) throw IoError("io_uring", "submit", error);
}

int UringQueue::try_to_enter(unsigned wait_for) {
  for (Patience patience;;) {
    const int result =
        wait_for ? io_uring_submit_and_wait(ring_.get(), wait_for) : io_uring_submit(ring_.get());
    if (result >= 0) {
      prepared_ -= static_cast<unsigned>(result);
      in_kernel_ += static_cast<unsigned>(result);
      if (wait_for || prepared_ == 0) return 0;
    } else if (const int error = result == -EBUSY ? EAGAIN : -result;
               error == EAGAIN && io_uring_cq_ready(ring_.get()) > 0) {
      return 0;  // the kernel lacks something that these completions free
    } else if (!patience.with(error)) {
      return -result;
    }
  }
}

bool UringQueue::take_posted(std::vector<Completion>& done, bool going_to_sleep) {
  const std::lock_guard lock(mutex_);
  for (const std::uint64_t token : posted_) done.push_back({token, 0, 0});
  const bool any = !posted_.empty();
  posted_.clear();
  asleep_ = going_to_sleep && !any;
  return any;
}

void UringQueue::post(std::uint64_t token) {
  const std::lock_guard lock(mutex_);
  posted_.push_back(token);
  // One wake-up is enough for any number of posts. None is needed while the owner is awake.
  if (!asleep_) return;
  asleep_ = false;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = write(event_.get(), &one, sizeof one);
}

void UringQueue::reap(std::vector<Completion>& done) {
  io_uring_cqe* entry = nullptr;
  while (io_uring_peek_cqe(ring_.get(), &entry) == 0) {
    const std::uint64_t user_data = entry->user_data;
    const int result = entry->res;
    io_uring_cqe_seen(ring_.get(), entry);
    --in_kernel_;
    if (user_data == wake_up) {
      std::uint64_t count = 0;
      [[maybe_unused]] const ssize_t ignored = read(event_.get(), &count, sizeof count);
      wake_up_armed_ = false;
      continue;
    }
    const auto slot = static_cast<std::size_t>(user_data);
    if (result == -ECANCELED) {
      // The kernel needed a thread for it, and the system allows no more.
      done.push_back(perform_rest(slots_[slot]));
    } else if (slots_[slot].advance(result)) {
      done.push_back(after_transfer(slots_[slot]));
    } else {
      prepare(slot);
      continue;
    }
    free_slots_.push_back(slot);
  }
}

void UringQueue::wait(std::vector<Completion>& done) {
  const std::size_t before = done.size();
  done.insert(done.end(), immediate_.begin(), immediate_.end());
  immediate_.clear();
  take_posted(done, false);
  reap(done);
  while (done.size() == before) {
    if (!wake_up_armed_) prepare_wake_up();
    if (take_posted(done, true)) break;
    enter(1);
    take_posted(done, false);
    reap(done);
  }
  if (prepared_ > 0) enter(0);
}

}  // namespace

std::unique_ptr<Queue> make_uring_queue(unsigned depth) { return std::make_unique<UringQueue>(depth); }

int uring_error() {
  if (const int error = Ring(1).error()) return error;
  // The ring of a run has two descriptors.
  const Descriptor first(eventfd(0, EFD_CLOEXEC)), second(eventfd(0, EFD_CLOEXEC));
  return first && second ? 0 : errno;
}

}  // namespace xorder::io
