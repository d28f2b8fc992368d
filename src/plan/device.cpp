#include "xorder/plan/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "xorder/error.hpp"

namespace xorder::plan {
namespace {

// A device that needs `setup` seconds for every request and then moves `rate` bytes a second.
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

}  // namespace

double Device::read_seconds(std::uint64_t requests, std::uint64_t request_bytes) const {
  return static_cast<double>(requests) *
         seconds_per_request(*this, request_bytes, &Point::read_bytes_per_second);
}

double Device::write_seconds(std::uint64_t requests, std::uint64_t request_bytes) const {
  return static_cast<double>(requests) *
         seconds_per_request(*this, request_bytes, &Point::write_bytes_per_second);
}

// Measured: 4 KiB random reads at depth 128 reach 360 MB/s, 16 KiB 1.1 GB/s, 64 KiB 2.2 GB/s, 1 MiB 3.2 GB/s.
Device Device::ssd() { return simple_device("ssd", 10e-6, 3.2e9, 1 << 20, 128); }
Device Device::hdd() { return simple_device("hdd", 8e-3, 200e6, 16 << 20, 8); }
// A system call or a page table walk a request; what is larger than a second-level cache gains nothing.
Device Device::page_cache() { return simple_device("page cache", 0.2e-6, 8e9, 64 << 10, 32); }

Device Device::reading_from(const Device& source) const {
  Device both{name, {}, depth};
  for (const Device* device : {this, &source}) {
    for (const Point& point : device->points) both.points.push_back({point.request_bytes, 0, 0});
  }
  std::ranges::sort(both.points, {}, &Point::request_bytes);
  const auto same = std::ranges::unique(both.points, {}, &Point::request_bytes);
  both.points.erase(same.begin(), same.end());
  for (Point& point : both.points) {
    const auto bytes = static_cast<double>(point.request_bytes);
    point.read_bytes_per_second = bytes / source.read_seconds(1, point.request_bytes);
    point.write_bytes_per_second = bytes / write_seconds(1, point.request_bytes);
  }
  return both;
}

Device Device::parse(std::string_view text, const std::string& source) {
  const auto fail = [&](const std::string& what) { return InputError(fmt::format("{}: {}", source, what)); };
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("points") || !json["points"].is_array() || json["points"].empty()) {
    throw fail(R"(not a device profile: {"name": "..", "depth": 64, "points": [[bytes, read, write], ..]})");
  }
  Device device{source, {}, 64};
  if (json.contains("name") && json["name"].is_string()) device.name = json["name"];
  if (json.contains("depth")) {
    if (!json["depth"].is_number_unsigned() || json["depth"] < 1 || json["depth"] > 1024) {
      throw fail("depth must be a whole number from 1 to 1024");
    }
    device.depth = json["depth"];
  }
  for (const auto& point : json["points"]) {
    const bool numbers = point.is_array() && point.size() == 3 && point[0].is_number_unsigned() &&
                         point[1].is_number() && point[2].is_number();
    if (!numbers || point[0] == 0 || point[1] <= 0 || point[2] <= 0) {
      throw fail(
          "a point must be [request bytes, read bytes per second, write bytes per second], all above 0");
    }
    device.points.push_back({point[0], point[1], point[2]});
    const std::size_t count = device.points.size();
    if (count > 1 && device.points[count - 2].request_bytes >= device.points[count - 1].request_bytes) {
      throw fail("the points must be in ascending order of request bytes");
    }
  }
  return device;
}

}  // namespace xorder::plan
