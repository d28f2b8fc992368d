// Measured device profiles: one file for each file system, in the user's cache directory
// ($XDG_CACHE_HOME/xorder or ~/.cache/xorder).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

#include "io/file.hpp"
#include "xorder/plan/device.hpp"

namespace xorder::work {

/// Where the profile of the file system of `directory` is kept. Empty if the user has no cache directory,
/// `directory` does not exist, or its file system has no identifier.
std::filesystem::path profile_path(const std::filesystem::path& directory);

/// What the profile's file is named after: the file system's id, or if it has none (NFS, FUSE) its type and
/// source, as in "nfs4 server:/export" with - for all but letters, digits, dots and underscores. Empty if it
/// has neither. `root` is as for io::mounts().
std::string file_system_key(std::uint64_t id, std::uint64_t device, const std::filesystem::path& root = "/");

/// The profile, or nothing if there is none. Throws InputError or IoError if it cannot be read, and
/// InputError if it is damaged.
std::optional<plan::Device> load_profile(const std::filesystem::path& directory);

/// Writes the profile, replacing an older one. Makes the cache directory if needed. Returns the path. Throws
/// InputError if there is no place for it, and IoError.
std::filesystem::path save_profile(const std::filesystem::path& directory, const plan::Device& device);

/// The device of that name, if it is "ssd", "hdd" or "tmpfs".
std::optional<plan::Device> built_in_device(const std::string& name);

/// The device of that name: a built-in one, or a file that holds a profile (plan::Device::parse has
/// the format). Throws InputError.
plan::Device named_device(const std::string& name);

/// The name of a profile that is measured in `directory` now: where its file system is mounted, and the date.
std::string profile_name(const std::filesystem::path& directory);

struct DeviceChoice {
  plan::Device device;
  bool known = false;     ///< it was measured, or need not be
  bool measured = false;  ///< it is a profile that was kept
  std::string note;       ///< why an existing profile does not apply, or empty
};
/// The measured profile of the file system that `file` is on. If there is none or it is damaged,
/// Device::tmpfs() within tmpfs and Device::ssd() elsewhere.
DeviceChoice device_for(const std::filesystem::path& file);

/// What a run reads and writes.
struct Disks {
  /// Of the output and of scratch files.
  plan::Device target;
  /// Of the input, if it is on another file system and its device differs.
  std::optional<plan::Device> source{};
  /// The target's device is a profile that was kept.
  bool measured = false;
  /// Why no measured profile applies, or empty.
  std::string note{};
};
/// What device_for() says of both files. But the input's disk, if nobody has measured it, is hdd() if it is
/// said to spin and 32 reads of `input` show that it does. A small file is not tried.
Disks disks_of(const io::File& input, const std::filesystem::path& output);

/// What to say after a run that was planned with a kept profile and took half as long again as predicted, or
/// was predicted to take half as long again as it took. Empty otherwise, and for runs of a few seconds, which
/// vary by chance.
std::string prediction_note(const plan::Device& device, double predicted_seconds, double seconds);

/// From this many bytes on, a second or two for measuring the disk does not matter.
inline constexpr std::uint64_t worth_learning = std::uint64_t{8} << 30;
/// Measures the file system that `file` will be on, with a few requests of each kind. Takes about a second,
/// on a spinning disk five. Saves the profile if the user's cache directory can be written. Returns nothing
/// if the disk cannot be measured: no room for 256 MiB, no direct access, a disk error. Throws Cancelled.
std::optional<plan::Device> learn_device(const std::filesystem::path& file, const std::stop_token& stop);

}  // namespace xorder::work
