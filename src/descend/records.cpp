#include "descend/records.hpp"

#include <algorithm>
#include <bit>

#include "io/ranges.hpp"

namespace xorder::descend {
namespace {

using std::uint64_t;

uint64_t parts_of(uint64_t request_bytes, uint64_t element_bytes) {
  return std::bit_floor(std::max<uint64_t>(1, request_bytes / element_bytes));
}

}  // namespace

RecordSource::RecordSource(const Computation& what, Elements records)
    : inputs_{records}, record_bytes_(what.record_bytes()) {}

RecordSource::RecordSource(Computation& what, std::vector<Elements> inputs, uint64_t request_bytes)
    : loader_(&what), inputs_(std::move(inputs)), record_bytes_(what.record_bytes()) {
  uint64_t bytes = 0;
  for (const Elements& input : inputs_) bytes += input.bytes;
  part_ = parts_of(request_bytes, bytes);
  staging_.at_least(part_ * bytes);
}

void RecordSource::read(uint64_t first, uint64_t count, std::byte* records) {
  if (inputs_.size() > 1 || inputs_.front().bytes != record_bytes_)
    return load_in_parts(first, count, records);
  read_elements(inputs_.front(), first, count, records);
  const std::byte* const there = records;
  if (loader_ != nullptr) loader_->load(first, count, std::span(&there, 1), records);
}

void RecordSource::load_in_parts(uint64_t first, uint64_t count, std::byte* records) {
  const task::BufferPool::Buffer buffer = staging_.get();
  std::vector<const std::byte*> arrays(inputs_.size());
  for (uint64_t done = 0; done < count; done += part_) {
    const uint64_t part = std::min(part_, count - done);
    std::byte* to = buffer.get();
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      read_elements(inputs_[i], first + done, part, to);
      arrays[i] = to;
      to += part_ * inputs_[i].bytes;
    }
    loader_->load(first + done, part, arrays, records + done * record_bytes_);
  }
}

void RecordSource::read_elements(const Elements& from, uint64_t first, uint64_t count, std::byte* to) {
  io::read_range(from.begin.file, from.begin.offset + first * from.bytes, to, count * from.bytes);
}

RecordSink::RecordSink(const Computation& what, Elements records)
    : to_(records), record_bytes_(what.record_bytes()) {}

RecordSink::RecordSink(Computation& what, Elements output, uint64_t request_bytes)
    : storer_(&what),
      to_(output),
      record_bytes_(what.record_bytes()),
      part_(parts_of(request_bytes, output.bytes)),
      staging_(part_ * output.bytes) {}

void RecordSink::write(uint64_t first, uint64_t count, std::byte* records) {
  if (to_.bytes == record_bytes_) {
    if (storer_ != nullptr) storer_->store(first, count, records, records);
    return write_elements(first, count, records);
  }
  const task::BufferPool::Buffer buffer = staging_.get();
  for (uint64_t done = 0; done < count; done += part_) {
    const uint64_t part = std::min(part_, count - done);
    storer_->store(first + done, part, records + done * record_bytes_, buffer.get());
    write_elements(first + done, part, buffer.get());
  }
}

void RecordSink::write_elements(uint64_t first, uint64_t count, const std::byte* from) {
  io::write_range(to_.begin.file, to_.begin.offset + first * to_.bytes, from, count * to_.bytes);
}

}  // namespace xorder::descend
