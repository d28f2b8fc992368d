// Whole ranges of a file at once, by the thread that asks: what a virtual processor does with its block.
// (Tiles go through a Queue instead, which has many small transfers under way for one thread.)
#pragma once

#include <cstddef>
#include <cstdint>

#include "io/file.hpp"

namespace xorder::io {

/// Reads exactly `bytes` at `offset`, or writes them, in requests of at most a MiB, by the file's own access:
/// O_DIRECT (through a bounce buffer where the memory is not aligned), system calls that keep their pages
/// few, or mapped windows. Any offset and length: what is not a whole block goes through the page cache. May
/// be called by several threads at once; two that write must not write the same bytes. Throw IoError.
void read_range(const File& file, std::uint64_t offset, std::byte* to, std::size_t bytes);
void write_range(const File& file, std::uint64_t offset, const std::byte* from, std::size_t bytes);

// Of a file of Access::mapped, one request at `window`, where the bytes at `offset` are mapped. Throw
// IoError.

/// Brings them in.
void read_in_place(const File& file, std::uint64_t offset, std::byte* window, std::size_t bytes);
/// Pages for bytes that will all be written.
void prepare_in_place(const File& file, std::uint64_t offset, std::byte* window, std::size_t bytes);
/// Sends them on their way to the disk. The window must not be touched any more.
void write_in_place(const File& file, std::uint64_t offset, std::byte* window, std::size_t bytes);

}  // namespace xorder::io
