#include "plan/band_shifts.hpp"

#include <algorithm>

namespace xorder::plan {

using std::int64_t;
using std::uint64_t;

std::vector<BandRange> band_shifts(const Band& band, uint64_t element_bytes, uint64_t begin, uint64_t end,
                                   uint64_t gap, uint64_t longest) {
  const auto record = static_cast<int64_t>(band.n * element_bytes);
  std::vector<BandCopy> copies;
  // Of the target's record from the byte `from` to `to` of it, what comes from the bytes that lie `by`
  // further in record k of the source.
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

}  // namespace xorder::plan
