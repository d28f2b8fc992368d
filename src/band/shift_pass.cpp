// The order `diagonals`: record k of the file becomes record B − 1 − k, shifted.
//
// The target is made part by part, and a part is a step. Its sources are one or a few ranges of the file. A
// unit reads as many of them as fit in the lane's memory: all, unless there are many small ones.
#include <cstring>
#include <utility>

#include "band/band_pass.hpp"
#include "rounding.hpp"

namespace xorder::band {
namespace {

using std::size_t;
using std::uint64_t;

class ShiftPass final : public run::Pass {
 public:
  ShiftPass(const plan::BandShifts& plan, StepRange range, const Route& route, std::byte* memory)
      : plan_(plan),
        route_(route),
        rules_(rules_of(plan)),
        sources_(memory),
        targets_(memory + round_up(plan.lanes() * plan.source_bytes(), plan::file_block)),
        lanes_(plan.lanes()),
        next_(range.first),
        end_(range.end) {
    rules_.decodes = true;
  }

  const run::Rules& rules() const override { return rules_; }
  Next next_unit(run::Unit& unit) override;
  void decode(run::Unit& unit) override;
  void decoded(run::Unit&) override { busy_ = false; }
  Next next_write(uint64_t part, run::Write& write) override;

 private:
  struct Lane {
    std::vector<plan::BandRange> ranges;
    size_t first = 0, end = 0;  // those of the unit that is being read
  };
  std::byte* target(uint64_t part) const {
    return targets_ + part % plan_.lanes() * plan_.target_bytes() + (part == 0 ? plan_.skew() : 0);
  }

  const plan::BandShifts& plan_;
  const Route route_;
  run::Rules rules_;
  std::byte *sources_, *targets_;
  std::vector<Lane> lanes_;
  uint64_t next_, end_;  // parts
  bool more_ = false;    // units of the last part that has begun
  bool busy_ = false;    // its memory
  bool given_ = false;   // what the part that is being written writes
};

run::Pass::Next ShiftPass::next_unit(run::Unit& unit) {
  const uint64_t alignment = rules_.read_alignment;
  if (more_ && busy_) return Next::later;
  if (!more_ && next_ == end_) return Next::end;
  const uint64_t part = more_ ? next_ - 1 : next_++;
  Lane& lane = lanes_[part % plan_.lanes()];
  if (!more_) lane = {plan_.ranges(part), 0, 0};
  lane.first = lane.end;
  std::byte* const memory = sources_ + part % plan_.lanes() * plan_.source_bytes();
  for (std::byte* free = memory; lane.end < lane.ranges.size(); ++lane.end) {
    const plan::BandRange& range = lane.ranges[lane.end];
    const uint64_t bytes = range.end - range.begin, needed = round_up(bytes + 2 * alignment, alignment);
    if (needed > plan_.source_bytes() - static_cast<uint64_t>(free - memory)) break;
    unit.reads.push_back(read_to(free, route_.source, range.begin, bytes, alignment));
    free += needed;
  }
  unit.step = part;
  unit.last = lane.end == lane.ranges.size();
  more_ = !unit.last;
  busy_ = true;
  return Next::ready;
}

void ShiftPass::decode(run::Unit& unit) {
  const Lane& lane = lanes_[unit.step % plan_.lanes()];
  const uint64_t first = plan_.begin(unit.step);
  std::byte* const to = target(unit.step);
  if (lane.first == 0) std::memset(to, 0, plan_.end(unit.step) - first);
  for (size_t i = lane.first; i < lane.end; ++i) {
    const std::byte* const from = unit.reads[i - lane.first].data;
    for (const plan::BandCopy& copy : lane.ranges[i].copies)
      std::memcpy(to + (copy.target - first), from + (copy.source - lane.ranges[i].begin), copy.bytes);
  }
}

run::Pass::Next ShiftPass::next_write(uint64_t part, run::Write& write) {
  if (std::exchange(given_, !given_)) return Next::end;
  const uint64_t begin = plan_.begin(part);
  write.range = {&route_.target.file, route_.target.offset + begin, plan_.end(part) - begin, target(part)};
  return Next::ready;
}

}  // namespace

uint64_t steps(const plan::BandShifts& plan) { return plan.parts(); }

std::unique_ptr<run::Pass> make_pass(const plan::BandShifts& plan, StepRange range, const Route& route,
                                     std::byte* memory) {
  return std::make_unique<ShiftPass>(plan, range, route, memory);
}

}  // namespace xorder::band
