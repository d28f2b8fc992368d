// The order `diagonals`: record k of the file becomes record B − 1 − k, shifted.
//
// The target is made part by part. The sources of a part are one or a few ranges of the file.
#include <cstring>

#include "band/mover.hpp"
#include "io/memory.hpp"
#include "rounding.hpp"

namespace xorder::band {
namespace {

using std::uint64_t;

class ShiftMover final : public Mover {
 public:
  explicit ShiftMover(const plan::BandShifts& plan) : plan_(plan) {}

  unsigned lanes() const override { return plan_.lanes(); }
  LaneSteps steps(io::Location source, io::Location target, BlockWriter& writer) override;

 private:
  /// Memory for a part, with the same address modulo the alignment as in the file.
  std::byte* target_memory(uint64_t part) const {
    return targets_.data() + part % plan_.lanes() * plan_.target_bytes() + (part == 0 ? plan_.skew() : 0);
  }
  void read(uint64_t part, Lane& lane, io::Location source);
  void write(uint64_t part, Lane& lane, io::Location target, BlockWriter& writer);

  plan::BandShifts plan_;
  io::BlockMemory sources_, targets_;
};

LaneSteps ShiftMover::steps(io::Location source, io::Location target, BlockWriter& writer) {
  sources_ = io::BlockMemory(plan_.lanes() * plan_.source_bytes());
  targets_ = io::BlockMemory(plan_.lanes() * plan_.target_bytes());
  return {.count = plan_.parts(),
          .read = [this, source](uint64_t part, Lane& lane) { read(part, lane, source); },
          .permute = [](uint64_t) {},
          .write = [this, target, &writer](uint64_t part, Lane& lane) { write(part, lane, target, writer); }};
}

void ShiftMover::read(uint64_t part, Lane& lane, io::Location source) {
  const uint64_t first = plan_.begin(part), alignment = plan_.conditions().read_alignment;
  std::byte* const target = target_memory(part);
  std::byte* const memory = sources_.data() + part % plan_.lanes() * plan_.source_bytes();

  const auto ranges = plan_.ranges(part);
  std::memset(target, 0, plan_.end(part) - first);
  std::vector<const std::byte*> data(ranges.size());
  for (std::size_t done = 0, next = 0; done < ranges.size(); done = next) {
    // Reads as many ranges at a time as fit in memory: all of them, unless there are many small ones.
    for (std::byte* free = memory; next < ranges.size(); ++next) {
      const uint64_t bytes = ranges[next].end - ranges[next].begin;
      const uint64_t needed = round_up(bytes + 2 * alignment, alignment);
      if (needed > plan_.source_bytes() - static_cast<uint64_t>(free - memory)) break;
      const uint64_t offset = source.offset + ranges[next].begin;
      data[next] = read_around(lane, source.file, offset, bytes, free, alignment);
      free += needed;
    }
    lane.complete();
    for (; done < next; ++done) {
      for (const plan::BandCopy& copy : ranges[done].copies) {
        std::memcpy(target + (copy.target - first), data[done] + (copy.source - ranges[done].begin),
                    copy.bytes);
      }
    }
  }
}

void ShiftMover::write(uint64_t part, Lane& lane, io::Location target, BlockWriter& writer) {
  writer.write(lane, target.offset + plan_.begin(part), target_memory(part),
               plan_.end(part) - plan_.begin(part));
}

}  // namespace

std::unique_ptr<Mover> make_mover(const plan::BandShifts& plan) { return std::make_unique<ShiftMover>(plan); }

}  // namespace xorder::band
