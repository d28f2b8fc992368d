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

/// Bandwidths by request size, for requests at random places with `depth` in flight.
struct Device {
  struct Point {
    std::uint64_t request_bytes;
    double read_bytes_per_second;
    double write_bytes_per_second;
    /// The rate of reads while writes go on at the same rate; 0 if it is not known. Reads and writes are then
    /// assumed to share the device, so that both together take the sum of their times.
    double both_bytes_per_second = 0;
    bool operator==(const Point&) const = default;
  };
  std::string name;
  /// Ascending by request_bytes, not empty. Between points the time per request is linear in its size. Beyond
  /// the last one the bandwidth is constant, so larger requests are not worth memory.
  std::vector<Point> points;
  /// How many reads, and as many writes, to keep in flight.
  unsigned depth = 64;

  double read_seconds(std::uint64_t requests, std::uint64_t request_bytes) const;
  double write_seconds(std::uint64_t requests, std::uint64_t request_bytes) const;
  /// The time of reads and writes that go on at the same time.
  double both_seconds(const Requests& reads, const Requests& writes) const;
  std::uint64_t largest_useful_request() const { return points.back().request_bytes; }

  /// A solid-state disk behind a virtual machine's block device: about 14 µs of the device per request, 2.2
  /// GB/s.
  static Device ssd();
  /// A spinning disk: about 8 ms per request, 200 MB/s.
  static Device hdd();
  /// Files that are in memory and nowhere else.
  static Device tmpfs();
  /// Files that are, and will stay, in the page cache.
  static Device page_cache();
  /// A profile for reading from `source` and writing to this device.
  Device reading_from(const Device& source) const;
  /// A profile in which each request is a window of a file: mapped, populated, copied and unmapped.
  Device through_windows() const;
  /// Parses the text of a JSON file {"name": .., "depth": .., "points": [[bytes, read, write, both], ..]}
  /// with bandwidths in bytes per second. `both` may be missing. `source` is used in messages, and as the
  /// name if there is none. Throws InputError.
  static Device parse(std::string_view json, const std::string& source);
  /// This device in the format of parse().
  std::string text() const;
  bool operator==(const Device&) const = default;
};

}  // namespace xorder::plan
