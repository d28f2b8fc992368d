// Strips of a band, one after the other, through a window of source rows.
#include <fmt/format.h>

#include <algorithm>

#include "band/band_pass.hpp"
#include "io/memory.hpp"
#include "kernel/band.hpp"

namespace xorder::band {
namespace {

using plan::BandStrips;
using std::int64_t;
using std::uint64_t;

// Rows of a batch that are given to the kernel together: their tables are small.
constexpr uint64_t rows_at_once = 512;

class StripsPass final : public BandTransposition::Pass {
 public:
  explicit StripsPass(const BandStrips& plan) : plan_(plan) {}

  std::string describe() const override;
  work::PassSummary summary() const override;
  uint64_t bytes_read() const override;
  unsigned lanes() const override { return plan_.lanes(); }
  LaneSteps steps(io::Location source, io::Location target, BlockWriter& writer) override;

 private:
  /// Where a step stands. It reads block `index` and writes batch `index` − lag.
  struct Step {
    uint64_t strip, index;
  };
  Step step(uint64_t number) const { return {number / steps_in_strip(), number % steps_in_strip()}; }
  uint64_t steps_in_strip() const { return plan_.batches() + plan_.lag(); }

  void read(uint64_t number, Lane& lane, io::Location source);
  void permute(uint64_t number, io::Location target);
  void write(uint64_t number, Lane& lane, io::Location target, BlockWriter& writer);

  /// A run of the target's, and where it is in memory.
  struct Run {
    uint64_t offset = 0, bytes = 0;  // in the file
    std::byte* data = nullptr;
  };
  /// What a step writes of row i of a batch; if single(), of the whole batch.
  Run run(uint64_t number, uint64_t i, io::Location target);
  void collect(uint64_t number, int64_t first, uint64_t count, std::vector<const std::byte*>& to) const;
  /// What the kernel is given.
  struct Table {
    std::vector<const std::byte*> sources;
    std::vector<kernel::BandRun> runs;
  };

  BandStrips plan_;
  io::BlockMemory blocks_, batches_;
  std::vector<std::byte> zeros_;
  /// Rows of the window: v = first .. first + count − 1. At `data` and every `pitch` bytes from there, those
  /// columns that the strip has.
  struct Piece {
    int64_t first = 0, count = 0;
    const std::byte* data = nullptr;
    uint64_t pitch = 0;
  };
  std::vector<std::vector<Piece>> pieces_;  // of each block
};

std::string StripsPass::describe() const {
  const uint64_t element = plan_.element_bytes(), width = plan_.band().width();
  const uint64_t run = plan_.single() ? plan_.rows() * width : plan_.strip();
  return fmt::format(
      "  {} strip{} of {} diagonals, {} rows at a time: runs of {} bytes\n"
      "  memory: {} bytes; a window of {} blocks, {} batches in flight\n",
      plan_.strips(), plan_.single() ? "" : "s", plan_.strip(), plan_.rows(), run * element, plan_.memory(),
      plan_.window(), plan_.lanes());
}

work::PassSummary StripsPass::summary() const {
  const uint64_t elements = plan_.single() ? plan_.rows() * plan_.band().width() : plan_.strip();
  return {.tiles = plan_.strips() * plan_.batches(),
          .tile_bytes = plan_.rows() * plan_.strip() * plan_.element_bytes(),
          .source_block_bytes = elements * plan_.element_bytes(),
          .target_block_bytes = elements * plan_.element_bytes(),
          .memory = plan_.memory()};
}

uint64_t StripsPass::bytes_read() const {
  uint64_t elements = 0;
  for (uint64_t strip = 0; strip < plan_.strips(); ++strip) {
    int64_t begin = plan_.first_row(strip), end = plan_.end_row(strip);
    if (!plan_.band().cyclic) {
      begin = std::max<int64_t>(begin, 0);
      end = std::min(end, static_cast<int64_t>(plan_.band().n));
    }
    elements += static_cast<uint64_t>(end - begin) * plan_.columns(strip).size();
  }
  return elements * plan_.element_bytes();
}

LaneSteps StripsPass::steps(io::Location source, io::Location target, BlockWriter& writer) {
  blocks_ = io::BlockMemory(plan_.window() * plan_.block_bytes());
  batches_ = io::BlockMemory(plan_.lanes() * plan_.batch_bytes());
  zeros_.assign(std::min(plan_.band().width(), plan_.strip() + plan_.slack()) * plan_.element_bytes(),
                std::byte{0});
  pieces_.assign(plan_.window(), {});
  return {
      .count = plan_.strips() * steps_in_strip(),
      .read = [this, source](uint64_t number, Lane& lane) { read(number, lane, source); },
      .permute = [this, target](uint64_t number) { permute(number, target); },
      .write = [this, target, &writer](uint64_t number, Lane& lane) { write(number, lane, target, writer); }};
}

void StripsPass::read(uint64_t number, Lane& lane, io::Location source) {
  const Step at = step(number);
  const auto rows = static_cast<int64_t>(plan_.rows()), n = static_cast<int64_t>(plan_.band().n);
  const int64_t first = plan_.first_row(at.strip) + static_cast<int64_t>(at.index) * rows;
  const int64_t end = std::min(first + rows, plan_.end_row(at.strip));
  const BandStrips::Range columns = plan_.columns(at.strip);
  const uint64_t element = plan_.element_bytes(), pitch = plan_.band().width() * element;
  const uint64_t alignment = plan_.conditions().read_alignment;
  const uint64_t slot = number % plan_.window();
  std::byte* memory = blocks_.data() + slot * plan_.block_bytes();
  std::vector<Piece>& pieces = pieces_[slot];
  pieces.clear();
  const bool cyclic = plan_.band().cyclic;
  for (int64_t v = first; v < end;) {
    if (!cyclic && (v < 0 || v >= n)) {
      const int64_t count = (v < 0 ? std::min<int64_t>(end, 0) : end) - v;
      pieces.push_back({v, count, zeros_.data(), 0});
      v += count;
      continue;
    }
    const int64_t j = (v % n + n) % n;
    const int64_t count = plan_.single() ? std::min(end - v, n - j) : 1;  // that lie behind each other
    const uint64_t offset = source.offset + static_cast<uint64_t>(j) * pitch + columns.begin * element;
    const uint64_t bytes = plan_.single() ? static_cast<uint64_t>(count) * pitch : columns.size() * element;
    pieces.push_back({v, count, read_around(lane, source.file, offset, bytes, memory, alignment), pitch});
    memory += (bytes + 3 * alignment - 1) / alignment * alignment;
    v += count;
  }
}

StripsPass::Run StripsPass::run(uint64_t number, uint64_t i, io::Location target) {
  const Step at = step(number);
  const uint64_t batch = at.index - plan_.lag(), width = plan_.band().width(),
                 element = plan_.element_bytes();
  std::byte* const memory = batches_.data() + number % plan_.lanes() * plan_.batch_bytes();
  BandStrips::Range flat = plan_.single() ? plan_.flat_batch(batch) : plan_.run(at.strip, i);
  Run run{.bytes = flat.size() * element, .data = memory};
  run.offset = target.offset + flat.begin * element;
  if (!plan_.single()) {
    run.offset += i * width * element;
    run.data += (i - plan_.batch(batch).begin) * plan_.target_pitch();
  }
  run.data += run.offset % plan_.conditions().write_alignment;
  return run;
}

void StripsPass::permute(uint64_t number, io::Location target) {
  const Step at = step(number);
  if (at.index < plan_.lag()) return;
  const uint64_t batch = at.index - plan_.lag(), width = plan_.band().width();
  BandStrips::Range rows = plan_.batch(batch);
  BandStrips::Range flat;
  std::byte* flat_data = nullptr;
  if (plan_.single()) {
    flat = plan_.flat_batch(batch);
    rows = flat.empty() ? BandStrips::Range{}
                        : BandStrips::Range{flat.begin / width, (flat.end - 1) / width + 1};
    flat_data = run(number, 0, target).data;
  }
  const BandStrips::Range columns = plan_.columns(at.strip);
  const uint64_t first_k = width - columns.end, last_column = width - 1 - columns.begin;
  Table table;
  for (uint64_t begin = rows.begin; begin < rows.end; begin += rows_at_once) {
    const uint64_t end = std::min(begin + rows_at_once, rows.end);
    // v = i − KL + k'
    const auto first_v = static_cast<int64_t>(begin + first_k) - static_cast<int64_t>(plan_.band().lower);
    collect(number, first_v, end - begin + columns.size() - 1, table.sources);
    table.runs.clear();
    for (uint64_t i = begin; i < end; ++i) {
      const auto first = static_cast<std::ptrdiff_t>(i - begin) - static_cast<std::ptrdiff_t>(first_k);
      if (plan_.single()) {
        const uint64_t row = i * width, from = std::max(row, flat.begin),
                       to = std::min(row + width, flat.end);
        std::byte* const data = flat_data + (from - flat.begin) * plan_.element_bytes();
        table.runs.push_back({data, from - row, to - row, first});
      } else {
        const BandStrips::Range range = plan_.run(at.strip, i);
        table.runs.push_back({run(number, i, target).data, range.begin, range.end, first});
      }
    }
    kernel::shear(table.runs, table.sources.data(), last_column, plan_.element_bytes());
  }
}

// The places of `count` rows from v = first on, in the window of a step.
void StripsPass::collect(uint64_t number, int64_t first, uint64_t count,
                         std::vector<const std::byte*>& to) const {
  to.assign(count, nullptr);
  const int64_t end = first + static_cast<int64_t>(count);
  for (uint64_t block = number - plan_.lag(); block <= number; ++block) {
    for (const Piece& piece : pieces_[block % plan_.window()]) {
      const int64_t from = std::max(first, piece.first), until = std::min(end, piece.first + piece.count);
      for (int64_t v = from; v < until; ++v)
        to[static_cast<std::size_t>(v - first)] =
            piece.data + static_cast<uint64_t>(v - piece.first) * piece.pitch;
    }
  }
}

void StripsPass::write(uint64_t number, Lane& lane, io::Location target, BlockWriter& writer) {
  const Step at = step(number);
  if (at.index < plan_.lag()) return;
  const BandStrips::Range rows =
      plan_.single() ? BandStrips::Range{0, 1} : plan_.batch(at.index - plan_.lag());
  for (uint64_t i = rows.begin; i < rows.end; ++i) {
    const Run part = run(number, i, target);
    writer.write(lane, part.offset, part.data, part.bytes);
  }
}

}  // namespace

std::unique_ptr<BandTransposition::Pass> make_strips_pass(const Band& band, uint64_t element_bytes,
                                                          const plan::BandConditions& conditions,
                                                          plan::BandTiling tiling) {
  return std::make_unique<StripsPass>(BandStrips(band, element_bytes, conditions, tiling));
}

}  // namespace xorder::band
