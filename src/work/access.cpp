#include "work/access.hpp"

#include <algorithm>

#include "io/residency.hpp"

namespace xorder::work {

std::string fallback_note(const io::File& source, io::Access wanted_source, const io::File& target,
                          io::Access wanted_target) {
  const io::File* const other = source.access() != wanted_source   ? &source
                                : target.access() != wanted_target ? &target
                                                                   : nullptr;
  if (other == nullptr) return {};
  return other->name() + ": the file system refuses direct access; going through the page cache";
}

Circumstances circumstances(const io::ArrayFile& input, const Destination& to, const Options& options,
                            std::uint64_t memory) {
  const io::File probe = io::File::open_input(input.path, io::Access::direct);
  const bool automatic = options.engine == EngineChoice::automatic;
  const bool fits = to.bytes <= memory / 2;
  const bool small = to.bytes <= io::small_file;
  Circumstances c{.memory = memory,
                  .source_offset = input.description.offset,
                  .target_offset = to.header.size(),
                  .keep_cached = fits && (small || io::mostly_cached(probe))};
  if (options.engine == EngineChoice::mapped || (automatic && fits && small)) {
    c.source = c.target = io::Access::mapped;
  } else if (automatic && c.keep_cached) {
    c.source = io::Access::buffered;  // what is in memory need not be read from the disk
  }
  if (c.source == io::Access::direct) {
    c.read_alignment = std::max(probe.offset_alignment(), probe.memory_alignment());
  }
  return c;
}

io::Engine engine_for(const io::File& source, const io::File& target) {
  if (source.access() == io::Access::mapped) return io::Engine::mapped;
  return target.access() == io::Access::direct && io::uring_available() ? io::Engine::uring
                                                                        : io::Engine::threads;
}

void tell_access(const io::File& source, const io::File& target, const Circumstances& wanted,
                 io::Engine engine, Report& report) {
  report.access = name(target.access());
  if (report.note.empty()) report.note = fallback_note(source, wanted.source, target, wanted.target);
  if (report.note.empty() && engine == io::Engine::threads)
    report.note = "io_uring is forbidden here; using a pool of threads";
}

}  // namespace xorder::work
