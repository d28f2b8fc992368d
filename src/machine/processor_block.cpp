#include "machine/processor_block.hpp"

#include <boost/interprocess/exceptions.hpp>
#include <utility>

#include "io/disk.hpp"
#include "io/page_cache/page_cache.hpp"
#include "plan/processors/processors.hpp"
#include "rounding.hpp"
#include "xorder/error.hpp"

namespace xorder::machine {
namespace {

constexpr std::size_t file_page = io::page_bytes;

}  // namespace

std::size_t Room::bytes_for(std::uint64_t bytes) {
  const std::uint64_t long_ranges = bytes / plan::least_in_place(0) + 1;
  return static_cast<std::size_t>(bytes + 2 * file_page * long_ranges);
}

// A long range has the same offset in a page as in its file, as direct transfers need.
std::byte* Room::take(std::uint64_t offset, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (!buffer_) buffer_ = pool_->get();
  if (bytes >= plan::least_in_place(0)) used_ = round_up(used_, file_page) + offset % file_page;
  return buffer_.get() + std::exchange(used_, used_ + bytes);
}

void Room::clear() {
  buffer_.reset();
  used_ = 0;
}

ProcessorBlock::ProcessorBlock(Storage& storage, io::Location place, std::uint64_t begin, std::uint64_t bytes,
                               Use use, std::uint64_t least)
    : storage_(storage), place_(place), begin_(begin), bytes_(bytes), use_(use), least_(least) {}

ProcessorBlock::~ProcessorBlock() {
  region_ = {};  // first: pages that are mapped cannot be dropped
  if (use_ == Use::write) return;
  for (const Range& range : ranges_) {
    if (range.in_place) {
      place_.file.page_cache().drop_mapped(place_.file.descriptor(), place_.offset + range.begin,
                                           range.bytes);
    }
  }
}

std::byte* ProcessorBlock::map() {
  if (region_.get_address() == nullptr) {
    namespace ipc = boost::interprocess;
    const io::File& file = place_.file;
    const std::uint64_t offset = place_.offset + begin_;
    try {
      region_ = file.disk().map(file.descriptor(), use_ == Use::write, offset, bytes_);
    } catch (const ipc::interprocess_exception& exception) {
      throw IoError(file.name(), "map", exception.get_native_error(), offset);
    }
  }
  return static_cast<std::byte*>(region_.get_address());
}

ProcessorBlock::Range& ProcessorBlock::range(std::uint64_t offset, std::size_t bytes, Room& room) {
  const std::uint64_t begin = begin_ + offset;
  const bool in_place = is_mapped() && bytes >= least_;
  std::byte* const at = in_place ? map() + offset : room.take(place_.offset + begin, bytes);
  return ranges_.emplace_back(Range{begin, bytes, at, in_place});
}

const std::byte* ProcessorBlock::fill(std::uint64_t offset, std::size_t bytes, Room& room) {
  const Range& filled = range(offset, bytes, room);
  if (filled.in_place) {
    storage_.transfer(io::read_in_place, place_, filled.begin, filled.at, bytes);
  } else if (is_mapped()) {
    place_.file.read_exactly(filled.at, bytes, place_.offset + filled.begin);
  } else {
    storage_.transfer(io::read_range, place_, filled.begin, filled.at, bytes);
  }
  return filled.at;
}

std::byte* ProcessorBlock::make(std::uint64_t offset, std::size_t bytes, Room& room) {
  const Range& made = range(offset, bytes, room);
  if (made.in_place) storage_.transfer(io::prepare_in_place, place_, made.begin, made.at, bytes);
  return made.at;
}

void ProcessorBlock::empty() {
  for (const Range& made : ranges_) {
    if (made.in_place) {
      storage_.transfer(io::write_in_place, place_, made.begin, made.at, made.bytes);
    } else if (is_mapped()) {
      place_.file.write_exactly(made.at, made.bytes, place_.offset + made.begin);
    } else {
      storage_.transfer(io::write_range, place_, made.begin, made.at, made.bytes);
    }
  }
  ranges_.clear();
  region_ = {};
}

}  // namespace xorder::machine
