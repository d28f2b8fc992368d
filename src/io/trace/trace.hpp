// A disk that records each transfer.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "io/disk_filter.hpp"
#include "io/output.hpp"
#include "io/trace/trace_file.hpp"
#include "xorder/error.hpp"

namespace xorder::io {

/// A record has 32 bytes. Records go to a file of the operating system's disk as they come, through buffers
/// of 1 MiB in total. Transfers that fail are left out. If records cannot be written, the run goes on without
/// a trace, and commit() throws.
class Trace final : public DiskFilter {
 public:
  /// The trace begins now. Its file has no name before commit(). Throws InputError as Output does.
  Trace(const std::filesystem::path& path, bool overwrite, Disk& behind = system_disk());

  /// A file that transfers went to.
  struct Traced {
    std::string name;
    std::uint64_t bytes = 0;
    bool writable = false;
  };
  /// In the order of the records' numbers.
  std::vector<Traced> files() const;
  /// Seconds since the trace began.
  double seconds() const;

  /// Writes the remaining records and the description, one JSON object, and gives the file its name. Call it
  /// once, with no transfers in flight. Throws IoError, also for records that could not be written before.
  void commit(const std::string& description);

 private:
  // Several threads may use a shard, but hardly ever at the same time.
  struct alignas(64) Shard {
    std::mutex mutex;
    std::vector<TraceRecord> records;
    std::vector<std::uint64_t> known;  // this shard's copy of numbers_
  };

  using DiskFilter::before;
  void after(const Transfer& transfer, const Completion& completion, Clock::time_point begun) override;
  std::uint16_t number_of(const File& file, Shard& shard);
  void flush(Shard& shard);

  const Clock::time_point start_ = Clock::now();
  Output output_;
  std::array<Shard, 16> shards_;
  std::atomic<std::uint64_t> end_ = trace_header_bytes;  // of the records in the file
  std::atomic<bool> failed_ = false;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<std::uint64_t> numbers_;
  std::vector<Traced> files_;
  std::optional<IoError> failure_;
};

}  // namespace xorder::io
