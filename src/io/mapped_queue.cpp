// Transfers by copying from and to mapped windows of the file.
//
// A window is mapped for one transfer and unmapped after it, which bounds the page tables: those of one
// region for the whole file would stay, 1/512 of the file. Such a region cost the same system time when it
// was compared (each page of the output then still being faulted in by itself).
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include <algorithm>
#include <boost/interprocess/exceptions.hpp>
#include <boost/interprocess/mapped_region.hpp>
#include <cerrno>
#include <cstring>

#include "io/disk.hpp"
#include "io/engines.hpp"
#include "io/file.hpp"
#include "io/page_cache.hpp"
#include "io/pool_queue.hpp"
#include "io/progress.hpp"

namespace xorder::io {
namespace {

namespace ipc = boost::interprocess;

/// Has the kernel read the window in as few requests as it can. (Faults alone would read around each page.)
void read_ahead(Disk& disk, int fd, std::uint64_t offset, std::size_t bytes) {
  constexpr std::size_t most = std::size_t{512} << 10;  // a larger request may be cut short
  for (std::size_t at = 0; at < bytes; at += most) {
    disk.advise(fd, offset + at, std::min(most, bytes - at), POSIX_FADV_WILLNEED);
  }
}

/// Makes page cache for a window that is about to be written. Pages that lie wholly within it belong to this
/// transfer alone, so they are filled with zeros by system calls: this makes them in large units (measured:
/// more than twice as fast as a fault for each page), and a full disk, where nothing could be reserved, is an
/// error here and no SIGBUS. Returns 0 or an errno.
int fill_ahead(Disk& disk, int fd, std::uint64_t offset, std::size_t bytes) {
  alignas(64) static constexpr std::byte zeros[std::size_t{64} << 10] = {};
  const std::uint64_t begin = (offset + page_bytes - 1) / page_bytes * page_bytes;
  const std::uint64_t end = (offset + bytes) / page_bytes * page_bytes;
  if (begin >= end) {
    read_ahead(disk, fd, offset, bytes);
    return 0;
  }
  // What shares its page with others is brought in as it is.
  if (begin > offset) read_ahead(disk, fd, begin - page_bytes, page_bytes);
  if (end < offset + bytes) read_ahead(disk, fd, end, page_bytes);
  for (std::uint64_t at = begin; at < end;) {
    std::array<iovec, 16> parts;
    int count = 0;
    for (std::uint64_t left = end - at; left > 0 && count < 16; ++count) {
      const std::size_t part = std::min<std::uint64_t>(left, sizeof zeros);
      parts[static_cast<std::size_t>(count)] = {const_cast<std::byte*>(zeros), part};
      left -= part;
    }
    const ssize_t put = pwritev(fd, parts.data(), count, static_cast<off_t>(at));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return put < 0 ? errno : EIO;
    at += static_cast<std::uint64_t>(put);
  }
  return 0;
}

/// Makes the region's pages present, so that touching them cannot raise SIGBUS. Returns 0 or an errno.
int populate(const ipc::mapped_region& region, std::size_t lead, bool for_writing) {
  auto* const begin = static_cast<std::byte*>(region.get_address()) - lead;
  // Else a fault reads around the window, in folios of up to 2 MiB, which dropping a part of them does not
  // drop.
  madvise(begin, region.get_size() + lead, MADV_RANDOM);
  const int advice = for_writing ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
  while (madvise(begin, region.get_size() + lead, advice) != 0) {
    if (errno == EINTR || errno == EAGAIN) continue;
    if (errno == EINVAL) return 0;  // before 5.14; what remains of SIGBUS is the tool's to handle
    return errno == EFAULT ? EIO : errno;
  }
  return 0;
}

void copy(const Transfer& transfer, std::byte* window, std::size_t bytes) {
  for (const Piece* piece = transfer.pieces.data(); bytes > 0; ++piece) {
    const std::size_t part = std::min(piece->bytes, bytes);
    if (transfer.kind == Transfer::Kind::read)
      std::memcpy(piece->data, window, part);
    else
      std::memcpy(window, piece->data, part);
    window += part;
    bytes -= part;
  }
}

}  // namespace

Completion carry_by_mapping(const Transfer& transfer) {
  const File& file = *transfer.file;
  // What is no mapped file may not be possible to map at all.
  if (file.access() != Access::mapped) return carry_by_system_calls(transfer);
  const bool is_read = transfer.kind == Transfer::Kind::read;
  const auto failed = [&](int error, std::uint64_t offset) {
    return Completion{transfer.token, error, offset};
  };

  // Nothing beyond the end of the file can be touched.
  const std::uint64_t there = file.size() - std::min(file.size(), transfer.offset);
  const std::size_t bytes = std::min<std::uint64_t>(transfer.bytes(), there);
  if (bytes < (is_read ? std::min(transfer.required_bytes, transfer.bytes()) : transfer.bytes())) {
    return failed(EIO, transfer.offset + bytes);
  }
  if (bytes == 0) return failed(0, 0);

  try {
    Disk& disk = file.disk();
    const ipc::mapped_region region = disk.map(file.descriptor(), !is_read, transfer.offset, bytes);
    if (is_read) {
      read_ahead(disk, file.descriptor(), transfer.offset, bytes);
    } else if (const int error = fill_ahead(disk, file.descriptor(), transfer.offset, bytes)) {
      return failed(error, transfer.offset);
    }
    const std::size_t lead = transfer.offset % ipc::mapped_region::get_page_size();
    if (const int error = populate(region, lead, !is_read)) return failed(error, transfer.offset);
    copy(transfer, static_cast<std::byte*>(region.get_address()), bytes);
  } catch (const ipc::interprocess_exception& exception) {
    const int error = exception.get_native_error();
    return failed(error ? error : EIO, transfer.offset);
  }
  // The region is gone: pages that are mapped cannot be dropped.
  if (is_read) {
    file.page_cache().after_read(file.descriptor(), transfer.offset, bytes);
    return failed(0, 0);
  }
  const Failure failure = file.page_cache().after_write(file.descriptor(), transfer.offset, bytes);
  return failed(failure.error, failure.error ? failure.offset : 0);
}

std::unique_ptr<Queue> make_mapped_queue(unsigned depth) {
  return std::make_unique<PoolQueue>(depth, "mapped", &carry_by_mapping);
}

}  // namespace xorder::io
