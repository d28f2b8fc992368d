// How a run reaches its files: what the options and the input suggest, and what came of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "io/file.hpp"
#include "io/queue.hpp"
#include "xorder/io/array_file.hpp"
#include "xorder/work/work.hpp"

namespace xorder::work {

/// What is known of the files before they are there.
struct Circumstances {
  std::uint64_t memory = 0;
  std::uint64_t touched_memory = 0;  ///< of `memory`, what other parts of the run use too
  io::Access source = io::Access::direct;
  io::Access target = io::Access::direct;
  std::uint64_t source_offset = 0;
  std::uint64_t target_offset = 0;
  std::uint64_t read_alignment = 1;
  bool keep_cached = false;  ///< everything fits in memory: leave the pages there, as cp would

  /// Of `memory`, what is left for buffers where pages that are in use and on their way to the disk count
  /// too.
  std::uint64_t buffers() const { return through_cache() ? memory / 4 * 3 : memory; }
  bool mapped() const { return source == io::Access::mapped; }
  /// Whether pages that are in use and on their way to the disk count too.
  bool through_cache() const { return !keep_cached && target != io::Access::direct; }
};

/// For files that stay in the page cache if `working` bytes, theirs and what lies between, fit in `memory`.
/// Looks at the first input's pages.
Circumstances circumstances(std::span<const io::ArrayFile> inputs, const Destination& to,
                            const Options& options, std::uint64_t memory, std::uint64_t working);

/// The queue for these files: io_uring is for direct writes; threads suit buffered ones better, whose
/// write-back blocks.
io::Engine engine_for(const io::File& source, const io::File& target);

/// What was asked for and is not to be had: which of the files is not accessed as was wanted, and what
/// instead. Empty if there is nothing to say.
std::string fallback_note(const io::File& source, const io::File& target, const Circumstances& wanted);

}  // namespace xorder::work
