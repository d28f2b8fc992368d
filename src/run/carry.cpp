#include "carry.hpp"

#include <algorithm>
#include <cstring>

namespace xorder::run {
namespace {

constexpr std::size_t blocks_in_slab = 64;

}  // namespace

Carry::Carry(const io::File& file, std::uint64_t begin, std::uint64_t end, std::uint64_t block_bytes,
             std::uint64_t memory_bytes)
    : file_(file),
      begin_(begin),
      end_(end),
      block_bytes_(block_bytes),
      most_blocks_(std::max<std::size_t>(blocks_in_slab, memory_bytes / block_bytes)) {}

std::byte* Carry::allocate() {
  if (free_.empty()) {
    if (blocks_ >= most_blocks_) return nullptr;
    slabs_.emplace_back(blocks_in_slab * block_bytes_);
    blocks_ += blocks_in_slab;
    for (std::size_t i = blocks_in_slab; i-- > 0;) free_.push_back(slabs_.back().data() + i * block_bytes_);
  }
  std::byte* block = free_.back();
  free_.pop_back();
  return block;
}

std::byte* Carry::add(std::uint64_t offset, const std::byte* data, std::size_t bytes) {
  const std::uint64_t start = offset / block_bytes_ * block_bytes_;
  auto found = waiting_.find(start);
  if (found == waiting_.end()) {
    std::byte* block = spilled_.contains(start) ? nullptr : allocate();
    if (block == nullptr) {
      file_.write_exactly(data, bytes, offset);
      spilled_.insert(start);
      return nullptr;
    }
    const std::uint64_t part_begin = std::max(start, begin_), part_end = std::min(start + block_bytes_, end_);
    found = waiting_.emplace(start, Waiting{block, part_end - part_begin}).first;
  }
  Waiting& waiting = found->second;
  std::memcpy(waiting.data + (offset - start), data, bytes);
  waiting.missing -= bytes;
  if (waiting.missing > 0) return nullptr;
  std::byte* block = waiting.data;
  waiting_.erase(found);
  const bool whole = start >= begin_ && start + block_bytes_ <= end_;
  if (whole) return block;
  const std::uint64_t part_begin = std::max(start, begin_), part_end = std::min(start + block_bytes_, end_);
  file_.write_exactly(block + (part_begin - start), part_end - part_begin, part_begin);
  release(block);
  return nullptr;
}

}  // namespace xorder::run
