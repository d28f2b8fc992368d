#include "plan/bands/band_shifts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "byte_units.hpp"
#include "text/count_text.hpp"
#include "text/size_text.hpp"

namespace xorder::plan {

using std::int64_t;
using std::uint64_t;

namespace {

constexpr uint64_t useful_part = 4 * MiB, least_part = 64 * KiB;

}  // namespace

std::vector<BandRange> band_shifts(const Band& band, uint64_t element_bytes, uint64_t begin, uint64_t end,
                                   uint64_t gap, uint64_t longest) {
  const auto record = static_cast<int64_t>(band.n * element_bytes);
  std::vector<BandCopy> copies;
  // Bytes [from, to) of a record of the target come from `by` bytes further in record k of the source, as far
  // as that record goes.
  const auto copy = [&](uint64_t k, int64_t from, int64_t to, int64_t by) {
    from = std::max(from, -by);
    to = std::min(to, record - by);
    if (from >= to) return;
    const auto at = [record](uint64_t row, int64_t byte) {
      return row * static_cast<uint64_t>(record) + static_cast<uint64_t>(byte);
    };
    copies.push_back({at(k, from + by), at(band.width() - 1 - k, from), static_cast<uint64_t>(to - from)});
  };
  for (uint64_t at = begin; at < end;) {
    const uint64_t target_k = at / static_cast<uint64_t>(record), k = band.width() - 1 - target_k;
    const uint64_t row = target_k * static_cast<uint64_t>(record);
    const uint64_t until = std::min(end, row + static_cast<uint64_t>(record));
    const auto from = static_cast<int64_t>(at - row), to = static_cast<int64_t>(until - row);
    // j = i + KU − k
    const int64_t by =
        (static_cast<int64_t>(band.upper) - static_cast<int64_t>(k)) * static_cast<int64_t>(element_bytes);
    copy(k, from, to, by);
    if (band.cyclic) {
      copy(k, from, to, by - record);
      copy(k, from, to, by + record);
    }
    at = until;
  }
  std::ranges::sort(copies, {}, &BandCopy::source);
  std::vector<BandRange> ranges;
  for (const BandCopy& next : copies) {
    if (ranges.empty() || next.source > ranges.back().end + gap ||
        next.source + next.bytes - ranges.back().begin > longest) {
      ranges.push_back({next.source, next.source, {}});
    }
    ranges.back().end = next.source + next.bytes;
    ranges.back().copies.push_back(next);
  }
  return ranges;
}

BandShifts::BandShifts(const Band& band, uint64_t element_bytes, const Setting& setting,
                       const BandTiling& given)
    : band_(band),
      element_bytes_(element_bytes),
      setting_(setting),
      part_(given.part != 0 ? given.part : useful_part),
      lanes_(given.lanes != 0 ? given.lanes : most_lanes) {
  while (memory() > setting.memory && lanes_ > least_lanes) lanes_ /= 2;
  while (memory() > setting.memory && part_ > least_part) part_ /= 2;
}

uint64_t BandShifts::source_bytes() const {
  const uint64_t alignment = setting_.read_alignment;
  return (part_ + part_ / 2 + 6 * alignment) / alignment * alignment;
}

std::vector<BandRange> BandShifts::ranges(uint64_t part) const {
  const uint64_t around = 2 * setting_.read_alignment;
  return band_shifts(band_, element_bytes_, begin(part), end(part), around, std::max(part_, around));
}

PassSummary BandShifts::pass() const {
  return priced({.tiles = parts(),
                 .tile_bytes = part_,
                 .source_block_bytes = std::min(part_, band_.n * element_bytes_),
                 .target_block_bytes = part_,
                 .memory = memory(),
                 .bytes_read = bytes(),
                 .bytes_written = bytes()},
                setting_);
}

std::string BandShifts::describe() const {
  return fmt::format("  {}, each shifted: {} of {}, {} in flight\n  memory: {}\n",
                     count_text(band_.width(), "diagonal"), count_text(parts(), "part"), size_text(part_),
                     lanes_, size_text(memory()));
}

}  // namespace xorder::plan
