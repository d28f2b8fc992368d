#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "kernel/parcel.hpp"
#include "kernel/places.hpp"
#include "memory/box_engines.hpp"
#include "memory/micro.hpp"
#include "memory/scratch.hpp"
#include "memory/write_tile.hpp"
#include "rounding.hpp"

namespace xorder::memory {
namespace {

using kernel::Axis;
using kernel::Parcel;
using kernel::ParcelShape;

// Parcels, and the axes that they neither have nor repeat along.
struct Choice {
  ParcelShape shape;
  std::vector<Axis> outer;  // fastest in the target first
  double cycles = 0;        // an estimate for each element
};

constexpr double cycles_past_cache = 0.13;  // for a byte that goes through a buffer and past the cache

// A parcel has the axes that are fastest in the source, as many as fit, and perhaps a part of the next one.
std::optional<Choice> choose(const TargetAxes& target, bool streamed) {
  const std::size_t vector = Parcel::vector_bytes(), most = Parcel::most_vectors * vector;
  const std::vector<Axis> axes = target.with_strides();
  std::vector<std::size_t> by_source(axes.size());
  std::iota(by_source.begin(), by_source.end(), 0);
  std::ranges::sort(by_source, {}, [&](std::size_t i) { return axes[i].source.bytes; });
  std::vector<bool> in_parcel(axes.size(), false);
  std::optional<Choice> best;
  std::uint64_t bytes = target.element_bytes;
  for (std::size_t n = 0; n + 1 < axes.size(); ++n) {
    in_parcel[by_source[n]] = true;
    bytes *= axes[by_source[n]].length;
    if (bytes > most) break;
    const auto along = static_cast<std::size_t>(std::ranges::find(in_parcel, false) - in_parcel.begin());
    const bool next_in_source = along == by_source[n + 1];
    if (streamed && !next_in_source) continue;  // the next tile, which is prefetched, would not be contiguous
    Choice choice;
    choice.shape.element_bytes = target.element_bytes;
    choice.shape.along = axes[along];
    for (std::size_t i = 0; i < axes.size(); ++i) {
      if (i != along) (in_parcel[i] ? choice.shape.axes : choice.outer).push_back(axes[i]);
    }
    const std::uint64_t most_taken = next_in_source ? std::min(axes[along].length, most / bytes) : 1;
    const auto elements = static_cast<double>(axes[along].length * (bytes / target.element_bytes));
    std::uint64_t& taken = choice.shape.taken;
    // The largest number for each number of vectors.
    for (std::uint64_t end = vector; end <= most; end += vector) {
      taken = std::min(end / bytes, most_taken);
      if (taken == 0) continue;
      choice.cycles = choice.shape.cycles(vector) / elements +
                      (streamed ? cycles_past_cache * static_cast<double>(target.element_bytes) : 0);
      if (!best || choice.cycles < best->cycles) best = choice;
      if (taken == most_taken) break;
    }
  }
  return best;
}

class Parcels : public Engine {
 public:
  Parcels(Choice choice, bool streamed)
      : length_(choice.shape.along.length),
        source_stride_(choice.shape.along.source.bytes),
        target_stride_(choice.shape.along.target.bytes),
        streamed_(streamed),
        write_(rows_out_function(streamed)),
        parcel_(lay_out(std::move(choice.shape))) {
    for (const Axis& axis : choice.outer) {
      in_source_.push_back({axis.length, axis.source.bytes, false, {}});
      in_target_.push_back({axis.length, axis.target.bytes, false, {}});
      outer_count_ *= axis.length;
    }
  }

  std::uint64_t tasks() const override { return ceil_div(outer_count_ * tiles_, tiles_per_task_); }

  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    std::uint64_t tile = first * tiles_per_task_;
    const std::uint64_t end = std::min(outer_count_ * tiles_, last * tiles_per_task_);
    if (tile >= end) return;
    std::optional<Scratch> buffer;
    if (streamed_) buffer.emplace(runs_.size() * run_pitch_);
    const std::uint64_t outer = tile / tiles_;
    std::uint64_t part = tile % tiles_;
    Offsets from(in_source_, outer), to(in_target_, outer);
    for (; tile < end; ++tile) {
      const std::uint64_t begin = part * of_tile_, count = part + 1 == tiles_ ? length_ - begin : of_tile_;
      const std::byte* const here = source + *from + begin * source_stride_;
      std::byte* const there = target + *to + begin * target_stride_;
      if (++part == tiles_) {
        part = 0;
        ++from;
        ++to;
      }
      if (!streamed_) {
        parcel_.move(there, here, count);
        continue;
      }
      parcel_.move(buffer->data(), here, count);
      NextTile next;
      if (tile + 1 < end)
        next =
            NextTile(source + *from + part * of_tile_ * source_stride_, none_, 1, of_tile_ * source_stride_);
      const std::uint64_t run = count * target_stride_;
      write_tile_to(runs_.data(), {there, 0, buffer->data(), run_pitch_, runs_.size(), run, true, true}, next,
                    write_);
    }
  }

  std::string describe() const override {
    const ParcelShape& shape = parcel_.shape();
    return fmt::format("axes: parcels of {} bytes, {} elements of {} bytes to each of {} places{}",
                       shape.bytes(), shape.piece_bytes() / shape.element_bytes, shape.element_bytes,
                       shape.bytes() / shape.piece_bytes(), streamed_ ? ", streamed" : "");
  }

 private:
  static constexpr std::uint64_t none_[1] = {0};

  // Chooses the tiles. Where these are streamed, a parcel's pieces go to the runs of a buffer.
  ParcelShape lay_out(ParcelShape shape) {
    const std::uint64_t of_coordinate = shape.bytes() / shape.taken;
    std::uint64_t unit = shape.taken;
    const std::uint64_t whole_lines = std::lcm(unit, line_bytes / std::gcd(line_bytes, target_stride_));
    if (streamed_ && whole_lines * of_coordinate <= 2 * tile_bytes) unit = whole_lines;
    of_tile_ = std::min(length_, round_up(std::max<std::uint64_t>(1, tile_bytes / of_coordinate), unit));
    tiles_ = length_ / of_tile_;
    tiles_per_task_ = std::max<std::uint64_t>(1, 256 * 1024 / (of_tile_ * of_coordinate));
    // An odd number of lines, or else the runs share their sets in the cache.
    run_pitch_ = round_up(2 * of_tile_ * target_stride_, line_bytes) | line_bytes;
    std::uint64_t pitch = run_pitch_;
    for (std::size_t i = shape.piece_axes(); i < shape.axes.size(); ++i) {
      Axis& axis = shape.axes[i];
      kernel::repeat(runs_, axis.length, axis.target.bytes);
      if (streamed_) axis.target.bytes = std::exchange(pitch, pitch * axis.length);
    }
    return shape;
  }

  static constexpr std::uint64_t tile_bytes = 12 * 1024;

  std::uint64_t length_, source_stride_, target_stride_;  // of the axis along which parcels repeat
  bool streamed_;
  RowsOutFunction write_;
  std::uint64_t of_tile_ = 1;  // coordinates; the last tile of them may have almost twice as many
  std::uint64_t tiles_ = 1;    // along the axis
  std::uint64_t tiles_per_task_ = 1;
  std::size_t run_pitch_ = 0;              // of the buffer
  std::vector<std::uint64_t> runs_ = {0};  // where they begin in the target
  Parcel parcel_;
  std::vector<StridedAxis> in_source_, in_target_;  // the other axes
  std::uint64_t outer_count_ = 1;
};

}  // namespace

std::function<std::unique_ptr<Engine>()> parcels_for(const TargetAxes& target, bool streamed,
                                                     double& cycles) {
  if (Parcel::vector_bytes() == 0 || std::ranges::any_of(target.axes, &StridedAxis::mapped)) return nullptr;
  std::optional<Choice> choice = choose(target, streamed);
  if (!choice || choice->cycles >= cycles) return nullptr;
  cycles = choice->cycles;
  return [choice = *std::move(choice), streamed] { return std::make_unique<Parcels>(choice, streamed); };
}

}  // namespace xorder::memory
