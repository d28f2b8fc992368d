// How a run reaches its files: what the options and the input suggest, and what came of it.
#pragma once

#include <cstdint>
#include <string>

#include "io/file.hpp"
#include "io/queue.hpp"
#include "xorder/io/array_file.hpp"
#include "xorder/work/work.hpp"

namespace xorder::work {

/// What is known of the files before they are there.
struct Circumstances {
  std::uint64_t memory = 0;
  io::Access source = io::Access::direct;
  io::Access target = io::Access::direct;
  std::uint64_t source_offset = 0;
  std::uint64_t target_offset = 0;
  std::uint64_t read_alignment = 1;
  bool keep_cached = false;  ///< everything fits in memory: leave the pages there, as cp would

  bool mapped() const { return source == io::Access::mapped; }
  /// Whether pages that are in use and on their way to the disk count too.
  bool through_cache() const { return !keep_cached && target != io::Access::direct; }
};

/// For an input that is read whole and an output of the same size. Looks at the input's pages.
Circumstances circumstances(const io::ArrayFile& input, const Destination& to, const Options& options,
                            std::uint64_t memory);

/// The queue for these files: io_uring is for direct writes; threads suit buffered ones better, whose
/// write-back blocks.
io::Engine engine_for(const io::File& source, const io::File& target);

/// Which of the files is not accessed as was wanted, and what instead; empty if both are.
std::string fallback_note(const io::File& source, io::Access wanted_source, const io::File& target,
                          io::Access wanted_target);

/// Says in the report how the files are reached, and what was asked for and not to be had.
void tell_access(const io::File& source, const io::File& target, const Circumstances& wanted,
                 io::Engine engine, Report& report);

}  // namespace xorder::work
