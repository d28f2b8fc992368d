#include "verify/reading.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>

#include "io/disk.hpp"
#include "kernel/unpack.hpp"
#include "plan/setting.hpp"
#include "rounding.hpp"
#include "run/executor.hpp"
#include "run/numbers.hpp"
#include "text/size_text.hpp"
#include "work/access.hpp"
#include "xorder/error.hpp"

namespace xorder::verify {
namespace {

using std::size_t;
using std::uint64_t;

// How the sequence of an array's bytes is cut into units, and the memory of one of them: what is read for it,
// whole blocks, and behind that its elements, if they have to be put together.
struct Cut {
  uint64_t unit_bytes = plan::largest_request, read_bytes = 0, slot_bytes = 0;
  size_t slots = 0;
};

constexpr size_t most_slots = 24;

Cut cut(const Stored& array, uint64_t alignment, uint64_t memory) {
  Cut cut;
  const uint64_t least = array.layout ? array.layout->unit_bytes() : 1;
  for (;; cut.unit_bytes /= 2) {
    cut.unit_bytes = std::max(least, round_down(cut.unit_bytes, least));
    const uint64_t spans = array.layout ? array.layout->most_spans(cut.unit_bytes) : 1;
    cut.read_bytes = array.layout ? array.layout->most_bytes_read(cut.unit_bytes) : cut.unit_bytes;
    cut.read_bytes += 2 * spans * alignment;
    cut.slot_bytes = round_up(cut.read_bytes, plan::file_block) + (array.layout ? cut.unit_bytes : 0);
    cut.slot_bytes = round_up(cut.slot_bytes, plan::file_block);
    if (cut.slot_bytes * 4 <= memory || cut.unit_bytes == least) break;
  }
  cut.slots = static_cast<size_t>(std::min<uint64_t>(most_slots, memory / cut.slot_bytes));
  if (cut.slots == 0)
    throw InputError(fmt::format("{} of memory is too little: an element takes {}", size_text(memory),
                                 size_text(cut.slot_bytes)));
  return cut;
}

uint64_t alignment_of(const std::vector<io::Location>& files) {
  uint64_t most = 1;
  for (const auto& [file, offset] : files)
    most = std::max<uint64_t>({most, file.offset_alignment(), file.memory_alignment()});
  return most;
}

// Each unit is a step of its own, which writes nothing.
class Reading final : public run::Pass {
 public:
  Reading(const Stored& array, const Take& take, const Cut& cut, uint64_t alignment, std::byte* memory)
      : array_(array),
        take_(take),
        cut_(cut),
        rules_{.read_alignment = alignment, .read_bytes = plan::largest_request, .decodes = true},
        memory_(memory),
        free_(cut.slots),
        places_(cut.slots) {}

  const run::Rules& rules() const override { return rules_; }

  Next next_unit(run::Unit& unit) override {
    if (next_ == array_.bytes) return Next::end;
    if (free_.available() == 0) return Next::later;
    unit.slot = free_.take();
    Place& place = places_[unit.slot];
    // Of elements that follow each other, units end where requests of whole blocks do.
    const uint64_t within = array_.layout ? 0 : (array_.files[0].offset + next_) % cut_.unit_bytes;
    place.begin = next_;
    place.bytes = std::min(cut_.unit_bytes - within, array_.bytes - next_);
    place.spans.clear();
    next_ += place.bytes;
    std::byte* to = slot(unit);
    const auto add = [&](size_t file, uint64_t at, uint64_t bytes) {
      const uint64_t offset = array_.files[file].offset + at, from = offset % rules_.read_alignment;
      unit.reads.push_back({&array_.files[file].file, offset, bytes, to + from});
      place.spans.push_back(to + from);
      to += round_up(from + bytes, rules_.read_alignment);
    };
    if (!array_.layout)
      add(0, place.begin, place.bytes);
    else
      array_.layout->for_each_box(
          place.begin, place.bytes,
          [&](size_t file, const plan::StridedSource&, const plan::StridedSource::Box& box) {
            add(file, box.begin, box.bytes);
          });
    return Next::ready;
  }

  void decode(run::Unit& unit) override {
    const Place& place = places_[unit.slot];
    const std::byte* const* spans = place.spans.data();
    const std::byte* const data =
        array_.layout ? kernel::unpack_run(*array_.layout, place.begin, place.bytes, spans,
                                           slot(unit) + round_up(cut_.read_bytes, plan::file_block))
                      : *spans;
    take_(place.begin, data, place.bytes);
  }

  void decoded(run::Unit& unit) override { free_.give_back(unit.slot); }
  Next next_write(uint64_t, run::Write&) override { return Next::end; }

 private:
  struct Place {
    uint64_t begin = 0, bytes = 0;
    std::vector<const std::byte*> spans;
  };
  std::byte* slot(const run::Unit& unit) const { return memory_ + unit.slot * cut_.slot_bytes; }

  const Stored& array_;
  const Take& take_;
  const Cut& cut_;
  run::Rules rules_;
  std::byte* memory_;
  run::Numbers free_;
  std::vector<Place> places_;
  uint64_t next_ = 0;
};

}  // namespace

io::File opened_past_cache(const io::File& file, io::Disk& disk) {
  io::File again = file.reopen(io::Access::direct, disk);
  if (again.access() != io::Access::direct)
    disk.advise(again.plain_descriptor(), 0, again.size(), POSIX_FADV_DONTNEED);
  return again;
}

void read(const Stored& array, const Take& take, const Means& means) {
  if (array.bytes == 0) return;
  const uint64_t alignment = alignment_of(array.files);
  const Cut units = cut(array, alignment, means.memory);
  io::BlockMemory memory(units.slots * units.slot_bytes, io::BlockMemory::Resident::as_used);
  const io::File& file = array.files[0].file;
  const auto queue = file.disk().queue(work::queue_for(file, file), 2 * most_slots);
  Reading reading(array, take, units, alignment, memory.data());
  io::Carry nothing(0, 0, 1, 0);
  run::execute(reading, nothing, *queue, {memory, means.workers, means.tick, means.stop});
}

}  // namespace xorder::verify
