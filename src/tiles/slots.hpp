// The memory of a pass: slots for groups, tiles and requests in flight, and the chunks in which tiles are
// assembled. It is allocated before the first transfer, for all passes of an engine: each finds resident what
// those before it have touched. What was used last is used first, so that as little as possible is touched:
// fresh memory takes time. Nothing here blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/memory.hpp"
#include "plan/plan.hpp"
#include "rounding.hpp"
#include "run/numbers.hpp"

namespace xorder::tiles {

// A group in flight. Its runs are read into its memory, then permuted into its tile's chunks.
struct GroupSlot {
  plan::Group group;
  std::vector<plan::Run> runs;
  std::vector<const std::byte*> spans;  // of a strided source, in their order
  std::vector<const std::byte*> sources;
  std::vector<std::byte*> targets;
  std::vector<std::uint64_t> lengths;
};

// A tile in flight. It is assembled in chunks, then written run by run.
struct TileSlot {
  plan::Tile tile;
  std::vector<plan::Run> runs;
  std::vector<std::byte*> chunks;
};

// Where each kind of memory begins in the memory of a pass.
struct PassMemory {
  explicit PassMemory(const plan::Pass& pass)
      : groups(aligned(pass.chunk_count * pass.chunk_bytes())),
        writes(aligned(groups + pass.group_slots * pass.group_slot_bytes())),
        bytes(writes + pass.write_slots * pass.write_slot_bytes) {}

  std::uint64_t chunks = 0, groups, writes, bytes;

 private:
  static std::uint64_t aligned(std::uint64_t offset) { return round_up(offset, plan::file_block); }
};

// Pieces of memory, of equal size. They are made resident when they are taken for the first time. Large pools
// are faulted in by the threads that use them.
class Pool {
 public:
  Pool(io::BlockMemory& memory, std::uint64_t begin, std::uint64_t count, std::uint64_t bytes_each)
      : memory_(memory), begin_(begin), bytes_each_(bytes_each), free_(count), resident_(begin) {
    if (count * bytes_each > io::BlockMemory::most_at_once) resident_ = memory.size();
  }
  std::size_t available() const { return free_.available(); }
  std::size_t take() {
    const std::size_t number = free_.take();
    const std::uint64_t end = begin_ + (number + 1) * bytes_each_;
    if (end > resident_) resident_ = memory_.use(resident_, end);
    return number;
  }
  void give_back(std::size_t number) { free_.give_back(number); }
  void give_back(const std::byte* piece) {
    give_back(static_cast<std::uint64_t>(piece - (*this)[0]) / bytes_each_);
  }
  std::byte* operator[](std::size_t number) const { return memory_.data() + begin_ + number * bytes_each_; }

 private:
  io::BlockMemory& memory_;
  std::uint64_t begin_, bytes_each_;
  run::Numbers free_;
  std::uint64_t resident_;  // up to here, in the memory
};

}  // namespace xorder::tiles
