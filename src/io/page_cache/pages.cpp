#include "io/page_cache/pages.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "io/create.hpp"
#include "io/disk.hpp"
#include "io/page_cache/page_cache.hpp"
#include "io/patience.hpp"
#include "rounding.hpp"

namespace xorder::io {
namespace {

/// The whole pages that a window touches.
struct Pages {
  Pages(std::byte* window, std::size_t size)
      : begin(window - reinterpret_cast<std::uintptr_t>(window) % page_bytes),
        bytes(static_cast<std::size_t>(window - begin) + size) {}
  std::byte* begin;
  std::size_t bytes;
};

/// Makes the kernel read the window in as few requests as possible. (Faults alone would read page by page.)
void read_ahead(const File& file, std::uint64_t offset, std::size_t bytes) {
  constexpr std::size_t most = std::size_t{512} << 10;  // a larger request may be cut short
  for (std::size_t at = 0; at < bytes; at += most) {
    file.disk().advise(file.descriptor(), offset + at, std::min(most, bytes - at), POSIX_FADV_WILLNEED);
  }
}

/// Makes page cache for a window that is about to be written. Pages that lie wholly within the window belong
/// to this transfer alone, so they are filled with zeros by system calls. This makes pages in large units,
/// which was measured to be more than twice as fast as a fault for each page. Where no space could be
/// reserved, a full disk becomes an error here instead of a SIGBUS. Returns 0 or an errno.
int fill_ahead(const File& file, std::uint64_t offset, std::size_t bytes) {
  alignas(64) static constexpr std::byte zeros[std::size_t{64} << 10] = {};
  const std::uint64_t begin = round_up(offset, page_bytes);
  const std::uint64_t end = (offset + bytes) / page_bytes * page_bytes;
  if (begin >= end) {
    read_ahead(file, offset, bytes);
    return 0;
  }
  // Pages that the window shares with other data are read.
  if (begin > offset) read_ahead(file, begin - page_bytes, page_bytes);
  if (end < offset + bytes) read_ahead(file, end, page_bytes);
  Patience patience;
  for (std::uint64_t at = begin; at < end;) {
    std::array<iovec, 16> parts;
    int count = 0;
    for (std::uint64_t left = end - at; left > 0 && count < 16; ++count) {
      const std::size_t part = std::min<std::uint64_t>(left, sizeof zeros);
      parts[static_cast<std::size_t>(count)] = {const_cast<std::byte*>(zeros), part};
      left -= part;
    }
    const ssize_t put = pwritev(file.descriptor(), parts.data(), count, static_cast<off_t>(at));
    if (put < 0 && patience.with(errno)) continue;
    if (put <= 0) return put < 0 ? errno : EIO;
    patience.renew();
    at += static_cast<std::uint64_t>(put);
  }
  return 0;
}

int populate(std::byte* window, std::size_t bytes, int advice) {
  const Pages pages(window, bytes);
  Patience patience;
  while (madvise(pages.begin, pages.bytes, advice) != 0) {
    if (patience.with(errno)) continue;
    if (errno == EINVAL) return 0;  // before Linux 5.14; the tool handles a SIGBUS then
    return errno == EFAULT ? EIO : errno;
  }
  return 0;
}

// Unmaps the pages of the window: mapped pages cannot be dropped.
int let_go(std::byte* window, std::size_t bytes) {
  const Pages pages(window, bytes);
  return madvise(pages.begin, pages.bytes, MADV_DONTNEED) == 0 ? 0 : errno;
}

}  // namespace

int bring_in(const File& file, std::byte* window, std::uint64_t offset, std::size_t bytes) {
  read_ahead(file, offset, bytes);
  return populate(window, bytes, MADV_POPULATE_READ);
}

int make_new(const File& file, std::byte* window, std::uint64_t offset, std::size_t bytes) {
  if (const int error = fill_ahead(file, offset, bytes)) return error;
  const int error = populate(window, bytes, MADV_POPULATE_WRITE);
  // btrfs reserves space for each page once more when it is mapped, and a fault does not say why it failed.
  return error == EIO && free_bytes(file.plain_descriptor()).value_or(bytes) < bytes ? ENOSPC : error;
}

Completion perform_in_place(const Transfer& transfer) {
  const File& file = *transfer.file;
  const Piece& window = transfer.pieces[0];
  Failure failure{.error = 0, .offset = transfer.offset};
  if (transfer.offset + window.bytes > file.size()) {
    failure.error = EIO;
  } else if (transfer.kind == Transfer::Kind::read) {
    failure.error = bring_in(file, window.data, transfer.offset, window.bytes);
  } else if (failure.error = let_go(window.data, window.bytes); failure.error == 0) {
    failure = file.page_cache().after_write(file.descriptor(), transfer.offset, window.bytes);
  }
  return {transfer.token, failure.error, failure.error ? failure.offset : 0};
}

}  // namespace xorder::io
