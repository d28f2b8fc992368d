#include "kernel/linear/line_gather.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace xorder::kernel {

LineGather::LineGather(const LineTiles& tiles, std::uint64_t run_bytes) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> lines;  // offset, number
  for (const std::uint64_t line_tile : tiles.line_tiles) {
    for (const std::uint64_t line : tiles.source_lines)
      lines.emplace_back(line_tile ^ line, static_cast<std::uint32_t>(lines.size()));
  }
  std::ranges::sort(lines);
  places_.resize(lines.size());
  for (const auto& [source, number] : lines) {
    // A line is left free after each run. Otherwise runs would begin at the same sets here, too.
    if (source % run_bytes == 0 && !sources_.empty()) buffer_bytes_ += line_bytes;
    sources_.push_back(source);
    copies_.push_back(static_cast<std::uint32_t>(buffer_bytes_));
    places_[number] = copies_.back();
    buffer_bytes_ += line_bytes;
  }
}

void LineGather::copy(const std::byte* source, std::uint64_t tile, std::size_t first, std::size_t last,
                      std::byte* buffer) const {
  constexpr std::size_t ahead = 24;
  const bool across_lines = within_line(source);
  for (std::size_t l = first; l < last; ++l) {
    if (l + ahead < sources_.size()) {
      const std::byte* const later = source + (tile ^ sources_[l + ahead]);
      prefetch(later);
      if (across_lines) prefetch(later + line_bytes - 1);
    }
    std::memcpy(buffer + copies_[l], source + (tile ^ sources_[l]), line_bytes);
  }
}

}  // namespace xorder::kernel
