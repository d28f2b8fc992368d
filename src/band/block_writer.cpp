#include "band/block_writer.hpp"
#include "rounding.hpp"

namespace xorder::band {

using std::uint64_t;

BlockWriter::BlockWriter(const io::File& file, uint64_t begin, uint64_t end, uint64_t alignment,
                         uint64_t memory)
    : file_(file), alignment_(alignment), carry_(file, begin, end, alignment, memory) {}

bool BlockWriter::add(uint64_t from, uint64_t to, std::byte* block) {
  io::Carry::Outcome outcome;
  {
    const std::lock_guard lock(mutex_);
    outcome = carry_.take(from, to, block);
  }
  if (outcome == io::Carry::Outcome::alone) file_.write_exactly(block + from % alignment_, to - from, from);
  return outcome == io::Carry::Outcome::completes;
}

void BlockWriter::write(Lane& lane, uint64_t offset, std::byte* data, uint64_t bytes) {
  if (bytes == 0) return;
  const uint64_t end = offset + bytes;
  uint64_t first = round_up(offset, alignment_);
  uint64_t last = end / alignment_ * alignment_;
  const auto at = [&](uint64_t place) { return data + static_cast<std::ptrdiff_t>(place - offset); };
  if (first > last) {  // inside a block
    if (add(offset, end, at(last))) lane.write(file_, last, at(last), alignment_);
    return;
  }
  if (offset < first && add(offset, first, at(first - alignment_))) first -= alignment_;
  if (last < end && add(last, end, at(last))) last += alignment_;
  if (first < last) lane.write(file_, first, at(first), last - first);
}

std::byte* read_around(Lane& lane, const io::File& file, uint64_t offset, uint64_t bytes, std::byte* to,
                       uint64_t alignment) {
  const uint64_t begin = offset / alignment * alignment;
  const uint64_t end = round_up(offset + bytes, alignment);
  lane.read(file, begin, to, end - begin, offset + bytes - begin);
  return to + (offset - begin);
}

}  // namespace xorder::band
