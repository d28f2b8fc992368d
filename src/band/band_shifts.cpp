// The order `diagonals`: record k of the file becomes record B − 1 − k, shifted.
//
// The target is made chunk by chunk; what a chunk consists of lies in one or a few ranges of the source.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "band/band_pass.hpp"
#include "io/memory.hpp"
#include "plan/band_shifts.hpp"

namespace xorder::band {
namespace {

using std::uint64_t;

constexpr uint64_t KiB = 1024;
constexpr uint64_t useful_chunk = 4096 * KiB, least_chunk = 64 * KiB;
constexpr unsigned most_lanes = 8;

class ShiftsPass final : public BandTransposition::Pass {
 public:
  ShiftsPass(const Band& band, uint64_t element_bytes, const plan::BandConditions& conditions,
             plan::BandTiling tiling);

  std::string describe() const override;
  work::PassSummary summary() const override;
  uint64_t bytes_read() const override { return bytes(); }
  unsigned lanes() const override { return lanes_; }
  LaneSteps steps(io::Location source, io::Location target, BlockWriter& writer) override;

 private:
  uint64_t bytes() const { return band_.places() * element_bytes_; }
  /// Chunks begin at whole blocks of the file, so the first one is shorter.
  uint64_t skew() const { return conditions_.target_offset % conditions_.write_alignment; }
  uint64_t chunks() const { return (bytes() + skew() + chunk_ - 1) / chunk_; }
  /// At least one range (read_around).
  uint64_t source_bytes() const {
    const uint64_t alignment = conditions_.read_alignment;
    return (chunk_ + chunk_ / 2 + 6 * alignment) / alignment * alignment;
  }
  uint64_t target_bytes() const { return chunk_ + conditions_.write_alignment; }
  /// A chunk's bytes in the data, and its memory: at the same place modulo the alignment as in the file.
  uint64_t begin(uint64_t chunk) const { return chunk == 0 ? 0 : chunk * chunk_ - skew(); }
  uint64_t end(uint64_t chunk) const { return std::min((chunk + 1) * chunk_ - skew(), bytes()); }
  std::byte* target_memory(uint64_t chunk) const {
    return targets_.data() + chunk % lanes_ * target_bytes() + (chunk == 0 ? skew() : 0);
  }
  uint64_t memory() const { return lanes_ * (source_bytes() + target_bytes()); }

  void read(uint64_t chunk, Lane& lane, io::Location source);
  void write(uint64_t chunk, Lane& lane, io::Location target, BlockWriter& writer);

  Band band_;
  uint64_t element_bytes_;
  plan::BandConditions conditions_;
  uint64_t chunk_;
  unsigned lanes_;
  io::BlockMemory sources_, targets_;
};

ShiftsPass::ShiftsPass(const Band& band, uint64_t element_bytes, const plan::BandConditions& conditions,
                       plan::BandTiling tiling)
    : band_(band),
      element_bytes_(element_bytes),
      conditions_(conditions),
      chunk_(tiling.chunk != 0 ? tiling.chunk : useful_chunk),
      lanes_(tiling.lanes != 0 ? tiling.lanes : most_lanes) {
  while (memory() > conditions.memory && lanes_ > 4) lanes_ /= 2;
  while (memory() > conditions.memory && chunk_ > least_chunk) chunk_ /= 2;
}

std::string ShiftsPass::describe() const {
  return fmt::format(
      "  {} diagonals, each shifted: {} chunks of {} bytes, {} in flight\n  memory: {} bytes\n",
      band_.width(), chunks(), chunk_, lanes_, memory());
}

work::PassSummary ShiftsPass::summary() const {
  return {.tiles = chunks(),
          .tile_bytes = chunk_,
          .source_block_bytes = std::min(chunk_, band_.n * element_bytes_),
          .target_block_bytes = chunk_,
          .memory = memory()};
}

LaneSteps ShiftsPass::steps(io::Location source, io::Location target, BlockWriter& writer) {
  sources_ = io::BlockMemory(lanes_ * source_bytes());
  targets_ = io::BlockMemory(lanes_ * target_bytes());
  return {
      .count = chunks(),
      .read = [this, source](uint64_t chunk, Lane& lane) { read(chunk, lane, source); },
      .permute = [](uint64_t) {},
      .write = [this, target, &writer](uint64_t chunk, Lane& lane) { write(chunk, lane, target, writer); }};
}

void ShiftsPass::read(uint64_t chunk, Lane& lane, io::Location source) {
  const uint64_t first = begin(chunk), bytes_of_chunk = end(chunk) - first;
  std::byte* const target = target_memory(chunk);
  std::byte* const memory = sources_.data() + chunk % lanes_ * source_bytes();
  const uint64_t alignment = conditions_.read_alignment;

  const auto ranges = plan::band_shifts(band_, element_bytes_, first, first + bytes_of_chunk, 2 * alignment,
                                        std::max(chunk_, 2 * alignment));
  std::memset(target, 0, bytes_of_chunk);
  std::vector<const std::byte*> data(ranges.size());
  for (std::size_t done = 0, next = 0; done < ranges.size(); done = next) {
    // As many at a time as there is memory for: all of them, unless there are many small ones.
    for (std::byte* free = memory; next < ranges.size(); ++next) {
      const uint64_t bytes = ranges[next].end - ranges[next].begin;
      const uint64_t needed = (bytes + 3 * alignment - 1) / alignment * alignment;
      if (needed > source_bytes() - static_cast<uint64_t>(free - memory)) break;
      const uint64_t offset = source.offset + ranges[next].begin;
      data[next] = read_around(lane, source.file, offset, bytes, free, alignment);
      free += needed;
    }
    lane.carry();
    for (; done < next; ++done) {
      for (const plan::BandCopy& copy : ranges[done].copies) {
        std::memcpy(target + (copy.target - first), data[done] + (copy.source - ranges[done].begin),
                    copy.bytes);
      }
    }
  }
}

void ShiftsPass::write(uint64_t chunk, Lane& lane, io::Location target, BlockWriter& writer) {
  writer.write(lane, target.offset + begin(chunk), target_memory(chunk), end(chunk) - begin(chunk));
}

}  // namespace

std::unique_ptr<BandTransposition::Pass> make_shifts_pass(const Band& band, uint64_t element_bytes,
                                                          const plan::BandConditions& conditions,
                                                          plan::BandTiling tiling) {
  return std::make_unique<ShiftsPass>(band, element_bytes, conditions, tiling);
}

}  // namespace xorder::band
