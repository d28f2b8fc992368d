// Writes that copy to mapped windows of the file. Reads are system calls: a mapping of the input can end the
// process by SIGBUS whenever somebody truncates the file, and a library must not handle signals.
//
// A window is mapped for one transfer and unmapped after it, which bounds the page tables. One region for the
// whole file would need page tables of 1/512 of its size, and did not take less system time.
#include <algorithm>
#include <boost/interprocess/exceptions.hpp>
#include <boost/interprocess/mapped_region.hpp>
#include <cerrno>
#include <cstring>

#include "io/disk.hpp"
#include "io/file.hpp"
#include "io/page_cache/page_cache.hpp"
#include "io/page_cache/pages.hpp"
#include "io/queue/queues.hpp"

namespace xorder::io {
namespace {

namespace ipc = boost::interprocess;

void copy(const Transfer& transfer, std::byte* window, std::size_t bytes) {
  for (const Piece* piece = transfer.pieces.data(); bytes > 0; ++piece) {
    const std::size_t part = std::min(piece->bytes, bytes);
    std::memcpy(window, piece->data, part);
    window += part;
    bytes -= part;
  }
}

}  // namespace

Completion perform_by_mapping(const Transfer& transfer) {
  const File& file = *transfer.file;
  // Other files may not be mappable at all.
  if (file.access() != Access::mapped || transfer.kind == Transfer::Kind::read)
    return perform_by_system_calls(transfer);
  const auto completion = [&](int error, std::uint64_t offset) {
    return Completion{transfer.token, error, offset};
  };

  // Nothing beyond the end of the file can be touched.
  const std::size_t bytes = transfer.bytes();
  if (const std::uint64_t there = file.size() - std::min(file.size(), transfer.offset); bytes > there)
    return completion(EIO, transfer.offset + there);
  if (bytes == 0) return completion(0, 0);

  try {
    const ipc::mapped_region region = file.disk().map(file.descriptor(), true, transfer.offset, bytes);
    auto* const window = static_cast<std::byte*>(region.get_address());
    if (const int error = make_new(file, window, transfer.offset, bytes))
      return completion(error, transfer.offset);
    copy(transfer, window, bytes);
  } catch (const ipc::interprocess_exception& exception) {
    const int error = exception.get_native_error();
    return completion(error ? error : EIO, transfer.offset);
  }
  // The region must be gone by now: mapped pages cannot be dropped.
  const Failure failure = file.page_cache().after_write(file.descriptor(), transfer.offset, bytes);
  return completion(failure.error, failure.error ? failure.offset : 0);
}

}  // namespace xorder::io
