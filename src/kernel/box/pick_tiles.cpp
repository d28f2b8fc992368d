#include "kernel/box/pick_tiles.hpp"

#include <utility>

#include "kernel/box/places.hpp"
#include "kernel/vectors/micro.hpp"
#include "rounding.hpp"

namespace xorder::kernel {
namespace {

constexpr double cycles_per_byte = 0.1;

}  // namespace

PickTiles::PickTiles(std::uint64_t element_bytes, std::span<const Axis> axes, const TileGoal& goal,
                     bool from_source)
    : BoxTiles(element_bytes, axes, goal) {
  for (const Part& part : parts()) row_ *= part.in_row ? part.length : 1;
  // An odd number of lines, or else elements of different rows share their sets in the cache.
  row_pitch_ = round_up(row_ * element_bytes, line_bytes) | line_bytes;
  std::vector<std::uint32_t> places = {0};
  std::size_t row_count = 1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto& [length, in_row, in_run] = parts()[i];
    if (!in_run) continue;
    repeat(places, length, in_row || from_source ? axes[i].source.bytes : row_count * row_pitch_);
    if (!in_row) row_count *= length;
  }
  for (const std::size_t i : by_source()) {
    const auto& [length, in_row, in_run] = parts()[i];
    if (in_row && !in_run) repeat(starts_, length, axes[i].source.bytes);
  }
  run_pitch_ = round_up(places.size() * element_bytes, line_bytes) | line_bytes;
  picker_.emplace(std::move(places), element_bytes);
}

double PickTiles::least_cycles(std::uint64_t element_bytes) {
  return 6. / 64 + cycles_per_byte * static_cast<double>(element_bytes);
}

double PickTiles::cycles() const {
  const auto loads = static_cast<double>(picker_->loads()),
             in_vector = static_cast<double>(picker_->in_vector());
  return (loads != 0 ? (4 * loads + 2) / in_vector : 1.2) +
         cycles_per_byte * static_cast<double>(element_bytes()) + 10 / static_cast<double>(row_) +
         30 / static_cast<double>(picker_->places().size());
}

std::size_t PickTiles::row_buffer() const {
  return round_up(rows().size() * row_pitch_ + Picker::slack, line_bytes);
}

}  // namespace xorder::kernel
