// A transfer of one contiguous piece of a file, and how it ended.
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

/// From or to up to three pieces of memory.
struct Transfer {
  enum class Kind { read, write };
  Kind kind = Kind::read;
  const File* file = nullptr;
  std::uint64_t offset = 0;
  std::array<Piece, 3> pieces{};
  int piece_count = 0;
  /// A read may end early at the end of the file, and only there, once it has this many bytes (what the
  /// memory behind them holds is then undefined); ignored for writes.
  std::size_t required_bytes = 0;
  /// Goes through the page cache whatever the file's access, and at any offset: headers, and what is not a
  /// whole block of a direct file. Only Disk::carry() does these, no queue.
  bool unaligned = false;
  /// The one piece is where these bytes of a mapped file are mapped (Disk::map). A read brings the pages in;
  /// a write takes them out of the mapping and starts their way to the disk, as File::page_cache() says. Only
  /// Disk::carry() does these.
  bool in_place = false;
  /// Given back with the completion. Below 2^56, so that filters have room for marks of theirs.
  std::uint64_t token = 0;

  std::size_t bytes() const;
};

struct Completion {
  std::uint64_t token = 0;
  /// 0, or the errno of a transfer that failed (EIO for an end of file before required_bytes).
  int error = 0;
  /// Where the failed transfer stood.
  std::uint64_t offset = 0;
};

}  // namespace xorder::io
