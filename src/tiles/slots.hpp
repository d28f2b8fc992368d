// The memory of a pass: slots for groups, tiles and requests in flight, and the chunks in which tiles are
// assembled. It is allocated before the first transfer. What was used last is used first, so that as little
// as possible is touched: fresh memory takes time. Nothing here blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include "io/memory.hpp"
#include "plan/tiles/tiling.hpp"

namespace xorder::tiles {

// A group in flight. Its runs are read into `memory`, then permuted into its tile's chunks.
struct GroupSlot {
  std::byte* memory = nullptr;
  plan::Group group;
  std::size_t tile_slot = 0;
  std::vector<plan::Run> runs;
  std::vector<const std::byte*> sources;
  std::vector<std::byte*> targets;
  std::vector<std::uint64_t> lengths;
  std::uint64_t reads_in_flight = 0;
  std::exception_ptr failure;  // thrown while permuting it
};

// A tile in flight. It is assembled in chunks, then written run by run. It has no memory of its own.
struct TileSlot {
  std::byte* memory = nullptr;
  plan::Tile tile;
  std::vector<plan::Run> runs;
  std::vector<std::byte*> chunks;
  std::uint64_t groups_missing = 0;
};

// A request that is being written.
struct WriteSlot {
  std::byte* memory = nullptr;
};

template <typename Slot>
class Slots {
 public:
  Slots(std::uint64_t count, std::uint64_t bytes_each)
      : bytes_each_(bytes_each),
        memory_(count * bytes_each, io::BlockMemory::Resident::as_used),
        slots_(count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      slots_[i].memory = memory_.data() + i * bytes_each;
      free_.push_back(count - 1 - i);
    }
  }
  bool available() const { return !free_.empty(); }
  std::size_t take() {
    const std::size_t i = free_.back();
    free_.pop_back();
    memory_.use((i + 1) * bytes_each_);
    return i;
  }
  void give_back(std::size_t i) { free_.push_back(i); }
  void leak() { static_cast<void>(new io::BlockMemory(std::move(memory_))); }
  Slot& operator[](std::size_t i) { return slots_[i]; }

 private:
  std::uint64_t bytes_each_;
  io::BlockMemory memory_;
  std::vector<Slot> slots_;
  std::vector<std::size_t> free_;
};

// Memory for chunks, all in one mapping with huge pages. They may be given back in any order.
class ChunkPool {
 public:
  ChunkPool(std::uint64_t count, std::uint64_t bytes_each)
      : bytes_each_(bytes_each), memory_(count * bytes_each, io::BlockMemory::Resident::as_used) {
    free_.reserve(count);
    for (std::uint64_t i = count; i-- > 0;) free_.push_back(memory_.data() + i * bytes_each);
  }
  std::size_t available() const { return free_.size(); }
  std::byte* take() {
    std::byte* chunk = free_.back();
    free_.pop_back();
    memory_.use(static_cast<std::uint64_t>(chunk - memory_.data()) + bytes_each_);
    return chunk;
  }
  void give_back(std::byte* chunk) { free_.push_back(chunk); }

 private:
  std::uint64_t bytes_each_;
  io::BlockMemory memory_;
  std::vector<std::byte*> free_;
};

}  // namespace xorder::tiles
