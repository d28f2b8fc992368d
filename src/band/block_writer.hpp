// Runs of a file that need not begin or end at its blocks.
#pragma once

#include <cstdint>
#include <mutex>

#include "band/lanes.hpp"
#include "io/carry.hpp"

namespace xorder::band {

/// Writes runs of a file in whole blocks. If another run has a part of a block too, the first part waits for
/// the other.
class BlockWriter {
 public:
  /// The data lies from `begin` to `end` in the file. `memory` is for parts of blocks that wait.
  BlockWriter(const io::File& file, std::uint64_t begin, std::uint64_t end, std::uint64_t alignment,
              std::uint64_t memory);

  /// Adds the bytes at `offset` to the lane's writes. Requires that the address `data` and `offset` are equal
  /// modulo the alignment, and that the blocks of memory around the data hold nothing else. May be called by
  /// several threads at once. Throws IoError.
  void write(Lane& lane, std::uint64_t offset, std::byte* data, std::uint64_t bytes);

 private:
  bool add(std::uint64_t from, std::uint64_t to, std::byte* block);

  const io::File& file_;
  std::uint64_t alignment_;
  std::mutex mutex_;
  io::Carry carry_;
};

/// Adds to the lane's reads: the bytes at `offset`, with what is before and behind them in their blocks.
/// Returns where they will be, which is `to` or less than the alignment behind it. From `to` on, up to
/// `bytes` and twice the alignment are overwritten.
std::byte* read_around(Lane& lane, const io::File& file, std::uint64_t offset, std::uint64_t bytes,
                       std::byte* to, std::uint64_t alignment);

}  // namespace xorder::band
