// Blocking transfers of whole ranges of a file, made by the calling thread: how a virtual processor reads and
// writes its block. (Tiles use a Queue instead, which has many small transfers in flight for one thread.)
#pragma once

#include <cstddef>
#include <cstdint>

#include "io/file.hpp"

namespace xorder::io {

/// Reads or writes exactly `bytes` at `offset`, in requests of at most 1 MiB. The file's access decides how:
/// O_DIRECT (through a bounce buffer where the memory is not aligned), system calls that drop their pages, or
/// mapped windows. Any offset and length will do; parts of blocks go through the page cache. Several threads
/// may call these at once, but two must not write the same bytes. Throw IoError.
void read_range(const File& file, std::uint64_t offset, std::byte* to, std::size_t bytes);
void write_range(const File& file, std::uint64_t offset, const std::byte* from, std::size_t bytes);

// The next three need a file of Access::mapped, whose bytes at `offset` are mapped at `window`. Throw
// IoError.

/// Brings the bytes in.
void read_in_place(const File& file, std::uint64_t offset, std::byte* window, std::size_t bytes);
/// Makes pages for bytes that will all be written.
void prepare_in_place(const File& file, std::uint64_t offset, std::byte* window, std::size_t bytes);
/// Starts write-back. The window must not be touched after it.
void write_in_place(const File& file, std::uint64_t offset, std::byte* window, std::size_t bytes);

}  // namespace xorder::io
