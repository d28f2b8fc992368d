// How a run accesses its files: the choice before the run, and the fallbacks.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "io/file.hpp"
#include "io/queue/queue.hpp"
#include "plan/setting.hpp"
#include "xorder/io/array_file.hpp"
#include "xorder/work/work.hpp"

namespace xorder::work {

class Team;

/// What is known of a run's files before they are opened.
struct FileAccess {
  io::Access source = io::Access::direct;
  io::Access target = io::Access::direct;
  std::uint64_t read_alignment = 1;
  bool keep_cached = false;  ///< leave the pages in memory, as cp would: all fits, and the input is small or
                             ///< already there

  bool mapped() const { return source == io::Access::mapped; }
};

/// Chooses the access. `alone`: no other process takes part in the run. The files may stay in the page cache
/// if `working` bytes, those of all files including scratch files, fit in `memory`. Samples which pages of
/// the first input are cached.
FileAccess choose_access(const io::ArrayFile& input, const Destination& to, AccessChoice choice, bool alone,
                         std::uint64_t memory, std::uint64_t working);

/// Opened files may need larger alignments than were assumed before. Adopts the largest of all, in a team
/// those of all members, and returns whether that changes the setting. Collective in a team.
bool adopt_alignments(plan::Setting& setting, std::span<const io::Location> sources,
                      std::span<const io::Location> targets, Team* team);

/// The queue for these files. io_uring is for direct writes, but not within tmpfs. Threads suit buffered
/// writes better, because write-back blocks.
io::QueueKind queue_for(const io::File& source, const io::File& target);

/// Names the file whose access mode was refused, and the fallback. Empty if none was.
std::string fallback_note(const io::File& source, const io::File& target, const FileAccess& wanted);

}  // namespace xorder::work
