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

class ShiftMover final : public LaneSteps {
 public:
  ShiftMover(const plan::BandShifts& plan, const Route& route)
      : plan_(plan),
        route_(route),
        sources_(plan.lanes() * plan.source_bytes()),
        targets_(plan.lanes() * plan.target_bytes()) {}

  uint64_t count() const override { return plan_.parts(); }
  void read(uint64_t part, Lane& lane) override;
  void permute(uint64_t) override {}
  void write(uint64_t part, Lane& lane) override;

 private:
  /// Memory for a part, with the same address modulo the alignment as in the file.
  std::byte* target_memory(uint64_t part) const {
    return targets_.data() + part % plan_.lanes() * plan_.target_bytes() + (part == 0 ? plan_.skew() : 0);
  }

  const plan::BandShifts& plan_;
  const Route route_;
  io::BlockMemory sources_, targets_;
};

void ShiftMover::read(uint64_t part, Lane& lane) {
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
      const uint64_t offset = route_.source.offset + ranges[next].begin;
      data[next] = read_around(lane, route_.source.file, offset, bytes, free, alignment);
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

void ShiftMover::write(uint64_t part, Lane& lane) {
  route_.writer.write(lane, route_.target.offset + plan_.begin(part), target_memory(part),
                      plan_.end(part) - plan_.begin(part));
}

}  // namespace

std::unique_ptr<LaneSteps> make_mover(const plan::BandShifts& plan, const Route& route) {
  return std::make_unique<ShiftMover>(plan, route);
}

}  // namespace xorder::band
