// Blocks at the joints of runs. A run that begins or ends inside a file system block shares that block with another
// run, often of another tile; a direct write must have the whole block. The carry keeps each such block until all
// its parts have come, so that it is written once, together with one of its runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "xorder/io/file.hpp"
#include "xorder/io/memory.hpp"

namespace xorder::run {

class Carry {
 public:
  /// For the blocks of `block_bytes` of `file`, of which [begin, end) is going to be written, at most `memory_bytes`
  /// of them at a time: what comes beyond is written in parts through the page cache.
  Carry(const io::File& file, std::uint64_t begin, std::uint64_t end, std::uint64_t block_bytes,
        std::uint64_t memory_bytes);

  /// Adds the part of one block that begins at `offset`. Returns the whole block if it has become complete (to be given
  /// back by release() when it has been written), else nothing. The last block of the file counts as complete when its
  /// bytes before the end are there. It and blocks beyond the memory are written here, and count as nothing. Throws
  /// IoError.
  std::byte* add(std::uint64_t offset, const std::byte* data, std::size_t bytes);
  void release(std::byte* block) { free_.push_back(block); }
  /// Gives up the memory without freeing it: for when transfers may still use it.
  void leak() { static_cast<void>(new std::vector<io::BlockMemory>(std::move(slabs_))); }
  /// Blocks that still wait.
  std::size_t waiting() const { return waiting_.size(); }

 private:
  struct Waiting {
    std::byte* data;
    std::uint64_t missing;
  };
  std::byte* allocate();

  const io::File& file_;
  std::uint64_t begin_, end_, block_bytes_;
  std::size_t most_blocks_;
  std::unordered_map<std::uint64_t, Waiting> waiting_;  // by offset
  std::unordered_set<std::uint64_t> spilled_;           // offsets of blocks whose parts are written one by one
  std::vector<std::byte*> free_;
  std::vector<io::BlockMemory> slabs_;
  std::size_t blocks_ = 0;
};

}  // namespace xorder::run
