// How much memory is available, and memory for blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace xorder::io {

/// Bytes of memory that this process may still use: MemAvailable of /proc/meminfo, or less if a memory cgroup
/// around this process (version 1 or 2, any ancestor) leaves less. Page cache that a cgroup can drop counts
/// as available. 0 if nothing is known.
std::uint64_t available_memory();
/// The tightest memory cgroup's limit, or nothing if there is none.
std::optional<std::uint64_t> cgroup_memory_limit();
/// The most memory this process has had resident (VmHWM), in bytes.
std::uint64_t peak_resident_memory();

/// Zeroed, page-aligned memory in huge pages where the system gives them. Throws std::bad_alloc.
class BlockMemory {
 public:
  BlockMemory() = default;
  explicit BlockMemory(std::size_t bytes);
  ~BlockMemory();
  BlockMemory(BlockMemory&& other) noexcept;
  BlockMemory& operator=(BlockMemory&& other) noexcept;

  std::byte* data() const { return data_; }
  std::size_t size() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace xorder::io
