// Profiles of disks that were measured: one file for each file system, in the user's cache directory
// ($XDG_CACHE_HOME/xorder or ~/.cache/xorder).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

#include "xorder/plan/device.hpp"

namespace xorder::work {

/// Where the profile of the file system of `directory` is kept; empty if the user has no cache directory or
/// the directory is not there.
std::filesystem::path profile_path(const std::filesystem::path& directory);

/// The profile, or nothing if there is none. Throws InputError if it cannot be read or is damaged.
std::optional<plan::Device> load_profile(const std::filesystem::path& directory);

/// Writes it, in place of an older one; makes the cache directory. Returns where. Throws InputError if there
/// is no place for it, IoError.
std::filesystem::path save_profile(const std::filesystem::path& directory, const plan::Device& device);

/// "ssd", "hdd", or the profile in a file (plan::Device::parse has the format). Throws InputError.
plan::Device named_device(const std::string& name);

/// What a profile of the file system of `directory` is called: where and when it was measured.
std::string profile_name(const std::filesystem::path& directory);

struct DeviceChoice {
  plan::Device device;
  bool measured = false;
  std::string note;  ///< why it is not the measured one although there is one; or empty
};
/// The profile that was measured of the file system where a file is to be; Device::ssd() if there is none or
/// it is damaged.
DeviceChoice device_for(const std::filesystem::path& file);

/// From so many bytes on, a second or two spent on measuring the disk does not matter.
inline constexpr std::uint64_t worth_learning = std::uint64_t{8} << 30;
/// Measures the file system where a file is to be, with a few requests of each kind: about a second, on a
/// spinning disk five. Keeps the profile where the user has a cache directory that can be written. Nothing
/// where the disk cannot be measured: no room for 256 MiB, no direct access, an error of the disk. Throws
/// Cancelled.
std::optional<plan::Device> learn_device(const std::filesystem::path& file, const std::stop_token& stop);

}  // namespace xorder::work
