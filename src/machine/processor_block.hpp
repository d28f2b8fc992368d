// What a virtual processor owns of a file: its block, of which it uses some ranges.
//
// There are two ways to have a range in memory, which --io chooses:
//
//   mapped   the block is one Boost.Interprocess region, for as long as this object lives, and a range is used where it is
//            mapped. Its pages are brought in before it is touched, and written back and dropped after. Both are transfers of
//            the file's disk, so that whatever fails, counts or records those sees them.
//   direct   a range is read into memory and written from memory by requests with O_DIRECT (through the page cache where the
//            file system refuses that).
//
// Pages are the units of a mapping. A block may begin and end anywhere in a page, which its neighbour has
// mapped as well: there is only one such page in the page cache, and each stores into its own bytes. A range
// that is much shorter than its pages (plan::least_in_place) goes through memory by system calls, in mapped
// files too. Neighbours whose blocks are shorter than that are one ProcessorBlock together. (Between being
// brought in and being used a page can be taken away by the system if memory is short; if it cannot be read
// again then, the process ends by SIGBUS, which the tool reports.)
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

/// Memory for the ranges that are not used in place, of all blocks of a group or stripe: a buffer of a pool,
/// which it takes when there is the first such range. May be used by many threads.
class Room {
 public:
  explicit Room(task::BufferPool& pool) : pool_(&pool) {}
  /// The size that a pool's buffers need for ranges of so many bytes together.
  static std::size_t bytes_for(std::uint64_t bytes);

  /// For the bytes at `offset` of a file. Requires that they fit; stays until clear().
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

  /// The bytes [begin, begin + bytes) from `place` on. `least` as plan::least_in_place() says. Nothing is
  /// mapped yet.
  ProcessorBlock(Storage& storage, io::Location place, std::uint64_t begin, std::uint64_t bytes, Use use,
                 std::uint64_t least);
  /// Drops the pages of what was read.
  ~ProcessorBlock();
  ProcessorBlock(ProcessorBlock&& other) noexcept = default;
  ProcessorBlock& operator=(ProcessorBlock&&) = delete;

  /// Reads a range, from `offset` of the block on, and says where it is as long as this block and the room
  /// are. Throws IoError, Cancelled.
  const std::byte* fill(std::uint64_t offset, std::size_t bytes, Room& room);
  /// Where a range is to be made, all of whose bytes will be written; they are undefined now. Throws IoError.
  std::byte* make(std::uint64_t offset, std::size_t bytes, Room& room);
  /// Writes what was made; it must not be touched any more. Throws IoError, Cancelled.
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
