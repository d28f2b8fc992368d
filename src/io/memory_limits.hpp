// What /proc and the memory cgroups say, read below a root directory that tests can choose.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace xorder::io {

/// See available_memory(). Reads ROOT/proc and, below ROOT, where ROOT/proc/self/mountinfo says that cgroups
/// are mounted. What is missing or unreadable is taken as no limit; 0 if nothing at all is known.
std::uint64_t available_memory_below(const std::filesystem::path& root);
std::optional<std::uint64_t> cgroup_memory_limit_below(const std::filesystem::path& root);
std::uint64_t peak_resident_memory_below(const std::filesystem::path& root);

}  // namespace xorder::io
