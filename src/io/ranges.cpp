#include "io/ranges.hpp"

#include <algorithm>
#include <cstring>

#include "io/disk.hpp"
#include "io/memory.hpp"
#include "plan/setting.hpp"
#include "rounding.hpp"
#include "xorder/error.hpp"

namespace xorder::io {
namespace {

using plan::largest_request;

void transfer_once(Transfer::Kind kind, const File& file, std::uint64_t offset, std::byte* data,
                   std::size_t bytes, bool in_place = false) {
  Transfer transfer{
      .kind = kind, .file = &file, .offset = offset, .required_bytes = bytes, .in_place = in_place};
  transfer.pieces[0] = {data, bytes};
  transfer.piece_count = 1;
  const Completion done = file.disk().perform(transfer);
  if (done.error != 0) throw file.failed(kind, done);
}

/// Transfers parts of blocks of a direct file.
void transfer_unaligned(Transfer::Kind kind, const File& file, std::uint64_t offset, std::byte* data,
                        std::size_t bytes) {
  if (kind == Transfer::Kind::read)
    file.read_exactly(data, bytes, offset);
  else
    file.write_exactly(data, bytes, offset);
}

/// Transfers whole blocks, at most one request. Uses a bounce buffer if the memory is not aligned.
void transfer_blocks(Transfer::Kind kind, const File& file, std::uint64_t offset, std::byte* data,
                     std::size_t bytes) {
  if (reinterpret_cast<std::uintptr_t>(data) % file.memory_alignment() == 0)
    return transfer_once(kind, file, offset, data, bytes);
  thread_local const BlockMemory bounce(largest_request);
  if (kind == Transfer::Kind::write) std::memcpy(bounce.data(), data, bytes);
  transfer_once(kind, file, offset, bounce.data(), bytes);
  if (kind == Transfer::Kind::read) std::memcpy(data, bounce.data(), bytes);
}

void transfer_range(Transfer::Kind kind, const File& file, std::uint64_t offset, std::byte* data,
                    std::size_t bytes) {
  const std::uint64_t block = kind == Transfer::Kind::read ? file.offset_alignment() : file.write_alignment();
  const std::uint64_t end = offset + bytes;
  const std::uint64_t begin_blocks = round_up(offset, block);
  const std::uint64_t end_blocks = end / block * block;
  if (begin_blocks >= end_blocks) return transfer_unaligned(kind, file, offset, data, bytes);
  transfer_unaligned(kind, file, offset, data, begin_blocks - offset);
  for (std::uint64_t at = begin_blocks; at < end_blocks;) {
    const std::size_t part = std::min<std::uint64_t>(largest_request, end_blocks - at);
    transfer_blocks(kind, file, at, data + (at - offset), part);
    at += part;
  }
  transfer_unaligned(kind, file, end_blocks, data + (end_blocks - offset), end - end_blocks);
}

}  // namespace

void read_range(const File& file, std::uint64_t offset, std::byte* to, std::size_t bytes) {
  transfer_range(Transfer::Kind::read, file, offset, to, bytes);
}

void write_range(const File& file, std::uint64_t offset, const std::byte* from, std::size_t bytes) {
  transfer_range(Transfer::Kind::write, file, offset, const_cast<std::byte*>(from), bytes);
}

void read_in_place(const File& file, std::uint64_t offset, std::byte* window, std::size_t bytes) {
  transfer_once(Transfer::Kind::read, file, offset, window, bytes, true);
}

void prepare_in_place(const File& file, std::uint64_t offset, std::byte* window, std::size_t bytes) {
  if (const int error = file.disk().prepare(file, window, offset, bytes)) {
    throw IoError(file.name(), "write", error, offset);
  }
}

void write_in_place(const File& file, std::uint64_t offset, std::byte* window, std::size_t bytes) {
  transfer_once(Transfer::Kind::write, file, offset, window, bytes, true);
}

}  // namespace xorder::io
