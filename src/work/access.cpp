#include "work/access.hpp"

#include <algorithm>

#include "io/disk.hpp"
#include "io/page_cache/residency.hpp"

namespace xorder::work {

Circumstances circumstances(std::span<const io::ArrayFile> inputs, const Destination& to, AccessChoice choice,
                            bool alone, std::uint64_t memory, std::uint64_t working) {
  const io::ArrayFile& input = inputs.front();
  const bool automatic = choice == AccessChoice::automatic;
  const bool fits = working <= memory;
  const bool small = to.bytes <= io::small_file;
  Circumstances c{.memory = memory,
                  .source_offset = input.description.offset,
                  .target_offset = to.offset,
                  .keep_cached = fits && (small || io::mostly_cached(*input.file))};
  // Several processes that write one file must bypass the page cache, which belongs to one machine. Parts are
  // planned for direct access.
  if (choice == AccessChoice::mapped || (automatic && fits && small && alone)) {
    c.source = c.target = io::Access::mapped;
  } else if (automatic && c.keep_cached && !io::only_in_memory(input.file->plain_descriptor())) {
    c.source = io::Access::buffered;  // cached data need not be read from the disk
  }
  if (c.source == io::Access::direct) {
    const io::File probe = input.file->reopen(io::Access::direct, input.file->disk());
    c.read_alignment = std::max(probe.offset_alignment(), probe.memory_alignment());
  }
  return c;
}

io::QueueKind queue_for(const io::File& source, const io::File& target) {
  if (source.access() == io::Access::mapped) return io::QueueKind::mapped;
  if (io::only_in_memory(source.plain_descriptor()) && io::only_in_memory(target.plain_descriptor()))
    return io::QueueKind::in_memory;
  return target.access() == io::Access::direct && io::uring_available() ? io::QueueKind::uring
                                                                        : io::QueueKind::threads;
}

std::string fallback_note(const io::File& source, const io::File& target, const Circumstances& wanted) {
  const io::File* const other = source.access() != wanted.source   ? &source
                                : target.access() != wanted.target ? &target
                                                                   : nullptr;
  if (other == nullptr) return {};
  return other->name() + ": the file system refuses direct access; going through the page cache";
}

}  // namespace xorder::work
