// How much memory is available, and memory for blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace xorder::io {

/// Bytes of memory that this process may still use: MemAvailable of /proc/meminfo, or less if a memory cgroup
/// around this process (version 1 or 2, any ancestor) leaves less. Page cache that a cgroup can drop counts
/// as available. 0 if nothing is known. Reads ROOT/proc and, below ROOT, the mount points of cgroups that
/// ROOT/proc/self/mountinfo lists; tests choose another root. Missing or unreadable files mean no limit.
std::uint64_t available_memory(const std::filesystem::path& root = "/");
/// The machine's memory, or the tightest memory cgroup's limit if that is less. Nothing if neither is known.
std::optional<std::uint64_t> memory_limit(const std::filesystem::path& root = "/");
/// The most memory this process has had resident (VmHWM), in bytes.
std::uint64_t peak_resident_memory(const std::filesystem::path& root = "/");

/// Zeroed, page-aligned memory in huge pages where the system gives them.
class BlockMemory {
 public:
  enum class Resident { at_once, as_used };
  /// No more than this is made resident at once. Clearing more would take too long.
  static constexpr std::size_t most_at_once = std::size_t{64} << 20;

  BlockMemory() = default;
  /// From 2 MiB to most_at_once the memory is resident at once, if that is wanted. Throws std::bad_alloc.
  explicit BlockMemory(std::size_t bytes, Resident resident = Resident::at_once);
  ~BlockMemory();
  BlockMemory(BlockMemory&& other) noexcept;
  BlockMemory& operator=(BlockMemory&& other) noexcept;

  /// The bytes [begin, end) are about to be used. From 2 MiB of memory on, makes them resident, in whole huge
  /// pages: memory that is never used costs no time then, and the rest while transfers are in flight. Returns
  /// up to where it need not be called any more.
  std::size_t use(std::size_t begin, std::size_t end);

  /// Empty from now on. The memory stays until the process ends, for transfers that nobody can wait for.
  void abandon() {
    data_ = nullptr;
    bytes_ = 0;
  }

  std::byte* data() const { return data_; }
  std::size_t size() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace xorder::io
