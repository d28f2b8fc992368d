// How a run accesses its files: the choice before the run, and the fallbacks.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "io/file.hpp"
#include "io/queue/queue.hpp"
#include "xorder/io/array_file.hpp"
#include "xorder/work/work.hpp"

namespace xorder::work {

/// What is known of a run's files before they are opened.
struct Circumstances {
  std::uint64_t memory = 0;
  std::uint64_t touched_memory = 0;  ///< the part of `memory` that other parts of the run also use
  io::Access source = io::Access::direct;
  io::Access target = io::Access::direct;
  std::uint64_t source_offset = 0;
  std::uint64_t target_offset = 0;
  std::uint64_t scratch_offset = 0;                                        ///< of data between two passes
  std::uint64_t scratch_room = std::numeric_limits<std::uint64_t>::max();  ///< disk space for scratch files
  std::uint64_t read_alignment = 1;
  bool keep_cached = false;  ///< leave the pages in memory, as cp would: all fits, and the input is small or
                             ///< already there

  /// The part of `memory` for buffers. A quarter is set aside for pages in use or in write-back, where these
  /// count.
  std::uint64_t buffers() const { return through_cache() ? memory / 4 * 3 : memory; }
  bool mapped() const { return source == io::Access::mapped; }
  /// Whether pages in use or in write-back count as memory of the run.
  bool through_cache() const { return !keep_cached && target != io::Access::direct; }
};

/// Chooses the access. `alone`: no other process takes part in the run. The files may stay in the page cache
/// if `working` bytes, those of all files including scratch files, fit in `memory`. Samples which pages of
/// the first input are cached.
Circumstances circumstances(std::span<const io::ArrayFile> inputs, const Destination& to, AccessChoice choice,
                            bool alone, std::uint64_t memory, std::uint64_t working);

/// The queue for these files. io_uring is for direct writes, but not within tmpfs. Threads suit buffered
/// writes better, because write-back blocks.
io::QueueKind queue_for(const io::File& source, const io::File& target);

/// Names the file whose access mode was refused, and the fallback. Empty if none was.
std::string fallback_note(const io::File& source, const io::File& target, const Circumstances& wanted);

}  // namespace xorder::work
