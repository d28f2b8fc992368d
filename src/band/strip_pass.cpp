// Moves the strips of a band one after the other, through a window of source rows. If the range of steps
// begins within a strip, the steps before it that fill the window are done as well, but write nothing.
#include <algorithm>
#include <optional>

#include "band/band_pass.hpp"
#include "kernel/band.hpp"
#include "rounding.hpp"

namespace xorder::band {
namespace {

using plan::BandStrips;
using std::int64_t;
using std::uint64_t;

// How many rows of a batch are given to the kernel together, to keep their tables small.
constexpr uint64_t rows_at_once = 512;

class StripPass final : public run::Pass {
 public:
  StripPass(const BandStrips& plan, StepRange range, const Route& route, std::byte* memory)
      : plan_(plan),
        route_(route),
        rules_(rules_of(plan)),
        blocks_(memory),
        batches_(memory + round_up(plan.window() * plan.block_bytes(), plan::file_block)),
        zeros_(std::min(plan.band().width(), plan.strip() + plan.slack()) * plan.element_bytes()),
        pieces_(plan.window()),
        range_(range),
        next_(range.first - std::min(plan.lag(), step(range.first).index)) {
    rules_.compute = run::Rules::Compute::at_once;
  }

  const run::Rules& rules() const override { return rules_; }
  Next next_unit(run::Unit& unit) override;
  void compute(uint64_t number) override;
  Next next_write(uint64_t number, run::Write& write) override;

 private:
  /// A step reads block `index` of a strip and writes batch `index` − lag.
  struct Step {
    uint64_t strip, index;
  };
  Step step(uint64_t number) const { return {number / steps_in_strip(), number % steps_in_strip()}; }
  uint64_t steps_in_strip() const { return steps(plan_) / plan_.strips(); }

  /// A range that a step writes as a whole, and where it is in the file and in memory.
  struct Written {
    BandStrips::Range elements;
    uint64_t offset = 0;
    std::byte* data = nullptr;
  };
  std::vector<Written> written_by(uint64_t number) const;
  void collect(uint64_t number, uint64_t cut, int64_t first, uint64_t count,
               std::vector<const std::byte*>& to) const;
  void compute(uint64_t number, uint64_t cut, const std::vector<Written>& all);

  const BandStrips& plan_;
  const Route route_;
  run::Rules rules_;
  std::byte *blocks_, *batches_;
  std::vector<std::byte> zeros_;
  /// Rows v = first .. first + count − 1 of a cut's window. The cut's columns of the first row are at `data`,
  /// those of each next row `pitch` bytes further.
  struct Piece {
    uint64_t cut = 0;
    int64_t first = 0, count = 0;
    const std::byte* data = nullptr;
    uint64_t pitch = 0;
  };
  std::vector<std::vector<Piece>> pieces_;  // of each block
  StepRange range_;
  uint64_t next_;                                // step
  std::optional<std::vector<Written>> writing_;  // what the step that is being written still has to write
};

run::Pass::Next StripPass::next_unit(run::Unit& unit) {
  if (next_ == range_.end) return Next::end;
  const uint64_t number = next_++, slot = number % plan_.window(), element = plan_.element_bytes();
  const Step at = step(number);
  unit.step = number;
  std::byte* memory = blocks_ + slot * plan_.block_bytes();
  std::vector<Piece>& pieces = pieces_[slot];
  pieces.clear();
  for (const BandStrips::Rows& rows : plan_.reads(at.strip, at.index)) {
    Piece piece{rows.cut, rows.first, static_cast<int64_t>(rows.count), zeros_.data(), 0};
    if (const uint64_t bytes = rows.elements.size() * element; bytes != 0) {
      unit.reads.push_back(
          read_to(memory, route_.source, rows.elements.begin * element, bytes, rules_.read_alignment));
      piece.data = unit.reads.back().data;
      piece.pitch = plan_.band().width() * element;
      memory += plan_.read_room(bytes);
    }
    pieces.push_back(piece);
  }
  return Next::ready;
}

std::vector<StripPass::Written> StripPass::written_by(uint64_t number) const {
  const Step at = step(number);
  if (number < range_.first || at.index < plan_.lag()) return {};
  std::byte* memory = batches_ + number % plan_.lanes() * plan_.batch_bytes();
  std::vector<Written> all;
  for (const BandStrips::Range& range : plan_.writes(at.strip, at.index - plan_.lag())) {
    const uint64_t offset = route_.target.offset + range.begin * plan_.element_bytes();
    all.push_back({range, offset, memory + offset % rules_.write_alignment});
    memory += plan_.target_pitch();
  }
  return all;
}

void StripPass::compute(uint64_t number) {
  const std::vector<Written> all = written_by(number);
  for (uint64_t cut = 0; cut < plan_.cuts(); ++cut) compute(number, cut, all);
}

// Makes what comes from the columns of a cut.
void StripPass::compute(uint64_t number, uint64_t cut, const std::vector<Written>& all) {
  const uint64_t width = plan_.band().width();
  const BandStrips::Range columns = plan_.columns(step(number).strip, cut);
  if (columns.empty()) return;
  const uint64_t first_k = width - columns.end, end_k = width - columns.begin;  // k' of the cut
  std::vector<const std::byte*> sources;
  std::vector<kernel::BandRun> runs;
  uint64_t first_row = 0, end_row = 0;  // of the runs
  const auto shear = [&] {
    if (runs.empty()) return;
    // v = i − KL + k'
    const auto first_v = static_cast<int64_t>(first_row + first_k) - static_cast<int64_t>(plan_.band().lower);
    collect(number, cut, first_v, end_row - first_row + columns.size() - 1, sources);
    kernel::shear(runs, sources.data(), end_k - 1, plan_.element_bytes());
    runs.clear();
  };
  for (const Written& one : all) {
    for (uint64_t at = one.elements.begin; at < one.elements.end;) {
      const uint64_t i = at / width, row = i * width, end = std::min(one.elements.end, row + width);
      const uint64_t from = std::max(at - row, first_k), until = std::min(end - row, end_k);
      if (from < until) {
        if (i >= first_row + rows_at_once) shear();
        if (runs.empty()) first_row = i;
        const auto first = static_cast<std::ptrdiff_t>(i - first_row) - static_cast<std::ptrdiff_t>(first_k);
        std::byte* const to = one.data + (row + from - one.elements.begin) * plan_.element_bytes();
        runs.push_back({to, from, until, first});
        end_row = i + 1;
      }
      at = end;
    }
  }
  shear();
}

// Finds where `count` rows from v = first on lie in a cut's window of a step.
void StripPass::collect(uint64_t number, uint64_t cut, int64_t first, uint64_t count,
                        std::vector<const std::byte*>& to) const {
  to.assign(count, nullptr);
  const int64_t end = first + static_cast<int64_t>(count);
  for (uint64_t block = number - plan_.lag(); block <= number; ++block) {
    for (const Piece& piece : pieces_[block % plan_.window()]) {
      if (piece.cut != cut) continue;
      const int64_t from = std::max(first, piece.first), until = std::min(end, piece.first + piece.count);
      for (int64_t v = from; v < until; ++v)
        to[static_cast<std::size_t>(v - first)] =
            piece.data + static_cast<uint64_t>(v - piece.first) * piece.pitch;
    }
  }
}

run::Pass::Next StripPass::next_write(uint64_t number, run::Write& write) {
  if (!writing_) {
    writing_ = written_by(number);
    std::ranges::reverse(*writing_);
  }
  if (writing_->empty()) {
    writing_.reset();
    return Next::end;
  }
  const Written one = writing_->back();
  writing_->pop_back();
  write.range = {&route_.target.file, one.offset, one.elements.size() * plan_.element_bytes(), one.data};
  return Next::ready;
}

}  // namespace

uint64_t steps(const BandStrips& plan) { return plan.strips() * (plan.batches() + plan.lag()); }

std::unique_ptr<run::Pass> make_pass(const BandStrips& plan, StepRange range, const Route& route,
                                     std::byte* memory) {
  return std::make_unique<StripPass>(plan, range, route, memory);
}

}  // namespace xorder::band
