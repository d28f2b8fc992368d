// Moves many small matrices together.
#include <cstring>
#include <utility>

#include "band/band_pass.hpp"
#include "kernel/band.hpp"
#include "rounding.hpp"

namespace xorder::band {
namespace {

using plan::BandStack;
using std::uint64_t;

class StackPass final : public run::Pass {
 public:
  StackPass(const BandStack& plan, StepRange range, const Route& route, std::byte* memory);

  const run::Rules& rules() const override { return rules_; }
  Next next_unit(run::Unit& unit) override;
  void compute(uint64_t step) override;
  Next next_write(uint64_t step, run::Write& write) override;

 private:
  void shear(const std::byte* source, std::byte* target) const;
  void shift(const std::byte* source, std::byte* target) const;
  // Memory for what a step writes, with the same address modulo the alignment as in the file.
  std::byte* target(uint64_t step) const;

  const BandStack& plan_;
  const Route route_;
  run::Rules rules_;
  std::vector<plan::BandRange> shifts_;  // of a matrix, in the order `diagonals`
  std::vector<std::byte> zeros_;
  std::byte *sources_, *targets_;
  std::vector<const std::byte*> read_;  // by lane: where the matrices of its step are
  uint64_t next_, end_;                 // steps
  bool given_ = false;                  // what the step that is being written writes
};

StackPass::StackPass(const BandStack& plan, StepRange range, const Route& route, std::byte* memory)
    : plan_(plan),
      route_(route),
      rules_(rules_of(plan)),
      sources_(memory),
      targets_(memory + round_up(plan.lanes() * plan.source_bytes(), plan::file_block)),
      read_(plan.lanes()),
      next_(range.first),
      end_(range.end) {
  rules_.compute = run::Rules::Compute::at_once;
  if (plan.band().of_diagonals()) {
    shifts_ = plan::band_shifts(plan.band(), plan.element_bytes(), 0, plan.matrix_bytes(),
                                plan.matrix_bytes(), plan.matrix_bytes());
  } else {
    zeros_.assign(plan.band().width() * plan.element_bytes(), std::byte{0});
  }
}

run::Pass::Next StackPass::next_unit(run::Unit& unit) {
  if (next_ == end_) return Next::end;
  const uint64_t step = next_++, lane = step % plan_.lanes(), bytes = plan_.matrix_bytes();
  unit.step = step;
  unit.reads.push_back(read_to(sources_ + lane * plan_.source_bytes(), route_.source,
                               plan_.first(step) * bytes, plan_.count(step) * bytes, rules_.read_alignment));
  read_[lane] = unit.reads.front().data;
  return Next::ready;
}

std::byte* StackPass::target(uint64_t step) const {
  const uint64_t offset = route_.target.offset + plan_.first(step) * plan_.matrix_bytes();
  return targets_ + step % plan_.lanes() * plan_.target_bytes() + offset % rules_.write_alignment;
}

void StackPass::compute(uint64_t step) {
  const std::byte* from = read_[step % plan_.lanes()];
  std::byte* to = target(step);
  for (uint64_t i = 0; i < plan_.count(step); ++i) {
    if (plan_.band().of_diagonals()) {
      shift(from, to);
    } else {
      shear(from, to);
    }
    from += plan_.matrix_bytes();
    to += plan_.matrix_bytes();
  }
}

run::Pass::Next StackPass::next_write(uint64_t step, run::Write& write) {
  if (std::exchange(given_, !given_)) return Next::end;
  const uint64_t bytes = plan_.matrix_bytes();
  write.range = {&route_.target.file, route_.target.offset + plan_.first(step) * bytes,
                 plan_.count(step) * bytes, target(step)};
  return Next::ready;
}

// Element k' of row i comes from row i − KL + k', which may be outside the matrix.
void StackPass::shear(const std::byte* source, std::byte* target) const {
  const Band& band = plan_.band();
  const uint64_t row_bytes = band.width() * plan_.element_bytes();
  std::vector<const std::byte*> rows(band.n + band.width() - 1, zeros_.data());
  for (uint64_t v = 0; v < rows.size(); ++v) {
    const bool inside = v >= band.lower && v - band.lower < band.n;
    if (inside || band.cyclic) rows[v] = source + (v + band.n - band.lower) % band.n * row_bytes;
  }
  std::vector<kernel::BandRun> runs;
  for (uint64_t i = 0; i < band.n; ++i)
    runs.push_back({target + i * row_bytes, 0, band.width(), static_cast<std::ptrdiff_t>(i)});
  kernel::shear(runs, rows.data(), band.width() - 1, plan_.element_bytes());
}

void StackPass::shift(const std::byte* source, std::byte* target) const {
  std::memset(target, 0, plan_.matrix_bytes());
  for (const plan::BandRange& range : shifts_)
    for (const plan::BandCopy& copy : range.copies)
      std::memcpy(target + copy.target, source + copy.source, copy.bytes);
}

}  // namespace

uint64_t steps(const BandStack& plan) { return plan.steps(); }

std::unique_ptr<run::Pass> make_pass(const BandStack& plan, StepRange range, const Route& route,
                                     std::byte* memory) {
  return std::make_unique<StackPass>(plan, range, route, memory);
}

}  // namespace xorder::band
