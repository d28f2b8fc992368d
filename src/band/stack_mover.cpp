// Moves many small matrices together.
#include <cstring>

#include "band/mover.hpp"
#include "io/memory.hpp"
#include "kernel/band.hpp"

namespace xorder::band {
namespace {

using plan::BandStack;
using std::uint64_t;

class StackMover final : public LaneSteps {
 public:
  StackMover(const BandStack& plan, const Route& route);

  uint64_t count() const override { return plan_.steps(); }
  void read(uint64_t step, Lane& lane) override;
  void permute(uint64_t step) override;
  void write(uint64_t step, Lane& lane) override;

 private:
  void shear(const std::byte* source, std::byte* target) const;
  void shift(const std::byte* source, std::byte* target) const;
  /// Memory for a step, with the same address modulo the alignment as in the file.
  std::byte* target_memory(uint64_t step) const;

  const BandStack& plan_;
  const Route route_;
  std::vector<plan::BandRange> shifts_;  // of a matrix, in the order `diagonals`
  std::vector<std::byte> zeros_;
  io::BlockMemory sources_, targets_;
  std::vector<const std::byte*> read_;  // by lane: where the matrices of its step were read to
};

StackMover::StackMover(const BandStack& plan, const Route& route)
    : plan_(plan),
      route_(route),
      sources_(plan.lanes() * plan.source_bytes()),
      targets_(plan.lanes() * plan.target_bytes()),
      read_(plan.lanes()) {
  if (plan.band().of_diagonals()) {
    shifts_ = plan::band_shifts(plan.band(), plan.element_bytes(), 0, plan.matrix_bytes(),
                                plan.matrix_bytes(), plan.matrix_bytes());
  } else {
    zeros_.assign(plan.band().width() * plan.element_bytes(), std::byte{0});
  }
}

void StackMover::read(uint64_t step, Lane& lane) {
  const uint64_t slot = step % plan_.lanes(), bytes = plan_.matrix_bytes();
  read_[slot] = read_around(lane, route_.source.file, route_.source.offset + plan_.first(step) * bytes,
                            plan_.count(step) * bytes, sources_.data() + slot * plan_.source_bytes(),
                            plan_.conditions().read_alignment);
}

std::byte* StackMover::target_memory(uint64_t step) const {
  const uint64_t offset = route_.target.offset + plan_.first(step) * plan_.matrix_bytes();
  return targets_.data() + step % plan_.lanes() * plan_.target_bytes() +
         offset % plan_.conditions().write_alignment;
}

void StackMover::permute(uint64_t step) {
  const std::byte* from = read_[step % plan_.lanes()];
  std::byte* to = target_memory(step);
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

void StackMover::write(uint64_t step, Lane& lane) {
  const uint64_t bytes = plan_.matrix_bytes();
  route_.writer.write(lane, route_.target.offset + plan_.first(step) * bytes, target_memory(step),
                      plan_.count(step) * bytes);
}

// Element k' of row i comes from row i − KL + k', which may be outside the matrix.
void StackMover::shear(const std::byte* source, std::byte* target) const {
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

void StackMover::shift(const std::byte* source, std::byte* target) const {
  std::memset(target, 0, plan_.matrix_bytes());
  for (const plan::BandRange& range : shifts_)
    for (const plan::BandCopy& copy : range.copies)
      std::memcpy(target + copy.target, source + copy.source, copy.bytes);
}

}  // namespace

std::unique_ptr<LaneSteps> make_mover(const BandStack& plan, const Route& route) {
  return std::make_unique<StackMover>(plan, route);
}

}  // namespace xorder::band
