// Profiles of disks that were measured: one file for each file system, in the user's cache directory
// ($XDG_CACHE_HOME/xorder or ~/.cache/xorder).
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "xorder/plan/device.hpp"

namespace xorder::work {

/// Where the profile of the file system of `directory` is kept; empty if the user has no cache directory or the directory is
/// not there.
std::filesystem::path profile_path(const std::filesystem::path& directory);

/// The profile, or nothing if there is none. Throws InputError if it cannot be read or is damaged.
std::optional<plan::Device> load_profile(const std::filesystem::path& directory);

/// Writes it, in place of an older one; makes the cache directory. Returns where. Throws InputError if there is no place for
/// it, IoError.
std::filesystem::path save_profile(const std::filesystem::path& directory, const plan::Device& device);

/// "ssd", "hdd", or the profile in a file (plan::Device::parse has the format). Throws InputError.
plan::Device named_device(const std::string& name);

struct DeviceChoice {
  plan::Device device;
  std::string note;  ///< why it is not the measured one although there is one; or empty
};
/// The profile that was measured of the file system where a file is to be; Device::ssd() if there is none or it is damaged.
DeviceChoice device_for(const std::filesystem::path& file);

}  // namespace xorder::work
