#include "work/profiles.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include "io/disk.hpp"
#include "io/format/text_file.hpp"
#include "io/measure/measure_disk.hpp"
#include "io/measure/seeks.hpp"
#include "io/mounts.hpp"
#include "io/output.hpp"
#include "io/page_cache/residency.hpp"
#include "text/seconds_text.hpp"
#include "work/notes.hpp"
#include "xorder/error.hpp"

namespace xorder::work {
namespace {

namespace fs = std::filesystem;
using std::uint64_t;

// The XDG base directory specification says to ignore relative paths.
fs::path cache_directory() {
  if (const char* given = std::getenv("XDG_CACHE_HOME"); given != nullptr && fs::path(given).is_absolute())
    return fs::path(given) / "xorder";
  if (const char* home = std::getenv("HOME"); home != nullptr && fs::path(home).is_absolute())
    return fs::path(home) / ".cache" / "xorder";
  return {};
}

// The directory that the file is in; if `file` is a link to one that exists, the directory of that.
fs::path directory_of(const fs::path& file) {
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  const fs::path& at = error ? file : real;
  return at.has_parent_path() ? at.parent_path() : fs::path(".");
}

}  // namespace

fs::path profile_path(const fs::path& directory) {
  const fs::path cache = cache_directory();
  struct statvfs system {};
  struct stat there {};
  if (cache.empty() || statvfs(directory.c_str(), &system) != 0 || stat(directory.c_str(), &there) != 0)
    return {};
  const std::string key = file_system_key(system.f_fsid, there.st_dev);
  return key.empty() ? fs::path() : cache / fmt::format("disk-{}.json", key);
}

std::string file_system_key(uint64_t id, uint64_t device, const fs::path& root) {
  if (id != 0) return fmt::format("{:016x}", id);
  const std::string numbers = fmt::format("{}:{}", major(device), minor(device));
  for (const io::Mount& mount : io::mounts(root)) {
    if (mount.device != numbers) continue;
    std::string key = mount.type + '-' + mount.source;
    for (char& c : key) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      if (!plain && c != '.' && c != '_') c = '-';
    }
    return mount.source.empty() ? std::string() : key.substr(0, 200);
  }
  return {};
}

std::optional<plan::Device> load_profile(const fs::path& directory) {
  const fs::path path = profile_path(directory);
  std::error_code ignored;
  if (path.empty() || !fs::is_regular_file(path, ignored)) return std::nullopt;
  return plan::Device::parse(io::read_text(path), path.string());
}

fs::path save_profile(const fs::path& directory, const plan::Device& device) {
  const fs::path path = profile_path(directory);
  if (path.empty())
    throw InputError(directory.string() + ": no place for its profile: " +
                     (cache_directory().empty() ? "neither XDG_CACHE_HOME nor HOME is set"
                                                : "its file system has no identifier"));
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) throw IoError(path.parent_path().string(), "mkdir", error.value());
  const std::string text = device.text();
  constexpr bool overwrite = true;
  io::Output output(path, text.size(), overwrite, io::Access::buffered, io::system_disk(), nullptr);
  output.file().write_exactly(text.data(), text.size(), 0);
  output.commit();
  return path;
}

std::optional<plan::Device> built_in_device(const std::string& name) {
  for (plan::Device device : {plan::Device::ssd(), plan::Device::hdd(), plan::Device::tmpfs()}) {
    if (device.name == name) return device;
  }
  return std::nullopt;
}

plan::Device named_device(const std::string& name) {
  if (auto device = built_in_device(name)) return *std::move(device);
  std::string text;
  try {
    text = io::read_text(name);
  } catch (const InputError& e) {
    throw InputError(fmt::format("{}; a device is ssd, hdd, tmpfs or the file of a profile", e.what()),
                     e.code());
  }
  return plan::Device::parse(text, name);
}

std::string profile_name(const fs::path& directory) {
  return fmt::format("the disk of {}, measured {:%Y-%m-%d}", io::mount_point(directory).string(),
                     fmt::gmtime(std::time(nullptr)));
}

DeviceChoice device_for(const fs::path& file) {
  const fs::path directory = directory_of(file);
  const bool in_memory = io::only_in_memory(directory);
  plan::Device usual = in_memory ? plan::Device::tmpfs() : plan::Device::ssd();
  try {
    if (auto device = load_profile(directory)) return {*std::move(device), true, true, {}};
  } catch (const Error& e) {
    const std::string note = fmt::format("{}; using {}", e.what(), usual.name);
    return {std::move(usual), true, false, note};
  }
  return {std::move(usual), in_memory, false, {}};
}

namespace {

bool same_file_system(const io::File& input, const fs::path& output) {
  struct stat source, beside;
  return fstat(input.plain_descriptor(), &source) != 0 || stat(directory_of(output).c_str(), &beside) != 0 ||
         source.st_dev == beside.st_dev;
}

bool spins(const io::File& input) {
  return input.size() > io::small_file && io::said_to_spin(input) &&
         io::read_times(input).value_or(io::ReadTimes{}).of_spinning_disk();
}

}  // namespace

Disks disks_of(const io::File& input, const fs::path& output) {
  DeviceChoice target = device_for(output);
  const bool same = same_file_system(input, output);
  // Scratch files in tmpfs would take memory. (And runs from a disk into tmpfs gain nothing by the disk's
  // price of reads.)
  if (!same && io::only_in_memory(directory_of(output)))
    return {std::move(target.device), {}, target.measured, target.note};
  DeviceChoice source = same ? target : device_for(input.name());
  if (!source.known && spins(input)) {
    source.device = plan::Device::hdd();
    if (same) target.device = source.device;
    source.note = fmt::format(
        "{}: seeks are slow; planning for a spinning disk (xorder bench disk measures it)", input.name());
  }
  Disks disks{std::move(target.device), {}, target.measured, std::move(target.note)};
  add_note(disks.note, source.note);
  if (source.device != disks.target) disks.source = std::move(source.device);
  return disks;
}

std::string prediction_note(const plan::Device& device, double predicted_seconds, double seconds) {
  constexpr double too_much = 1.5, worth_saying = 10;
  const auto [less, more] = std::minmax(predicted_seconds, seconds);
  if (more < worth_saying || more < too_much * less) return {};
  return fmt::format(
      "it took {} instead of the {} predicted for {}; unless something else made it {}, measure the disk "
      "again: xorder bench disk",
      seconds_text(seconds), seconds_text(predicted_seconds), device.name,
      seconds > predicted_seconds ? "slow" : "fast");
}

std::optional<plan::Device> learn_device(const fs::path& file, const std::stop_token& stop) {
  const fs::path directory = directory_of(file);
  std::vector<plan::Device::Point> points;
  try {
    io::DiskTrials trials(directory, {.file_bytes = uint64_t{128} << 20, .seconds = 0.1, .stop = stop});
    for (const uint64_t block : {uint64_t{4} << 10, uint64_t{64} << 10, uint64_t{1} << 20})
      points.push_back({block, trials.reads(block), trials.writes(block), trials.both(block)});
  } catch (const Cancelled&) {
    throw;
  } catch (const Error&) {  // such as no room or no direct access; the run itself may need neither
    return std::nullopt;
  }
  plan::Device device = io::profile_of(profile_name(directory), std::move(points));
  try {
    save_profile(directory, device);
  } catch (const Error&) {  // still good for this run
  }
  return device;
}

}  // namespace xorder::work
