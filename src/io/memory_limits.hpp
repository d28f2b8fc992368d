// Reads /proc and the memory cgroups below a root directory that tests can choose.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace xorder::io {

/// See available_memory(). Reads ROOT/proc and, below ROOT, the mount points of cgroups that
/// ROOT/proc/self/mountinfo lists. Missing or unreadable files mean no limit. 0 if nothing at all is known.
std::uint64_t available_memory_below(const std::filesystem::path& root);
std::optional<std::uint64_t> cgroup_memory_limit_below(const std::filesystem::path& root);
std::uint64_t peak_resident_memory_below(const std::filesystem::path& root);

}  // namespace xorder::io
