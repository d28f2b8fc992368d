// Blocks at the joints of runs. A run that begins or ends inside a file system block shares that block with
// another run, often of another tile; a direct write must have the whole block. The carry keeps what has come
// of such a block until the rest comes, so that it is written once, together with one of its runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "io/file.hpp"
#include "io/memory.hpp"

namespace xorder::io {

/// A part of a block.
struct BlockPart {
  std::uint64_t from = 0;  ///< where it lies in the file
  std::vector<std::byte> data;
};

class Carry {
 public:
  /// For the blocks of `block_bytes` of `file`, of which [begin, end) is going to be written, at most
  /// `memory_bytes` of them at a time: what comes beyond is written in parts through the page cache.
  Carry(const File& file, std::uint64_t begin, std::uint64_t end, std::uint64_t block_bytes,
        std::uint64_t memory_bytes);

  /// The bytes from `from` to `to` of the file, inside one block, have come; they lie where they belong in
  /// `block`, the memory of the whole block. If all others have come before, completes `block` with them and
  /// returns true: the caller writes it. Otherwise keeps them and returns false. A block of which not all
  /// bytes are to be written (the last of the file), and those beyond the memory, are written here. Throws
  /// IoError.
  bool add(std::uint64_t from, std::uint64_t to, std::byte* block);

  enum class Outcome {
    waits,      ///< for the others
    completes,  ///< the block, which the caller writes
    alone       ///< the caller writes the part by itself, through the page cache
  };
  /// The same, but what exceeds the memory is left to the caller, who may do it while others use the carry.
  Outcome take(std::uint64_t from, std::uint64_t to, std::byte* block);
  /// The parts that wait for others which will not come here. None wait then.
  std::vector<BlockPart> take_rest();
  /// Blocks that still wait.
  std::size_t waiting() const { return waiting_.size(); }

 private:
  struct Part {
    std::uint32_t from, to;  // within the block
  };
  struct Waiting {
    std::byte* data;
    std::vector<Part> parts;
    std::uint64_t missing;
  };
  std::byte* allocate();
  /// The bytes [from, to) of the file, which are in the block that begins at `start`.
  void write(std::uint64_t start, std::uint64_t from, std::uint64_t to, const std::byte* block);

  const File& file_;
  std::uint64_t begin_, end_, block_bytes_;
  std::size_t most_blocks_;
  std::unordered_map<std::uint64_t, Waiting> waiting_;  // by offset
  std::unordered_set<std::uint64_t> spilled_;  // offsets of blocks whose parts are written one by one
  std::vector<std::byte*> free_;
  std::vector<BlockMemory> slabs_;
  std::size_t blocks_ = 0;
};

}  // namespace xorder::io
