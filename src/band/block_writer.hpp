// Runs of a file that need not begin or end at its blocks.
#pragma once

#include <cstdint>
#include <mutex>

#include "band/lanes.hpp"
#include "io/carry.hpp"

namespace xorder::band {

/// Writes runs of a file in whole blocks. What belongs to a block that another run has a part of waits for
/// it.
class BlockWriter {
 public:
  /// The data lies from `begin` to `end` in the file; `memory` is for what waits.
  BlockWriter(const io::File& file, std::uint64_t begin, std::uint64_t end, std::uint64_t alignment,
              std::uint64_t memory);

  /// Adds the bytes at `offset` to what the lane is to write. Requires that `data` lies in memory as `offset`
  /// in the file, modulo the alignment, in blocks that are all its own. May be called by several threads at
  /// once. Throws IoError.
  void write(Lane& lane, std::uint64_t offset, std::byte* data, std::uint64_t bytes);

 private:
  bool add(std::uint64_t from, std::uint64_t to, std::byte* block);

  const io::File& file_;
  std::uint64_t alignment_;
  std::mutex mutex_;
  io::Carry carry_;
};

/// Adds to what the lane is to read: the bytes at `offset`, with what is before and behind them in their
/// blocks. Returns where they will be, not before `to` and less than the alignment behind it. Up to twice the
/// alignment beyond `bytes` is written to there.
std::byte* read_around(Lane& lane, const io::File& file, std::uint64_t offset, std::uint64_t bytes,
                       std::byte* to, std::uint64_t alignment);

}  // namespace xorder::band
