// A virtual processor's block of a file, of which it uses some ranges.
//
// There are two ways to have a range in memory, which --io chooses:
//
//   mapped   the block is one Boost.Interprocess region, for as long as this object lives, and a range is
//            used where it is mapped. Its pages are brought in before it is touched, and written back and
//            dropped after. Both are transfers of the file's disk, so code that fails, counts or records
//            transfers sees them.
//   direct   a range is read into memory and written from memory by requests with O_DIRECT (through the page
//            cache if the file system refuses that).
//
// A mapping consists of pages. A block may begin and end anywhere in a page, which its neighbour has mapped
// as well: there is only one such page in the page cache, and each stores into its own bytes. A range shorter
// than plan::least_in_place goes through memory by system calls, in mapped files too. Neighbours whose blocks
// are shorter than that are one ProcessorBlock together. (If memory is short, the system can take a page away
// after it was brought in and before it is used. If it cannot be read again then, the process ends by SIGBUS,
// which the tool reports.)
#pragma once

#include <boost/interprocess/mapped_region.hpp>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "io/file.hpp"
#include "machine/storage.hpp"
#include "task/parallel.hpp"

namespace xorder::machine {

/// Memory for the ranges that are not used in place, of all blocks of a batch or stripe. It is a buffer of a
/// pool, taken for the first such range. May be used by many threads.
class Room {
 public:
  explicit Room(task::BufferPool& pool) : pool_(&pool) {}
  /// The size that a pool's buffers need for ranges of `bytes` bytes together.
  static std::size_t bytes_for(std::uint64_t bytes);

  /// Memory for the bytes at `offset` of a file. Requires that they fit. It stays until clear().
  std::byte* take(std::uint64_t offset, std::size_t bytes);
  /// Gives the buffer back.
  void clear();

 private:
  task::BufferPool* pool_;
  std::mutex mutex_;
  task::BufferPool::Buffer buffer_;
  std::size_t used_ = 0;
};

/// Used by one thread at a time.
class ProcessorBlock {
 public:
  enum class Use { read, write };

  /// The block is the bytes [begin, begin + bytes) from `place` on. `least` is that of
  /// plan::least_in_place(). Nothing is mapped yet.
  ProcessorBlock(Storage& storage, io::Location place, std::uint64_t begin, std::uint64_t bytes, Use use,
                 std::uint64_t least);
  /// Drops the pages of what was read.
  ~ProcessorBlock();
  ProcessorBlock(ProcessorBlock&& other) noexcept = default;
  ProcessorBlock& operator=(ProcessorBlock&&) = delete;

  /// Reads a range, from `offset` of the block on, and returns where it is. It stays there as long as this
  /// block and the room's content do. Throws IoError, Cancelled.
  const std::byte* fill(std::uint64_t offset, std::size_t bytes, Room& room);
  /// Returns where to make a range, all of whose bytes have to be written; they are undefined now. Throws
  /// IoError, Cancelled.
  std::byte* make(std::uint64_t offset, std::size_t bytes, Room& room);
  /// Writes the ranges that were made. They must not be touched afterwards. Throws IoError, Cancelled.
  void empty();

 private:
  struct Range {
    std::uint64_t begin;
    std::size_t bytes;
    std::byte* at;
    bool in_place;
  };
  Range& range(std::uint64_t offset, std::size_t bytes, Room& room);
  std::byte* map();
  bool is_mapped() const { return place_.file.access() == io::Access::mapped; }

  Storage& storage_;
  io::Location place_;
  std::uint64_t begin_, bytes_;
  Use use_;
  std::uint64_t least_;
  boost::interprocess::mapped_region region_;
  std::vector<Range> ranges_;
};

}  // namespace xorder::machine
