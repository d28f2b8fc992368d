#include "xorder/plan/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/json_text.hpp"
#include "xorder/error.hpp"

namespace xorder::plan {
namespace {

// A device that needs `setup` seconds for every request and then moves `rate` bytes per second.
Device simple_device(std::string name, double setup, double rate, std::uint64_t largest, unsigned depth) {
  Device device{std::move(name), {}, depth};
  for (std::uint64_t bytes = 4096; bytes <= largest; bytes *= 4) {
    const double bandwidth = static_cast<double>(bytes) / (setup + static_cast<double>(bytes) / rate);
    device.points.push_back({bytes, bandwidth, bandwidth});
  }
  return device;
}

double seconds_per_request(const Device& device, std::uint64_t bytes, double Device::Point::*bandwidth) {
  const auto time = [&](const Device::Point& p) {
    return static_cast<double>(p.request_bytes) / p.*bandwidth;
  };
  const auto size = static_cast<double>(bytes);
  const auto& points = device.points;
  if (bytes <= points.front().request_bytes) return time(points.front());
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (bytes > points[i].request_bytes) continue;
    const auto low = static_cast<double>(points[i - 1].request_bytes);
    const auto high = static_cast<double>(points[i].request_bytes);
    return time(points[i - 1]) + (time(points[i]) - time(points[i - 1])) * (size - low) / (high - low);
  }
  return size / (points.back().*bandwidth);
}

// Reads and writes of this size that go on at once take this share of the sum of their times: 1 if they share
// the device, 1/2 if neither slows the other.
double sharing(const Device& device, std::uint64_t bytes) {
  if (std::ranges::any_of(device.points, [](const Device::Point& p) { return p.both_bytes_per_second == 0; }))
    return 1;
  return seconds_per_request(device, bytes, &Device::Point::both_bytes_per_second) /
         (device.read_seconds(1, bytes) + device.write_seconds(1, bytes));
}

}  // namespace

double Device::read_seconds(std::uint64_t requests, std::uint64_t request_bytes) const {
  return static_cast<double>(requests) *
         seconds_per_request(*this, request_bytes, &Point::read_bytes_per_second);
}

double Device::write_seconds(std::uint64_t requests, std::uint64_t request_bytes) const {
  return static_cast<double>(requests) *
         seconds_per_request(*this, request_bytes, &Point::write_bytes_per_second);
}

// Fitted to the sum of both directions' bandwidths, measured with both at once (fio, random places, a new
// file) in requests of 16 KiB to 1 MiB. (Figures of all profiles are in bench/file_bench.md, "Profiles".)
Device Device::ssd() { return simple_device("ssd", 14e-6, 2.2e9, 1 << 20, 128); }
Device Device::hdd() { return simple_device("hdd", 8e-3, 200e6, 16 << 20, 8); }
// A request costs a system call and handing it to another thread. Predictions by this are within a twentieth;
// planned as for an SSD, tiles of bytes would be far too large.
Device Device::tmpfs() { return simple_device("tmpfs", 2e-6, 4e9, 256 << 10, 128); }
// A request costs a system call or a page table walk. Requests larger than a second-level cache gain nothing.
Device Device::page_cache() { return simple_device("page cache", 0.2e-6, 8e9, 64 << 10, 32); }

double Device::both_seconds(const Requests& reads, const Requests& writes) const {
  const double read = read_seconds(reads.count, reads.bytes);
  const double write = write_seconds(writes.count, writes.bytes);
  return std::max({read, write, read * sharing(*this, reads.bytes) + write * sharing(*this, writes.bytes)});
}

Device Device::reading_from(const Device& source) const {
  Device both{name, {}, depth};
  for (const Device* device : {this, &source}) {
    for (const Point& point : device->points) both.points.push_back({point.request_bytes, 0, 0, 0});
  }
  std::ranges::sort(both.points, {}, &Point::request_bytes);
  const auto same = std::ranges::unique(both.points, {}, &Point::request_bytes);
  both.points.erase(same.begin(), same.end());
  for (Point& point : both.points) {
    const auto bytes = static_cast<double>(point.request_bytes);
    point.read_bytes_per_second = bytes / source.read_seconds(1, point.request_bytes);
    point.write_bytes_per_second = bytes / write_seconds(1, point.request_bytes);
    point.both_bytes_per_second = std::min(point.read_bytes_per_second, point.write_bytes_per_second);
  }
  return both;
}

// Processor time for each window, whatever its size, and they hardly overlap: threads that map and unmap wait
// for each other.
Device Device::through_windows() const {
  constexpr double window_seconds = 70e-6;
  Device slower = *this;
  for (Point& point : slower.points) {
    const auto bytes = static_cast<double>(point.request_bytes);
    for (double* const bandwidth :
         {&point.read_bytes_per_second, &point.write_bytes_per_second, &point.both_bytes_per_second}) {
      const double requests = bandwidth == &point.both_bytes_per_second ? 2 : 1;
      if (*bandwidth > 0) *bandwidth = bytes / (bytes / *bandwidth + requests * window_seconds);
    }
  }
  return slower;
}

Device Device::parse(std::string_view text, const std::string& source) {
  const auto fail = [&](const std::string& what) { return InputError(fmt::format("{}: {}", source, what)); };
  const auto json = parsed_json(text, source);
  if (!json.is_object() || !json.contains("points") || !json["points"].is_array() || json["points"].empty()) {
    throw fail(
        R"(not a device profile: {"name": "..", "depth": 64, "points": [[bytes, read, write, both], ..]})");
  }
  for (const auto& [key, value] : json.items()) {
    if (key != "name" && key != "depth" && key != "points") {
      throw fail(
          fmt::format("unknown key \"{}\"; a device profile has \"name\", \"depth\" and \"points\"", key));
    }
  }
  Device device{source, {}, 64};
  if (json.contains("name")) {
    if (!json["name"].is_string()) throw fail("name must be a text");
    device.name = json["name"];
  }
  if (json.contains("depth")) {
    if (!json["depth"].is_number_unsigned() || json["depth"] < 1 || json["depth"] > 1024) {
      throw fail("depth must be a whole number from 1 to 1024");
    }
    device.depth = json["depth"];
  }
  for (const auto& point : json["points"]) {
    const auto positive = [](const nlohmann::json& number) { return number.is_number() && number >= 1; };
    const bool numbers = point.is_array() && (point.size() == 3 || point.size() == 4) &&
                         point[0].is_number_unsigned() && std::ranges::all_of(point, positive);
    if (!numbers) {
      throw fail(
          "a point must be [request bytes, bytes read per second, bytes written per second, bytes per second "
          "in each direction when both run at once], all at least 1; the last is optional");
    }
    device.points.push_back({point[0], point[1], point[2], point.size() == 4 ? point[3].get<double>() : 0});
    const std::size_t count = device.points.size();
    if (count > 1 && device.points[count - 2].request_bytes >= device.points[count - 1].request_bytes) {
      throw fail("the points must be in ascending order of request bytes");
    }
  }
  return device;
}

std::string Device::text() const {
  nlohmann::json json{{"name", name}, {"depth", depth}, {"points", nlohmann::json::array()}};
  for (const Point& point : points) {
    nlohmann::json numbers{point.request_bytes, point.read_bytes_per_second, point.write_bytes_per_second};
    if (point.both_bytes_per_second > 0) numbers.push_back(point.both_bytes_per_second);
    json["points"].push_back(std::move(numbers));
  }
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace xorder::plan
