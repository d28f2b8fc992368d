#include "io/trace/trace.hpp"

#include <algorithm>
#include <limits>

#include "xorder/error.hpp"

namespace xorder::io {
namespace {

constexpr std::size_t records_in_shard = 2048;

double seconds_between(DiskFilter::Clock::time_point from, DiskFilter::Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

unsigned number_of_thread() {
  static std::atomic<unsigned> threads = 0;
  thread_local const unsigned mine = threads++;
  return mine;
}

}  // namespace

Trace::Trace(const std::filesystem::path& path, bool overwrite, Disk& behind)
    : DiskFilter(behind),
      output_(path, trace_header_bytes, overwrite, Access::buffered, system_disk(), nullptr) {
  for (Shard& shard : shards_) shard.records.reserve(records_in_shard);
}

std::vector<Trace::Traced> Trace::files() const {
  const std::lock_guard lock(mutex_);
  return files_;
}

double Trace::seconds() const { return seconds_between(start_, Clock::now()); }

void Trace::after(const Transfer& transfer, const Completion& completion, Clock::time_point begun) {
  if (completion.error != 0 || failed_.load(std::memory_order_relaxed)) return;
  TraceRecord record{.begin = std::max(seconds_between(start_, begun), 0.0),
                     .seconds = static_cast<float>(seconds_between(begun, Clock::now())),
                     .is_write = transfer.kind == Transfer::Kind::write,
                     .is_partial = transfer.unaligned,
                     .offset = transfer.offset,
                     .bytes = transfer.bytes()};
  Shard& shard = shards_[number_of_thread() % shards_.size()];
  const std::lock_guard lock(shard.mutex);
  record.file = number_of(*transfer.file, shard);
  shard.records.push_back(record);
  if (shard.records.size() == records_in_shard) flush(shard);
}

// A run has a few files. If one ever had more than there are numbers, the rest would share the last number.
std::uint16_t Trace::number_of(const File& file, Shard& shard) {
  constexpr std::size_t most = std::numeric_limits<std::uint16_t>::max();
  auto found = std::ranges::find(shard.known, file.number());
  if (found == shard.known.end()) {
    const std::lock_guard lock(mutex_);
    if (std::ranges::find(numbers_, file.number()) == numbers_.end()) {
      numbers_.push_back(file.number());
      files_.push_back({file.name(), file.size(), file.writable()});
    }
    shard.known = numbers_;
    found = std::ranges::find(shard.known, file.number());
  }
  return static_cast<std::uint16_t>(
      std::min<std::size_t>(static_cast<std::size_t>(found - shard.known.begin()), most));
}

void Trace::flush(Shard& shard) {
  const std::size_t bytes = shard.records.size() * sizeof(TraceRecord);
  try {
    if (!failed_) output_.file().write_exactly(shard.records.data(), bytes, end_.fetch_add(bytes));
  } catch (const IoError& error) {
    const std::lock_guard lock(mutex_);
    if (!failed_.exchange(true)) failure_ = error;
  }
  shard.records.clear();
}

void Trace::commit(const std::string& description) {
  for (Shard& shard : shards_) flush(shard);
  if (failure_) throw *failure_;
  const std::string header = trace_header((end_ - trace_header_bytes) / sizeof(TraceRecord));
  const std::string trailer = trace_trailer(description);
  output_.file().write_exactly(trailer.data(), trailer.size(), end_);
  output_.file().write_exactly(header.data(), header.size(), 0);
  output_.commit();
}

}  // namespace xorder::io
