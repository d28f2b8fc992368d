#include "io/queue/partial_transfer.hpp"

#include <cerrno>

#include "io/file.hpp"
#include "io/page_cache/page_cache.hpp"
#include "io/queue/queues.hpp"

namespace xorder::io {

PartialTransfer::PartialTransfer(const Transfer& transfer) : transfer_(transfer), total_(transfer.bytes()) {
  for (int i = 0; i < transfer.piece_count; ++i) {
    const Piece& piece = transfer.pieces[static_cast<std::size_t>(i)];
    if (piece.bytes > 0) vectors_[count_++] = {piece.data, piece.bytes};
  }
}

bool PartialTransfer::advance(std::int64_t result) {
  if (result < 0 && patience_.with(static_cast<int>(-result))) return false;
  if (result < 0) return finish(static_cast<int>(-result));
  patience_.renew();
  const bool is_read = transfer_.kind == Transfer::Kind::read;
  if (result == 0 && total_ > passed_) {  // the end of the file, or a write that makes no progress
    return finish(is_read && passed_ >= transfer_.required_bytes ? 0 : EIO);
  }
  auto bytes = static_cast<std::size_t>(result);
  passed_ += bytes;
  if (passed_ == total_) return true;
  while (bytes >= vectors_[first_].iov_len) bytes -= vectors_[first_++].iov_len;
  iovec& next = vectors_[first_];
  next = {static_cast<std::byte*>(next.iov_base) + bytes, next.iov_len - bytes};
  // A direct transfer stops at an unaligned place only at the end of the file. It cannot go on from there.
  if (!transfer_.unaligned && passed_ % transfer_.file->offset_alignment() != 0) {
    return finish(is_read && passed_ >= transfer_.required_bytes ? 0 : EIO);
  }
  return false;
}

bool PartialTransfer::finish(int error) {
  error_ = error;
  return true;
}

Completion after_transfer(const PartialTransfer& partial) {
  const Transfer& transfer = partial.transfer();
  const File& file = *transfer.file;
  Failure failure{partial.error(), partial.offset()};
  if (failure.error == 0 && transfer.unaligned) {
    // Writes are passed on with the data descriptor, though the plain one made them. The kernel reports a
    // write-back error once to each open file, and sync() needs the plain one's report.
    if (transfer.kind == Transfer::Kind::read) {
      file.page_cache().after_read(file.plain_descriptor(), transfer.offset, partial.passed());
    } else {
      failure = file.page_cache().after_partial_write(file.descriptor(), transfer.offset, partial.passed());
    }
  } else if (failure.error == 0 && file.access() != Access::direct) {
    if (transfer.kind == Transfer::Kind::read) {
      file.page_cache().after_read(file.descriptor(), transfer.offset, partial.passed());
    } else {
      failure = file.page_cache().after_write(file.descriptor(), transfer.offset, partial.passed());
    }
  }
  return {transfer.token, failure.error, failure.error ? failure.offset : 0};
}

Completion perform_rest(PartialTransfer& partial) {
  const Transfer& transfer = partial.transfer();
  const File& file = *transfer.file;
  const bool is_read = transfer.kind == Transfer::Kind::read;
  const int fd = transfer.unaligned ? file.plain_descriptor() : file.descriptor();
  for (bool over = partial.complete(); !over;) {
    const int count = static_cast<int>(partial.vector_count());
    const auto offset = static_cast<off_t>(partial.offset());
    const ssize_t result = is_read ? preadv(fd, partial.vectors(), count, offset)
                                   : pwritev(fd, partial.vectors(), count, offset);
    over = partial.advance(result < 0 ? -errno : result);
  }
  return after_transfer(partial);
}

Completion perform_by_system_calls(const Transfer& transfer) {
  PartialTransfer partial(transfer);
  return perform_rest(partial);
}

}  // namespace xorder::io
