// The engine "lines": what has no rows or no runs, because elements have gaps between them or are mirrored. A
// line is some elements at equal distances on both sides; mirrored ones are reversed in registers. What
// follows each other in the target is put together in a buffer, and written past the cache from there.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "kernel/gather.hpp"
#include "memory/box/box_engines.hpp"
#include "memory/micro.hpp"
#include "memory/scratch.hpp"
#include "rounding.hpp"

namespace xorder::memory {
namespace {

// A tile is a part of each of some lines. These follow each other along the axis that is fastest in the
// source or, if the lines lie along that one, in the target. So the tile uses up the cache lines that it
// reads.
class Lines : public Engine {
 public:
  Lines(const TargetAxes& target, bool streamed)
      : element_bytes_(target.element_bytes), copy_(copy_function(streamed)) {
    std::vector<kernel::Axis> axes = target.with_strides();
    std::erase_if(axes, [](const kernel::Axis& axis) { return axis.length == 1; });
    const auto in_source = [](const kernel::Axis& axis) { return distance(axis.source.bytes); };
    auto line = axes.begin(), across = std::ranges::min_element(axes, {}, in_source);
    constexpr std::uint64_t few = 16;  // a call for so few elements takes longer than to move them
    if (line->length < few) {
      across = line;
      line = std::ranges::max_element(axes, {}, &kernel::Axis::length);
    }
    const bool in_squares = across != line;
    if (across == line && axes.size() > 1) ++across;
    line_ = *line;
    if (across != line) across_ = *across;
    line->length = across->length = 1;  // the others are left

    constexpr std::uint64_t cached = 16 * 1024, stretch = 512;  // bytes
    const std::uint64_t bytes =
        in_squares ? std::clamp<std::uint64_t>(64 * element_bytes_, stretch, cached) : cached;
    part_ = std::clamp<std::uint64_t>(bytes / element_bytes_, 1, line_.length);
    const std::uint64_t step = std::min(distance(across_.source.bytes), distance(across_.target.bytes));
    together_ = std::clamp<std::uint64_t>(std::max(stretch / step, cached / (part_ * element_bytes_)), 1,
                                          across_.length);
    for (const kernel::Axis& axis : axes) {
      in_source_.push_back({axis.length, axis.source.bytes, false, {}});
      in_target_.push_back({axis.length, axis.target.bytes, false, {}});
      outer_ *= axis.length;
    }
    parts_ = ceil_div(line_.length, part_);
    blocks_ = ceil_div(across_.length, together_);
    buffered_ =
        streamed && line_.target.bytes == element_bytes_ && part_ * element_bytes_ >= kernel::streamed_bytes;
    tiles_per_task_ = std::max<std::uint64_t>(1, task_bytes / (part_ * together_ * element_bytes_));
  }

  std::uint64_t tasks() const override { return ceil_div(outer_ * blocks_ * parts_, tiles_per_task_); }

  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    const std::uint64_t end = std::min(outer_ * blocks_ * parts_, last * tiles_per_task_);
    Scratch buffer(buffered_ ? part_ * element_bytes_ : 0);
    for (std::uint64_t tile = first * tiles_per_task_; tile < end; ++tile) {
      const std::uint64_t outer = tile / parts_ / blocks_, at = tile % parts_ * part_,
                          block = tile / parts_ % blocks_ * together_;
      const std::uint64_t count = std::min(part_, line_.length - at);
      const std::byte* from =
          source + *Offsets(in_source_, outer) + at * line_.source.bytes + block * across_.source.bytes;
      std::byte* to =
          target + *Offsets(in_target_, outer) + at * line_.target.bytes + block * across_.target.bytes;
      for (std::uint64_t i = std::min(together_, across_.length - block); i > 0;
           --i, from += across_.source.bytes, to += across_.target.bytes) {
        kernel::gather(from, static_cast<std::int64_t>(line_.source.bytes), buffered_ ? buffer.data() : to,
                       static_cast<std::int64_t>(line_.target.bytes), count, element_bytes_);
        if (buffered_) copy_(to, buffer.data(), count * element_bytes_);
      }
    }
  }

  std::string describe() const override {
    return fmt::format(
        "axes: lines of {} elements of {} bytes, {} bytes apart in the source and {} in the target{}",
        line_.length, element_bytes_, static_cast<std::int64_t>(line_.source.bytes),
        static_cast<std::int64_t>(line_.target.bytes), buffered_ ? ", streamed" : "");
  }

 private:
  static std::uint64_t distance(std::uint64_t stride) { return std::min(stride, -stride); }

  std::uint64_t element_bytes_;
  CopyFunction copy_;
  kernel::Axis line_, across_{1, {0, 1}, {0, 1}};
  std::vector<StridedAxis> in_source_, in_target_;  // the other axes
  std::uint64_t outer_ = 1;
  std::uint64_t part_ = 1, together_ = 1;  // of a tile: elements of a line, lines
  std::uint64_t parts_ = 1, blocks_ = 1;   // tiles along the lines and across
  bool buffered_ = false;
  std::uint64_t tiles_per_task_ = 1;
};

}  // namespace

std::unique_ptr<Engine> make_lines(const TargetAxes& target, bool streamed) {
  return std::make_unique<Lines>(target, streamed);
}

}  // namespace xorder::memory
