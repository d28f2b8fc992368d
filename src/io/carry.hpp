// Blocks at the joints of runs. A run that begins or ends inside a file system block shares that block with
// another run, often of another tile. A direct write needs the whole block. The carry keeps the part that has
// come until the rest comes. The block is then written once, together with one of its runs. Several files may
// share a carry.
#pragma once

#include <boost/functional/hash.hpp>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "io/file.hpp"
#include "io/memory.hpp"

namespace xorder::io {

/// A part of a block.
struct BlockPart {
  std::uint64_t from = 0;  ///< offset in the file
  std::vector<std::byte> data;
};

/// Writes them through the page cache. Throws IoError.
void write_parts(const File& file, const std::vector<BlockPart>& parts);

class Carry {
 public:
  /// For blocks of `block_bytes` of files, of each of which [begin, end) will be written. Keeps about
  /// `memory_bytes` of them at a time, but always room for 64 blocks. Parts of further blocks are written one
  /// by one through the page cache. Remembering which these are takes at most the memory of 32 blocks.
  Carry(std::uint64_t begin, std::uint64_t end, std::uint64_t block_bytes, std::uint64_t memory_bytes);

  /// Takes the bytes [from, to) of the file, which lie inside one block. They are at their places in `block`,
  /// the memory of a whole block. If all other bytes of the block have come before, copies them into `block`
  /// and returns true: the caller writes it. Otherwise keeps the bytes and returns false. Two kinds of block
  /// are written here: those of which not all bytes are to be written (such as the last of the file), and
  /// those for which there is no memory. Throws IoError.
  bool add(const File& file, std::uint64_t from, std::uint64_t to, std::byte* block);

  /// Removes and returns all parts that wait: the rest of their blocks, all of one file, will not come here.
  std::vector<BlockPart> take_rest();
  /// Number of blocks that wait.
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
  /// The stretch of a file in which the block that begins at `start` lies.
  std::uint64_t stretch(std::uint64_t start) const;

  /// The number of the file, and the offset.
  using Place = std::pair<std::uint64_t, std::uint64_t>;
  std::uint64_t begin_, end_, block_bytes_;
  std::size_t most_blocks_;
  std::unordered_map<Place, Waiting, boost::hash<Place>> waiting_;
  // The stretches in which there was no memory for a block; empty if there are none. From then on, other
  // blocks there are not kept either. Remembering each block would take too much memory: if a band is
  // transposed in several strips, there can be such a block at the end of every row.
  std::vector<bool> spilled_;
  std::vector<std::byte*> free_;
  std::vector<BlockMemory> slabs_;
  std::size_t blocks_ = 0;
};

}  // namespace xorder::io
