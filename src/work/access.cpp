#include "work/access.hpp"

#include <algorithm>

#include "io/disk.hpp"
#include "io/page_cache/residency.hpp"
#include "work/team.hpp"

namespace xorder::work {

FileAccess choose_access(const io::ArrayFile& input, const Destination& to, AccessChoice choice, bool alone,
                         std::uint64_t memory, std::uint64_t working) {
  const bool automatic = choice == AccessChoice::automatic;
  const bool fits = working <= memory;
  const bool small = to.bytes <= io::small_file;
  FileAccess access{.keep_cached = fits && (small || io::mostly_cached(*input.file))};
  // Several processes that write one file must bypass the page cache, which belongs to one machine. Parts are
  // planned for direct access.
  if (choice == AccessChoice::mapped || (automatic && fits && small && alone)) {
    access.source = access.target = io::Access::mapped;
  } else if (automatic && access.keep_cached && !io::only_in_memory(input.file->plain_descriptor())) {
    access.source = io::Access::buffered;  // cached data need not be read from the disk
  }
  if (access.source == io::Access::direct) {
    const io::File probe = input.file->reopen(io::Access::direct, input.file->disk());
    access.read_alignment = std::max(probe.offset_alignment(), probe.memory_alignment());
  }
  return access;
}

bool adopt_alignments(plan::Setting& setting, std::span<const io::Location> sources,
                      std::span<const io::Location> targets, Team* team) {
  std::uint64_t read = setting.read_alignment, write = setting.write_alignment;
  for (const auto& [file, offset] : sources)
    read = std::max<std::uint64_t>({read, file.offset_alignment(), file.memory_alignment()});
  for (const auto& [file, offset] : targets)
    write = std::max<std::uint64_t>({write, file.write_alignment(), file.memory_alignment()});
  if (team != nullptr) read = team->most(read), write = team->most(write);
  const bool larger = read != setting.read_alignment || write != setting.write_alignment;
  setting.read_alignment = read;
  setting.write_alignment = write;
  return larger;
}

io::QueueKind queue_for(const io::File& source, const io::File& target) {
  if (source.access() == io::Access::mapped) return io::QueueKind::mapped;
  if (io::only_in_memory(source.plain_descriptor()) && io::only_in_memory(target.plain_descriptor()))
    return io::QueueKind::in_memory;
  return target.access() == io::Access::direct && io::uring_available() ? io::QueueKind::uring
                                                                        : io::QueueKind::threads;
}

std::string fallback_note(const io::File& source, const io::File& target, const FileAccess& wanted) {
  const io::File* const other = source.access() != wanted.source   ? &source
                                : target.access() != wanted.target ? &target
                                                                   : nullptr;
  if (other == nullptr) return {};
  return other->name() + ": the file system refuses direct access; going through the page cache";
}

}  // namespace xorder::work
