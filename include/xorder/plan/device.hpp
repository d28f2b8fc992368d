// What a disk can do, for choosing block sizes and passes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xorder::plan {

/// Bandwidths by request size, of requests at random places with as many in flight as the device likes. Reads and writes
/// are taken to share the device: a pass takes the sum of both times.
struct Device {
  struct Point {
    std::uint64_t request_bytes;
    double read_bytes_per_second;
    double write_bytes_per_second;
  };
  std::string name;
  /// Ascending by request_bytes, not empty. Between points the time per request is linear in its size; beyond the last
  /// one the bandwidth stays, so that larger runs are not worth memory.
  std::vector<Point> points;
  /// Reads, and as many writes, to keep in flight.
  unsigned depth = 64;

  double read_seconds(std::uint64_t requests, std::uint64_t request_bytes) const;
  double write_seconds(std::uint64_t requests, std::uint64_t request_bytes) const;
  std::uint64_t largest_useful_request() const { return points.back().request_bytes; }

  /// A solid-state disk behind a virtual machine's block device: about 10 µs of the device a request, 3.2 GB/s.
  static Device ssd();
  /// A spinning disk: about 8 ms a request, 200 MB/s.
  static Device hdd();
  /// Files that are, and will stay, in the page cache.
  static Device page_cache();
  /// This one for writing, where what is read lies on `source`.
  Device reading_from(const Device& source) const;
  /// From the text of a JSON file {"name": .., "depth": .., "points": [[bytes, read, write], ..]} with
  /// bandwidths in bytes a second; `source` is for messages. Throws InputError.
  static Device parse(std::string_view json, const std::string& source);
};

}  // namespace xorder::plan
