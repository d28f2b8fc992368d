#include "plan/bands/band_strips.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "text/count_text.hpp"
#include "rounding.hpp"
#include "text/size_text.hpp"
#include "xorder/error.hpp"

namespace xorder::plan {
namespace {

using std::int64_t;
using std::uint64_t;

// Larger blocks and batches gain nothing.
constexpr uint64_t useful_bytes = uint64_t{2} << 20;
// A block has at least 1/32 as many rows as a cut has columns.
constexpr uint64_t window_parts = 32;
constexpr uint64_t most_cuts = 8, least_read = 512;  // bytes

}  // namespace

BandStrips::BandStrips(const Band& band, uint64_t element_bytes, const Setting& setting, BandTiling given)
    : band_(band), element_bytes_(element_bytes), setting_(setting) {
  const uint64_t cuts = std::max<uint64_t>(given.cuts, 1);
  if (choose(given, given.whole_blocks.value_or(true), cuts)) return;
  if (!given.whole_blocks) {
    const uint64_t most = given.cuts != 0 ? 1 : std::min(most_cuts, setting.write_alignment / least_read);
    for (uint64_t more = 2; more <= most; more *= 2) {
      if (choose(given, true, more)) return;
    }
    if (choose(given, false, cuts)) return;
  }
  throw InputError(fmt::format("elements of {} bytes need more than {} of memory for this band",
                               element_bytes, size_text(setting.memory)));
}

bool BandStrips::choose(const BandTiling& given, bool whole_blocks, uint64_t cuts) {
  const uint64_t width = band_.width();
  BandTiling tiling = given;
  tiling.whole_blocks = whole_blocks;
  tiling.cuts = cuts;
  for (uint64_t strips = 1; strips <= width; ++strips) {
    if (given.strip == 0) tiling.strip = ceil_div(width, strips);
    tiling.strip = std::min(tiling.strip, width);
    const bool short_runs = strips > 1 && tiling.strip * element_bytes_ < setting_.write_alignment;
    if (short_runs && whole_blocks && !given.whole_blocks) return false;
    // Large blocks in flight would add much to the window; small ones are slow.
    const uint64_t useful_rows = std::max<uint64_t>(1, useful_bytes / (tiling.strip * element_bytes_));
    const uint64_t least_rows = ceil_div(ceil_div(tiling.strip, cuts), window_parts);
    for (uint64_t rows = given.rows != 0 ? given.rows : std::max(useful_rows, least_rows);; rows /= 2) {
      tiling.rows = std::min(std::max(rows, given.rows != 0 ? rows : least_rows), band_.n);
      for (unsigned lanes = most_lanes; lanes >= least_lanes; lanes /= 2) {
        tiling.lanes = given.lanes != 0 ? given.lanes : lanes;
        set(tiling);
        if (memory() <= setting_.memory) return true;
      }
      if (given.rows != 0 || rows <= least_rows) break;
    }
    if (given.strip != 0) break;
  }
  return false;
}

void BandStrips::set(const BandTiling& tiling) {
  const uint64_t width = band_.width();
  const uint64_t block = setting_.write_alignment;
  tiling_ = tiling;
  strips_ = ceil_div(width, tiling.strip);
  batches_ = ceil_div(band_.n, tiling.rows);
  cuts_ = single() ? 1 : tiling.cuts;
  // The most elements by which a boundary is moved, to the beginning of a file system's block. Where a row
  // begins at a block, and so do all strips, none is moved.
  const bool fits_blocks =
      (setting_.target_offset | width * element_bytes_ | tiling.strip * element_bytes_) % block == 0;
  const uint64_t moved =
      block == 1 || !*tiling.whole_blocks || (!single() && fits_blocks) ? 0 : ceil_div(block, element_bytes_);
  slack_ = single() ? 0 : moved;
  early_ = single() && batches_ > 1 && moved != 0 ? moved / width + 1 : 0;
  const uint64_t most_columns = std::min(width, tiling.strip + slack_);
  const uint64_t cut_columns = ceil_div(most_columns, cuts_);
  lag_ = ceil_div(cut_columns - 1 + early_, tiling.rows);

  const auto source_bytes = [&](uint64_t elements) { return read_room(elements * element_bytes_); };
  const auto target_bytes = [&](uint64_t elements) {
    return round_up(elements * element_bytes_, block) + block;
  };
  const uint64_t source_pitch = source_bytes(cut_columns);
  target_pitch_ = target_bytes(most_columns);
  // Whole rows may be read in two parts, where rows wrap around.
  block_bytes_ =
      single() ? source_bytes(tiling.rows * width) + 2 * source_bytes(0) : cuts_ * tiling.rows * source_pitch;
  batch_bytes_ = single() ? target_bytes(tiling.rows * width + moved) : tiling.rows * target_pitch_;
}

uint64_t BandStrips::aligned(uint64_t x) const {
  if (!*tiling_.whole_blocks) return x;
  const uint64_t block = setting_.write_alignment;
  const uint64_t byte = setting_.target_offset + x * element_bytes_;
  const uint64_t begin = std::max(byte - byte % block, setting_.target_offset);
  return ceil_div(begin - setting_.target_offset, element_bytes_);
}

// Reads begin and end at multiples of their alignment, around what is wanted.
uint64_t BandStrips::read_room(uint64_t bytes) const {
  const uint64_t alignment = setting_.read_alignment;
  return round_up(bytes, alignment) + alignment;
}

BandStrips::Range BandStrips::columns(uint64_t strip, uint64_t cut) const {
  const Range all = columns(strip);
  const uint64_t each = ceil_div(std::min(band_.width(), tiling_.strip + slack_), cuts_);
  return {std::min(all.begin + cut * each, all.end), std::min(all.begin + (cut + 1) * each, all.end)};
}

BandStrips::Range BandStrips::columns(uint64_t strip) const {
  const uint64_t width = band_.width();
  const uint64_t after = std::min((strip + 1) * tiling_.strip, width);  // k' ends here
  const uint64_t before = strip * tiling_.strip;
  return {width - after, std::min(width, width - before + slack_)};
}

int64_t BandStrips::first_row(const Range& columns) const {
  return static_cast<int64_t>(band_.upper) - static_cast<int64_t>(columns.end - 1 + early_);
}

int64_t BandStrips::end_row(const Range& columns) const {
  return static_cast<int64_t>(band_.n + band_.upper) - static_cast<int64_t>(columns.begin);
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

std::vector<BandStrips::Rows> BandStrips::reads(uint64_t strip, uint64_t block) const {
  const auto h = static_cast<int64_t>(rows()), n = static_cast<int64_t>(band_.n);
  std::vector<Rows> all;
  for (uint64_t cut = 0; cut < cuts_; ++cut) {
    const Range taken = columns(strip, cut);
    if (taken.empty()) continue;
    const int64_t first = first_row(taken) + static_cast<int64_t>(block) * h;
    const int64_t end = std::min(first + h, end_row(taken));
    for (int64_t v = first; v < end;) {
      Rows one{.cut = cut, .first = v};
      if (!band_.cyclic && (v < 0 || v >= n)) {
        one.count = static_cast<uint64_t>((v < 0 ? std::min<int64_t>(end, 0) : end) - v);
      } else {
        const int64_t j = (v % n + n) % n;
        one.count = single() ? static_cast<uint64_t>(std::min(end - v, n - j)) : 1;
        const uint64_t row = static_cast<uint64_t>(j) * band_.width();
        one.elements = {row + taken.begin, row + (one.count - 1) * band_.width() + taken.end};
      }
      v += static_cast<int64_t>(one.count);
      all.push_back(one);
    }
  }
  return all;
}

std::vector<BandStrips::Range> BandStrips::writes(uint64_t strip, uint64_t index) const {
  const Range rows = batch(index);
  const uint64_t width = band_.width();
  if (single())
    return {{aligned(rows.begin * width), rows.end == band_.n ? band_.places() : aligned(rows.end * width)}};
  std::vector<Range> all;
  for (uint64_t i = rows.begin; i < rows.end; ++i) {
    const Range part = run(strip, i);
    all.push_back({i * width + part.begin, i * width + part.end});
  }
  return all;
}

uint64_t BandStrips::read_bytes() const {
  return single() ? run_bytes() : ceil_div(strip(), cuts_) * element_bytes_;
}

uint64_t BandStrips::run_bytes() const {
  return (single() ? rows() * band_.width() : strip()) * element_bytes_;
}

PassSummary BandStrips::pass() const {
  uint64_t read = 0;
  const auto n = static_cast<int64_t>(band_.n);
  for (uint64_t s = 0; s < strips_; ++s) {
    for (uint64_t cut = 0; cut < cuts_; ++cut) {
      const Range taken = columns(s, cut);
      if (taken.empty()) continue;
      const int64_t begin = band_.cyclic ? first_row(taken) : std::max<int64_t>(first_row(taken), 0);
      const int64_t end = band_.cyclic ? end_row(taken) : std::min(end_row(taken), n);
      read += static_cast<uint64_t>(end - begin) * taken.size();
    }
  }
  return priced({.tiles = strips_ * batches_,
                 .tile_bytes = rows() * strip() * element_bytes_,
                 .source_block_bytes = read_bytes(),
                 .target_block_bytes = run_bytes(),
                 .memory = memory(),
                 .bytes_read = read * element_bytes_,
                 .bytes_written = band_.places() * element_bytes_},
                setting_);
}

std::string BandStrips::describe() const {
  return fmt::format(
      "  {} of {}, {} at a time: runs of {}{}\n"
      "  memory: {}; a window of {}, {} in flight\n",
      count_text(strips_, "strip"), count_text(strip(), "diagonal"), count_text(rows(), "row"),
      size_text(run_bytes()), cuts_ == 1 ? "" : fmt::format(", read in runs of {}", size_text(read_bytes())),
      size_text(memory()), count_text(window(), "block"), count_text(lanes(), "batch"));
}

}  // namespace xorder::plan
