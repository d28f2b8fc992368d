#include <sys/uio.h>

#include <cerrno>

#include "io/engines.hpp"
#include "io/file.hpp"
#include "io/pool_queue.hpp"
#include "io/progress.hpp"

namespace xorder::io {

Completion carry_rest(Progress& progress) {
  const Transfer& transfer = progress.transfer();
  const File& file = *transfer.file;
  const bool is_read = transfer.kind == Transfer::Kind::read;
  const int fd = transfer.unaligned ? file.plain_descriptor() : file.descriptor();
  for (bool over = progress.complete(); !over;) {
    const int count = static_cast<int>(progress.vector_count());
    const auto offset = static_cast<off_t>(progress.offset());
    const ssize_t result = is_read ? preadv(fd, progress.vectors(), count, offset)
                                   : pwritev(fd, progress.vectors(), count, offset);
    over = progress.advance(result < 0 ? -errno : result);
  }
  return after_transfer(progress);
}

Completion carry_by_system_calls(const Transfer& transfer) {
  Progress progress(transfer);
  return carry_rest(progress);
}

std::unique_ptr<Queue> make_thread_queue(unsigned depth) {
  return std::make_unique<PoolQueue>(depth, "threads", &carry_by_system_calls);
}

}  // namespace xorder::io
