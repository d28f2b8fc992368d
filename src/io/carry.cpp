#include "io/carry.hpp"

#include <algorithm>
#include <cstring>

#include "rounding.hpp"

namespace xorder::io {
namespace {

constexpr std::size_t blocks_in_slab = 64;

}  // namespace

Carry::Carry(std::uint64_t begin, std::uint64_t end, std::uint64_t block_bytes, std::uint64_t memory_bytes)
    : begin_(begin),
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

// Small files have a stretch for each block.
std::uint64_t Carry::stretch(std::uint64_t start) const {
  const std::uint64_t first = begin_ / block_bytes_, blocks = ceil_div(end_, block_bytes_) - first;
  const std::uint64_t most = 32 * block_bytes_ * 8;  // bits in 32 blocks
  return (start / block_bytes_ - first) / ceil_div(blocks, most);
}

bool Carry::add(const File& file, std::uint64_t from, std::uint64_t to, std::byte* block) {
  const std::uint64_t start = from / block_bytes_ * block_bytes_;
  const Place place{file.number(), start};
  auto found = waiting_.find(place);
  if (found == waiting_.end()) {
    std::byte* kept = !spilled_.empty() && spilled_[stretch(start)] ? nullptr : allocate();
    if (kept == nullptr) {
      if (spilled_.empty()) spilled_.resize(stretch(end_ - 1) + 1);
      spilled_[stretch(start)] = true;
      file.write_exactly(block + (from - start), to - from, from);
      return false;
    }
    const std::uint64_t ours = std::min(start + block_bytes_, end_) - std::max(start, begin_);
    found = waiting_.emplace(place, Waiting{kept, {}, ours}).first;
  }
  Waiting& waiting = found->second;
  waiting.missing -= to - from;
  if (waiting.missing > 0) {
    std::memcpy(waiting.data + (from - start), block + (from - start), to - from);
    waiting.parts.push_back(
        {static_cast<std::uint32_t>(from - start), static_cast<std::uint32_t>(to - start)});
    return false;
  }
  for (const Part& part : waiting.parts)
    std::memcpy(block + part.from, waiting.data + part.from, part.to - part.from);
  free_.push_back(waiting.data);
  waiting_.erase(found);
  const std::uint64_t first = std::max(start, begin_), last = std::min(start + block_bytes_, end_);
  if (last - first == block_bytes_) return true;
  file.write_exactly(block + (first - start), last - first, first);
  return false;
}

std::vector<BlockPart> Carry::take_rest() {
  std::vector<BlockPart> rest;
  for (const auto& [place, waiting] : waiting_) {
    for (const Part& part : waiting.parts)
      rest.push_back({place.second + part.from, {waiting.data + part.from, waiting.data + part.to}});
    free_.push_back(waiting.data);
  }
  waiting_.clear();
  return rest;
}

void write_parts(const File& file, const std::vector<BlockPart>& parts) {
  for (const BlockPart& part : parts) file.write_exactly(part.data.data(), part.data.size(), part.from);
}

}  // namespace xorder::io
