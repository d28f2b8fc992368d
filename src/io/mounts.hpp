// The file systems that this process sees.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace xorder::io {

struct Mount {
  std::string device;   ///< "MAJOR:MINOR", st_dev of its files
  std::string root;     ///< the part of the file system that is mounted
  std::string point;    ///< where
  std::string type;     ///< such as "ext4"
  std::string source;   ///< such as "/dev/vda" or "server:/export"
  std::string options;  ///< of the file system
};

/// Reads ROOT/proc/self/mountinfo; tests choose another root. Empty if there is none.
std::vector<Mount> mounts(const std::filesystem::path& root = "/");

/// Where the file system that has `path` is mounted, or the whole path if nothing says so.
std::filesystem::path mount_point(const std::filesystem::path& path, const std::filesystem::path& root = "/");

}  // namespace xorder::io
