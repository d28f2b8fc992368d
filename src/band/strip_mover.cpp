// Moves the strips of a band one after the other, through a window of source rows.
#include <algorithm>

#include "band/mover.hpp"
#include "io/memory.hpp"
#include "kernel/band.hpp"
#include "rounding.hpp"

namespace xorder::band {
namespace {

using plan::BandStrips;
using std::int64_t;
using std::uint64_t;

// How many rows of a batch are given to the kernel together, to keep their tables small.
constexpr uint64_t rows_at_once = 512;

class StripMover final : public LaneSteps {
 public:
  StripMover(const BandStrips& plan, const Route& route)
      : plan_(plan),
        route_(route),
        blocks_(plan.window() * plan.block_bytes()),
        batches_(plan.lanes() * plan.batch_bytes()),
        zeros_(std::min(plan.band().width(), plan.strip() + plan.slack()) * plan.element_bytes()),
        pieces_(plan.window()) {}

  uint64_t count() const override { return plan_.strips() * steps_in_strip(); }
  void read(uint64_t number, Lane& lane) override;
  void permute(uint64_t number) override;
  void write(uint64_t number, Lane& lane) override;

 private:
  /// A step reads block `index` of a strip and writes batch `index` − lag.
  struct Step {
    uint64_t strip, index;
  };
  Step step(uint64_t number) const { return {number / steps_in_strip(), number % steps_in_strip()}; }
  uint64_t steps_in_strip() const { return plan_.batches() + plan_.lag(); }

  /// A range that a step writes as a whole, and where it is in the file and in memory.
  struct Written {
    BandStrips::Range elements;
    uint64_t offset = 0;
    std::byte* data = nullptr;
  };
  std::vector<Written> written(uint64_t number) const;
  void collect(uint64_t number, uint64_t cut, int64_t first, uint64_t count,
               std::vector<const std::byte*>& to) const;
  void permute(uint64_t number, uint64_t cut, const std::vector<Written>& all);

  const BandStrips& plan_;
  const Route route_;
  io::BlockMemory blocks_, batches_;
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
};

void StripMover::read(uint64_t number, Lane& lane) {
  const Step at = step(number);
  const uint64_t element = plan_.element_bytes(), alignment = plan_.conditions().read_alignment;
  const uint64_t slot = number % plan_.window();
  std::byte* memory = blocks_.data() + slot * plan_.block_bytes();
  std::vector<Piece>& pieces = pieces_[slot];
  pieces.clear();
  for (const BandStrips::Rows& rows : plan_.reads(at.strip, at.index)) {
    Piece piece{rows.cut, rows.first, static_cast<int64_t>(rows.count), zeros_.data(), 0};
    if (const uint64_t bytes = rows.elements.size() * element; bytes != 0) {
      const uint64_t offset = route_.source.offset + rows.elements.begin * element;
      piece.data = read_around(lane, route_.source.file, offset, bytes, memory, alignment);
      piece.pitch = plan_.band().width() * element;
      memory += plan_.read_room(bytes);
    }
    pieces.push_back(piece);
  }
}

std::vector<StripMover::Written> StripMover::written(uint64_t number) const {
  const Step at = step(number);
  if (at.index < plan_.lag()) return {};
  std::byte* memory = batches_.data() + number % plan_.lanes() * plan_.batch_bytes();
  std::vector<Written> all;
  for (const BandStrips::Range& range : plan_.writes(at.strip, at.index - plan_.lag())) {
    const uint64_t offset = route_.target.offset + range.begin * plan_.element_bytes();
    all.push_back({range, offset, memory + offset % plan_.conditions().write_alignment});
    memory += plan_.target_pitch();
  }
  return all;
}

void StripMover::permute(uint64_t number) {
  const std::vector<Written> all = written(number);
  for (uint64_t cut = 0; cut < plan_.cuts(); ++cut) permute(number, cut, all);
}

// Makes what comes from the columns of a cut.
void StripMover::permute(uint64_t number, uint64_t cut, const std::vector<Written>& all) {
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
void StripMover::collect(uint64_t number, uint64_t cut, int64_t first, uint64_t count,
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

void StripMover::write(uint64_t number, Lane& lane) {
  for (const Written& one : written(number))
    route_.writer.write(lane, one.offset, one.data, one.elements.size() * plan_.element_bytes());
}

}  // namespace

std::unique_ptr<LaneSteps> make_mover(const BandStrips& plan, const Route& route) {
  return std::make_unique<StripMover>(plan, route);
}

}  // namespace xorder::band
