// How fast this machine hands out memory.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace xorder::io {

/// How long it took to get each of some pieces of memory.
struct FreshMemory {
  static constexpr std::size_t piece_bytes = std::size_t{2} << 20;

  std::vector<double> seconds;
  /// On a virtual machine, pieces that come fast say nothing about later ones: some memory is at hand, and
  /// more may have to come from the host.
  bool virtual_machine = true;

  /// Bytes per second, by one thread, of the memory that is not at hand. A power of two, so that plans differ
  /// only between machines that differ. Nothing if all was at hand and that says nothing. Pure.
  std::optional<double> rate() const;
};

/// Touches 80 MiB and gives them back, so that the run finds them at hand. Takes 0.2 s at worst that was
/// seen; 0.01 s where the memory only has to be cleared. Throws std::bad_alloc.
FreshMemory touch_fresh_memory();
inline constexpr std::size_t touched_fresh_memory = 40 * FreshMemory::piece_bytes;

}  // namespace xorder::io
