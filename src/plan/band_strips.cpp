#include "plan/band_strips.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "xorder/error.hpp"

namespace xorder::plan {
namespace {

using std::int64_t;
using std::uint64_t;

// Larger blocks and batches gain nothing.
constexpr uint64_t useful_bytes = uint64_t{2} << 20;
constexpr unsigned most_lanes = 8, least_lanes = 4;
// A block's rows, of those of the window: 1/32.
constexpr uint64_t least_part = 32;

constexpr uint64_t divided_up(uint64_t x, uint64_t by) { return (x + by - 1) / by; }
constexpr uint64_t rounded_up(uint64_t x, uint64_t to) { return divided_up(x, to) * to; }

}  // namespace

BandStrips::BandStrips(const Band& band, uint64_t element_bytes, const BandConditions& conditions,
                       BandTiling given)
    : band_(band), element_bytes_(element_bytes), conditions_(conditions) {
  if (choose(given, given.whole_blocks.value_or(true))) return;
  if (!given.whole_blocks && choose(given, false)) return;
  throw InputError(fmt::format("elements of {} bytes need more than {} bytes of memory for this band",
                               element_bytes, conditions.memory));
}

bool BandStrips::choose(const BandTiling& given, bool whole_blocks) {
  const uint64_t width = band_.width();
  BandTiling tiling = given;
  tiling.whole_blocks = whole_blocks;
  for (uint64_t strips = 1; strips <= width; ++strips) {
    if (given.strip == 0) tiling.strip = divided_up(width, strips);
    tiling.strip = std::min(tiling.strip, width);
    const bool short_runs = strips > 1 && tiling.strip * element_bytes_ < conditions_.write_alignment;
    if (short_runs && whole_blocks && !given.whole_blocks) return false;
    // Of large ones a few in flight would add much to the window; small ones are slow.
    const uint64_t useful_rows = std::max<uint64_t>(1, useful_bytes / (tiling.strip * element_bytes_));
    const uint64_t least_rows = divided_up(tiling.strip, least_part);
    for (uint64_t rows = given.rows != 0 ? given.rows : std::max(useful_rows, least_rows);; rows /= 2) {
      tiling.rows = std::min(std::max(rows, given.rows != 0 ? rows : least_rows), band_.n);
      for (unsigned lanes = most_lanes; lanes >= least_lanes; lanes /= 2) {
        tiling.lanes = given.lanes != 0 ? given.lanes : lanes;
        set(tiling);
        if (memory() <= conditions_.memory) return true;
      }
      if (given.rows != 0 || rows <= least_rows) break;
    }
    if (given.strip != 0) break;
  }
  return false;
}

void BandStrips::set(const BandTiling& tiling) {
  const uint64_t width = band_.width();
  const uint64_t block = conditions_.write_alignment;
  tiling_ = tiling;
  strips_ = divided_up(width, tiling.strip);
  batches_ = divided_up(band_.n, tiling.rows);
  // Where the boundaries are moved, by less than a block.
  const uint64_t moved = block == 1 || !*tiling.whole_blocks ? 0 : divided_up(block, element_bytes_);
  slack_ = single() ? 0 : moved;
  early_ = single() && batches_ > 1 && moved != 0 ? moved / width + 1 : 0;
  const uint64_t most_columns = std::min(width, tiling.strip + slack_);
  lag_ = divided_up(most_columns - 1 + early_, tiling.rows);

  // Reads begin at a multiple of their alignment before what is wanted, and so do they end.
  const uint64_t around = 2 * conditions_.read_alignment;
  const auto source_bytes = [&](uint64_t elements) {
    return rounded_up(elements * element_bytes_ + around, conditions_.read_alignment);
  };
  const auto target_bytes = [&](uint64_t elements) {
    return rounded_up(elements * element_bytes_ + 2 * block, block);
  };
  source_pitch_ = source_bytes(most_columns);
  target_pitch_ = target_bytes(most_columns);
  block_bytes_ = single() ? source_bytes(tiling.rows * width) + source_bytes(0) : tiling.rows * source_pitch_;
  batch_bytes_ = single() ? target_bytes(tiling.rows * width + moved) : tiling.rows * target_pitch_;
}

uint64_t BandStrips::aligned(uint64_t x) const {
  if (!*tiling_.whole_blocks) return x;
  const uint64_t block = conditions_.write_alignment;
  const uint64_t byte = conditions_.target_offset + x * element_bytes_;
  const uint64_t begin = std::max(byte - byte % block, conditions_.target_offset);
  return divided_up(begin - conditions_.target_offset, element_bytes_);
}

BandStrips::Range BandStrips::columns(uint64_t strip) const {
  const uint64_t width = band_.width();
  const uint64_t after = std::min((strip + 1) * tiling_.strip, width);  // k' ends here
  const uint64_t before = strip * tiling_.strip;
  return {width - after, std::min(width, width - before + slack_)};
}

int64_t BandStrips::first_row(uint64_t strip) const {
  return static_cast<int64_t>(band_.upper) - static_cast<int64_t>(columns(strip).end - 1 + early_);
}

int64_t BandStrips::end_row(uint64_t strip) const {
  return static_cast<int64_t>(band_.n + band_.upper) - static_cast<int64_t>(columns(strip).begin);
}

BandStrips::Range BandStrips::batch(uint64_t index) const {
  const uint64_t begin = index * tiling_.rows;
  return {begin, std::min(begin + tiling_.rows, band_.n)};
}

BandStrips::Range BandStrips::run(uint64_t strip, uint64_t i) const {
  const uint64_t row = i * band_.width();
  const auto boundary = [&](uint64_t s) {
    if (s == 0) return uint64_t{0};
    if (s == strips_) return band_.width();
    return std::max(row, aligned(row + s * tiling_.strip)) - row;
  };
  return {boundary(strip), boundary(strip + 1)};
}

BandStrips::Range BandStrips::flat_batch(uint64_t index) const {
  const Range rows = batch(index);
  const uint64_t width = band_.width();
  return {aligned(rows.begin * width), rows.end == band_.n ? band_.places() : aligned(rows.end * width)};
}

}  // namespace xorder::plan
