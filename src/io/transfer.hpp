// A transfer of one contiguous range of a file, and its result.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace xorder::io {

class File;

struct Piece {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

/// Moves a contiguous range of a file from or to up to three pieces of memory.
struct Transfer {
  enum class Kind { read, write };
  Kind kind = Kind::read;
  const File* file = nullptr;
  std::uint64_t offset = 0;
  std::array<Piece, 3> pieces{};
  int piece_count = 0;
  /// A read may end early, but only at the end of the file and only with at least this many bytes. The rest
  /// of the memory is then undefined. Ignored for writes.
  std::size_t required_bytes = 0;
  /// Goes through the page cache whatever the file's access, at any offset. For headers, and for parts of
  /// blocks of a direct file. Only Disk::perform() accepts these, not the queues.
  bool unaligned = false;
  /// The only piece is the place where these bytes of a mapped file are mapped (Disk::map). A read brings the
  /// pages in. A write unmaps them and starts write-back: see PageCache::after_write(). Only Disk::perform()
  /// accepts these.
  bool in_place = false;
  /// Returned with the completion. Must be below 2^56, so that filters have room for marks of their own.
  std::uint64_t token = 0;

  std::size_t bytes() const;
};

struct Completion {
  std::uint64_t token = 0;
  /// 0, or the errno of a failed transfer. EIO means that the file ended before required_bytes.
  int error = 0;
  /// Where in the file the transfer failed.
  std::uint64_t offset = 0;
};

}  // namespace xorder::io
