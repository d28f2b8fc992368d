// What a plan is made for: the memory, the disk, the machine, and how the files are accessed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "xorder/plan/device.hpp"

namespace xorder::plan {

class SourceFiles;

/// The least memory that make_plan accepts.
inline constexpr std::uint64_t least_plan_memory = std::uint64_t{8} << 20;

/// Requests are no larger than this; longer runs are moved by several, one after the other.
inline constexpr std::uint64_t largest_request = std::uint64_t{1} << 20;

/// Bytes of requests in flight in one direction, at most. More only wait in the device's queue, and delay the
/// other direction. The disk is measured in the same way.
inline constexpr std::uint64_t most_bytes_in_flight = std::uint64_t{16} << 20;

/// The block of most file systems, and a page. What is written past the page cache is aligned to it, and so
/// are mapped windows.
inline constexpr std::uint64_t file_block = 4096;

/// What the machine's memory and processors can do.
struct Host {
  /// Memory that the system hands over for the first time and only has to zero. More may have to come from a
  /// virtual machine's host, which takes back what nobody has used for some seconds; that is as slow as a
  /// disk. Sometimes 64 to 512 MiB are at hand, after some idle seconds nothing need be. If only 8 MiB
  /// counted as ready, small files would go into one tile, which takes longer than two passes in small tiles.
  /// (Figures are in bench/file_bench.md, "Fresh memory".)
  std::uint64_t ready_memory = std::uint64_t{16} << 20;
  double ready_bytes_per_second = 3.5e9;
  /// Beyond the ready memory, by one thread. A long run measures it (io/measure/fresh_memory.hpp).
  double fresh_bytes_per_second = 0.5e9;
  /// So much of it is touched by the thread that starts transfers, which waits for it. Beyond that, threads
  /// that permute touch memory as they fill it, each its own.
  std::uint64_t touched_alone = std::uint64_t{64} << 20;
  unsigned most_touching_threads = 4;
  /// The rate of two copies of everything, from groups to tiles and from tiles to requests, while the disk
  /// works.
  double permuted_bytes_per_second = 3e9;
  /// The rate at which the file system takes back a scratch file: that of ext4 with discard.
  double freed_bytes_per_second = 9e9;
};

/// Restricts plans, to measure how good the choice among all is (bench/choice_bench.cpp).
struct Only {
  std::uint64_t least_read = 0, most_read = std::numeric_limits<std::uint64_t>::max();  ///< bytes of a block
  std::uint64_t least_written = 0, most_written = std::numeric_limits<std::uint64_t>::max();
  std::size_t passes = 0;  ///< 0: any number

  bool allows_blocks(std::uint64_t read, std::uint64_t written) const {
    return least_read <= read && read <= most_read && least_written <= written && written <= most_written;
  }
  bool allows_passes(std::size_t count) const { return passes == 0 || passes == count; }
};

/// One for all engines. work/frame.cpp makes it; a planner that sees only a part of the run, or tries other
/// figures, changes its own copy.
struct Setting {
  /// Bytes for everything: tiles, windows of requests, carried blocks. This is a limit; plans use less if
  /// more gains nothing.
  std::uint64_t memory = std::uint64_t{512} << 20;
  /// The part of the memory that an earlier pass has used. It is no longer fresh.
  std::uint64_t touched_memory = 0;
  /// How many processes share the tiles of a pass, each with this memory. Blocks at the edges of a share wait
  /// until its end.
  std::uint64_t processes = 1;
  unsigned threads = 1;  ///< of each process, that compute
  Device device = Device::ssd();
  /// What the first pass reads from, if that is another device.
  std::optional<Device> source{};
  Host host{};
  /// Where the data begins in the files, and the alignment of what the engine reads and writes, in the files
  /// and in memory (1: none).
  std::uint64_t source_offset = 0;
  /// How the elements lie from there on, if they do not simply follow each other in one file. Only the tile
  /// engine reads such inputs.
  std::shared_ptr<const SourceFiles> strided{};
  std::uint64_t target_offset = 0;
  /// The bytes of the output in each of its files, if it has several; otherwise 0. Only the tile engine
  /// writes such outputs.
  std::uint64_t target_part = 0;
  std::uint64_t scratch_offset = 0;
  /// Disk space for scratch files.
  std::uint64_t scratch_room = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t read_alignment = 1;
  std::uint64_t write_alignment = 1;
  bool mapped = false;       ///< files are mapped, in windows or in whole blocks
  bool keep_cached = false;  ///< their pages stay in memory, and are not the run's
  /// The size a group should have, about. It fits the shared cache a few times over, and gives a tile's runs
  /// pieces of some cache lines.
  std::uint64_t group_bytes = std::uint64_t{4} << 20;
  /// The size a chunk should have, about. It is small, so that little of a tile's memory waits to be filled.
  std::uint64_t chunk_bytes = 4096;
  Only only{};  ///< everything

  /// Whether pages in use or in write-back count as memory of the run.
  bool through_cache() const { return mapped && !keep_cached; }
  /// The part of `memory` for buffers. A quarter is set aside for pages, where these count.
  std::uint64_t buffers() const { return through_cache() ? memory / 4 * 3 : memory; }

  Setting with_memory(std::uint64_t bytes) const {
    Setting other = *this;
    other.memory = bytes;
    return other;
  }
  /// Of a part of the run that reads the input only if it is the `first`, and makes the output only if it is
  /// the `last`. Otherwise it reads or writes a scratch file.
  Setting part(bool first, bool last) const {
    Setting here = *this;
    if (!first) here.source_offset = scratch_offset, here.source.reset(), here.strided.reset();
    if (!last) here.target_offset = scratch_offset, here.target_part = 0;
    return here;
  }
  /// The same for a single pass, whose device also reads like the source.
  Setting pass(bool first, bool last) const {
    Setting here = part(first, last);
    if (here.source) here.device = device.reading_from(*std::exchange(here.source, std::nullopt));
    return here;
  }
};

}  // namespace xorder::plan
