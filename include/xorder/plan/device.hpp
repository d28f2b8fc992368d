// What a disk can do, for choosing block sizes and passes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xorder::plan {

/// Requests of the same size.
struct Requests {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;  ///< of each
};

/// Bandwidths by request size, of requests at random places with as many in flight as the device likes.
struct Device {
  struct Point {
    std::uint64_t request_bytes;
    double read_bytes_per_second;
    double write_bytes_per_second;
    /// Read, and as many written, while both go on; 0: not known. They are then taken to share the device, so
    /// that both together take the sum of their times.
    double both_bytes_per_second = 0;
    bool operator==(const Point&) const = default;
  };
  std::string name;
  /// Ascending by request_bytes, not empty. Between points the time per request is linear in its size; beyond
  /// the last one the bandwidth stays, so that larger runs are not worth memory.
  std::vector<Point> points;
  /// Reads, and as many writes, to keep in flight.
  unsigned depth = 64;

  double read_seconds(std::uint64_t requests, std::uint64_t request_bytes) const;
  double write_seconds(std::uint64_t requests, std::uint64_t request_bytes) const;
  /// Of reads and writes that go on at the same time.
  double both_seconds(const Requests& reads, const Requests& writes) const;
  std::uint64_t largest_useful_request() const { return points.back().request_bytes; }

  /// A solid-state disk behind a virtual machine's block device: about 14 µs of the device a request, 2.2
  /// GB/s.
  static Device ssd();
  /// A spinning disk: about 8 ms a request, 200 MB/s.
  static Device hdd();
  /// Files that are, and will stay, in the page cache.
  static Device page_cache();
  /// This one for writing, where what is read lies on `source`.
  Device reading_from(const Device& source) const;
  /// This one where each request is a window of a file: mapped, populated, copied and unmapped.
  Device through_windows() const;
  /// From the text of a JSON file {"name": .., "depth": .., "points": [[bytes, read, write, both], ..]} with
  /// bandwidths in bytes a second; `both` may be missing; `source` is for messages. Throws InputError.
  static Device parse(std::string_view json, const std::string& source);
  /// Such a text of this one.
  std::string text() const;
  bool operator==(const Device&) const = default;
};

}  // namespace xorder::plan
