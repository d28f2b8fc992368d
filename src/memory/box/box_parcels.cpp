// The engine "parcels": in the cache, boxes that fit in registers (kernel/vectors/parcel.hpp). Which axes a
// parcel takes, and along which axis parcels repeat, is chosen by the cycles that each choice takes.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "kernel/vectors/parcel.hpp"
#include "memory/box/box_engines.hpp"
#include "memory/micro.hpp"
#include "rounding.hpp"

namespace xorder::memory {
namespace {

using kernel::Axis;
using kernel::Parcel;
using kernel::ParcelShape;
using kernel::ParcelSizes;

// Parcels, and the axes that they neither have nor repeat along.
struct Choice {
  ParcelShape shape;
  std::vector<Axis> outer;  // fastest in the target first
};

// Finds the parcels that take the fewest cycles.
class Search {
 public:
  explicit Search(const TargetAxes& target)
      : element_bytes_(target.element_bytes),
        axes_(target.with_strides()),
        by_source_(axes_.size()),
        in_parcel_(axes_.size(), false) {
    std::iota(by_source_.begin(), by_source_.end(), 0);
    std::ranges::sort(by_source_, {}, [&](std::size_t i) { return axes_[i].source.bytes; });
    // A parcel has the axes that are fastest in the source, those that are fastest in the target, or both.
    for (std::size_t in_source = 0; in_source < axes_.size(); ++in_source) {
      if (in_source != 0) in_parcel_[by_source_[in_source - 1]] = true;
      if (bytes() > most_bytes_) break;
      const std::vector<bool> before = in_parcel_;
      for (std::size_t along = 0; along < axes_.size() && bytes() <= most_bytes_; ++along) {
        if (!in_parcel_[along]) try_along(along);
        in_parcel_[along] = true;
      }
      in_parcel_ = before;
    }
  }

  double cycles() const { return cycles_; }  // of each element
  Choice choice() const {
    Choice choice;
    choice.shape.element_bytes = element_bytes_;
    choice.shape.along = axes_[along_];
    choice.shape.taken = taken_;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (i != along_) (chosen_[i] ? choice.shape.axes : choice.outer).push_back(axes_[i]);
    }
    return choice;
  }

 private:
  std::uint64_t bytes() const {
    std::uint64_t bytes = element_bytes_;
    for (std::size_t i = 0; i < axes_.size(); ++i) bytes *= in_parcel_[i] ? axes_[i].length : 1;
    return bytes;
  }

  // Tries parcels that also take some coordinates of the next axis in the target.
  void try_along(std::size_t along) {
    ParcelSizes of_one{bytes(), element_bytes_, element_bytes_, 0, false};
    for (std::size_t i = 0; i < along; ++i) of_one.run *= axes_[i].length;
    for (const std::size_t i : by_source_) {
      if (!in_parcel_[i] || axes_[i].source.bytes != of_one.row) break;
      of_one.row *= axes_[i].length;
    }
    const std::uint64_t length = axes_[along].length;
    const bool lengthens = axes_[along].source.bytes == of_one.row;  // rows, or else there are more
    const bool one_run = of_one.run == of_one.bytes;
    for (std::uint64_t taken = 1;; ++taken) {
      // The most for as many vectors.
      if (lengthens) taken = std::max(taken, round_up(of_one.row * taken, vectors_.loaded) / of_one.row);
      taken = std::min(taken, length);
      const ParcelSizes sizes{of_one.bytes * taken, of_one.row * (lengthens ? taken : 1), of_one.run * taken,
                              length / taken, length % taken != 0};
      if (sizes.loaded(vectors_) > Parcel::most_vectors) return;
      const double cycles = sizes.cycles(vectors_, one_run ? vectors_.picked : 0) /
                            static_cast<double>(of_one.bytes / element_bytes_ * length);
      if (cycles < cycles_) {
        cycles_ = cycles;
        chosen_ = in_parcel_;
        along_ = along;
        taken_ = taken;
      }
      if (taken == length) return;
    }
  }

  std::uint64_t element_bytes_;
  const kernel::ParcelVectors vectors_ = Parcel::vectors(element_bytes_);
  const std::size_t most_bytes_ = Parcel::most_vectors * vectors_.loaded;
  std::vector<Axis> axes_;  // fastest in the target first
  std::vector<std::size_t> by_source_;
  std::vector<bool> in_parcel_, chosen_;
  std::size_t along_ = 0;
  std::uint64_t taken_ = 0;
  double cycles_ = 1e9;
};

class Parcels : public Engine {
 public:
  explicit Parcels(Choice choice, std::uint64_t source_bytes)
      : parcel_(std::move(choice.shape)), source_bytes_(source_bytes) {
    const ParcelShape& shape = parcel_.shape();
    one_run_ = shape.is_one_run();
    const std::uint64_t of_coordinate = parcel_.sizes().bytes / shape.taken;
    of_tile_ = std::min(shape.along.length,
                        round_up(std::max<std::uint64_t>(1, tile_bytes / of_coordinate), shape.taken));
    tiles_ = shape.along.length / of_tile_;
    tiles_per_task_ = std::max<std::uint64_t>(1, task_bytes / (of_tile_ * of_coordinate));
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
    const auto& [length, source_stride, target_stride] = parcel_.shape().along;
    const auto end_of = [&](std::uint64_t t) {  // in the target, if parcels are one run
      return ((t + 1) / tiles_ * length + (t + 1) % tiles_ * of_tile_) * target_stride.bytes;
    };
    const std::uint64_t written = one_run_ ? end_of(end - 1) : 0;
    std::uint64_t part = tile % tiles_;
    Offsets from(in_source_, tile / tiles_), to(in_target_, tile / tiles_);
    for (; tile < end; ++tile) {
      const std::uint64_t begin = part * of_tile_, count = part + 1 == tiles_ ? length - begin : of_tile_;
      parcel_.move(target + *to + begin * target_stride.bytes, source + *from + begin * source_stride.bytes,
                   count, source + source_bytes_, one_run_ ? written - end_of(tile) : 0);
      if (++part == tiles_) {
        part = 0;
        ++from;
        ++to;
      }
    }
  }

  std::string describe() const override {
    const ParcelSizes& sizes = parcel_.sizes();
    const std::uint64_t w = parcel_.shape().element_bytes;
    return fmt::format(
        "axes: parcels of {} bytes, {} elements of {} bytes from each of {} places to each of {}",
        sizes.bytes, sizes.run / w, w, sizes.bytes / sizes.row, sizes.bytes / sizes.run);
  }

 private:
  static constexpr std::uint64_t tile_bytes = 12 * 1024;

  Parcel parcel_;
  std::uint64_t source_bytes_;
  bool one_run_ = false;
  std::uint64_t of_tile_ = 1;  // coordinates; the last tile of them may have almost twice as many
  std::uint64_t tiles_ = 1;    // along the axis
  std::uint64_t tiles_per_task_ = 1;
  std::vector<StridedAxis> in_source_, in_target_;  // the other axes
  std::uint64_t outer_count_ = 1;
};

}  // namespace

std::function<std::unique_ptr<Engine>()> parcels_for(const TargetAxes& target, double& cycles) {
  if (Parcel::vectors(target.element_bytes).loaded == 0 ||
      std::ranges::any_of(target.axes, &StridedAxis::mapped))
    return nullptr;
  const Search search(target);
  if (search.cycles() >= cycles) return nullptr;
  cycles = search.cycles();
  return [choice = search.choice(), bytes = target.source_bytes()] {
    return std::make_unique<Parcels>(choice, bytes);
  };
}

}  // namespace xorder::memory
