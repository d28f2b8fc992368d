#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "io/memory.hpp"
#include "io/mounts.hpp"

namespace xorder::io {
namespace {

namespace fs = std::filesystem;

/// Version 1 expresses "no limit" as a number near 2^63.
constexpr std::uint64_t absurd = std::uint64_t{1} << 60;

std::optional<std::uint64_t> parse(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return {};  // such as "max"
  return value;
}

std::optional<std::uint64_t> read_number(const fs::path& file) {
  std::ifstream in(file);
  std::string word;
  if (!(in >> word)) return {};
  return parse(word);
}

/// The number after `key` in lines "key number".
std::optional<std::uint64_t> read_field(const fs::path& file, std::string_view key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string word, value;
    if (words >> word >> value && word == key) return parse(value);
  }
  return {};
}

/// An absolute path such as "/proc/meminfo", moved below `root`.
fs::path below(const fs::path& root, const fs::path& absolute) { return root / absolute.relative_path(); }

bool is_one_of(std::string_view list, std::string_view word) {
  const std::string in = "," + std::string(list) + ",";
  return in.find("," + std::string(word) + ",") != std::string::npos;
}

/// The mounts of version 1's memory hierarchy, or of version 2's.
std::vector<Mount> cgroup_mounts(const fs::path& root, bool version2) {
  std::vector<Mount> all = mounts(root);
  std::erase_if(all, [&](const Mount& mount) {
    return version2 ? mount.type != "cgroup2" : mount.type != "cgroup" || !is_one_of(mount.options, "memory");
  });
  return all;
}

/// This process's path in version 1's memory hierarchy, or in version 2's.
std::optional<std::string> cgroup_path(const fs::path& root, bool version2) {
  std::ifstream in(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {  // number:controllers:path
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (version2 ? line.starts_with("0::") : is_one_of(controllers, "memory")) return line.substr(second + 1);
  }
  return {};
}

/// `path` relative to the mounted part. "." if it lies outside, as in containers with their own cgroup
/// namespace.
fs::path path_below_mount(const std::string& path, const std::string& mount_root) {
  if (path.starts_with("/..")) return ".";
  const fs::path relative = fs::path(path).lexically_normal().lexically_relative(mount_root);
  return relative.empty() || *relative.begin() == ".." ? fs::path(".") : relative;
}

struct Limit {
  std::uint64_t limit;
  std::uint64_t left;
};

/// What the cgroup in `directory` allows, or nothing.
std::optional<Limit> limit_of(const fs::path& directory, bool version2) {
  std::optional<std::uint64_t> limit, usage, reclaimable;
  if (version2) {
    limit = read_number(directory / "memory.max");
    // Above memory.high the kernel slows a process down until it hardly moves.
    if (const auto high = read_number(directory / "memory.high"))
      limit = std::min(limit.value_or(*high), *high);
  } else {
    limit = read_number(directory / "memory.limit_in_bytes");
  }
  if (!limit || *limit >= absurd) return {};
  usage = read_number(directory / (version2 ? "memory.current" : "memory.usage_in_bytes"));
  if (!version2) reclaimable = read_field(directory / "memory.stat", "total_inactive_file");
  if (!reclaimable) reclaimable = read_field(directory / "memory.stat", "inactive_file");
  const std::uint64_t used = usage.value_or(0) - std::min(usage.value_or(0), reclaimable.value_or(0));
  return Limit{*limit, *limit - std::min(*limit, used)};
}

/// The limits of this process's memory cgroup and of all its visible ancestors.
std::vector<Limit> limits(const fs::path& root) {
  std::vector<Limit> result;
  for (const bool version2 : {false, true}) {
    const std::optional<std::string> path = cgroup_path(root, version2);
    if (!path) continue;
    for (const Mount& mount : cgroup_mounts(root, version2)) {
      const fs::path top = below(root, mount.point);
      fs::path relative = path_below_mount(*path, mount.root);
      std::error_code ignored;
      if (!fs::is_directory(top / relative, ignored)) relative = ".";
      for (fs::path at = relative; !at.empty() && at != "."; at = at.parent_path()) {
        if (const auto limit = limit_of(top / at, version2)) result.push_back(*limit);
      }
      if (const auto limit = limit_of(top, version2)) result.push_back(*limit);
    }
  }
  return result;
}

/// The number of a line "key: number kB", in bytes.
std::optional<std::uint64_t> read_kilobytes(const fs::path& file, std::string_view key) {
  const std::optional<std::uint64_t> kilobytes = read_field(file, key);
  if (!kilobytes || *kilobytes > absurd / 1024) return {};
  return *kilobytes * 1024;
}

}  // namespace

std::uint64_t available_memory(const fs::path& root) {
  const fs::path meminfo = root / "proc/meminfo";
  std::optional<std::uint64_t> available = read_kilobytes(meminfo, "MemAvailable:");
  if (!available) available = read_kilobytes(meminfo, "MemFree:");
  for (const Limit& limit : limits(root)) available = std::min(available.value_or(limit.left), limit.left);
  return available.value_or(0);
}

std::optional<std::uint64_t> memory_limit(const fs::path& root) {
  std::optional<std::uint64_t> tightest = read_kilobytes(root / "proc/meminfo", "MemTotal:");
  for (const Limit& limit : limits(root)) tightest = std::min(tightest.value_or(limit.limit), limit.limit);
  return tightest;
}

std::uint64_t peak_resident_memory(const fs::path& root) {
  return read_kilobytes(root / "proc/self/status", "VmHWM:").value_or(0);
}

}  // namespace xorder::io
