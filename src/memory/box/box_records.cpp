// The engine "records": elements so large that they are copied one by one, in the target's order. Only
// prefetching is left to do, since the next records may lie anywhere. Long ones are cut, so that all threads
// have something to do.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "memory/box/box_engines.hpp"
#include "memory/micro.hpp"
#include "rounding.hpp"

namespace xorder::memory {
namespace {

class Records : public Engine {
 public:
  Records(TargetAxes target, bool streamed)
      : element_bytes_(target.element_bytes),
        copy_(copy_function(streamed)),
        streamed_(streamed),
        axes_(std::move(target.axes)),
        part_(round_up(ceil_div(element_bytes_, ceil_div(element_bytes_, 2 * task_bytes)), line_bytes)),
        cuts_(ceil_div(element_bytes_, part_)),
        count_(std::max<std::uint64_t>(1, task_bytes / element_bytes_)) {
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      in_target_.push_back({axes_[i].extent, target.in_target[i], false, {}});
      total_ *= axes_[i].extent;
    }
  }

  std::uint64_t tasks() const override { return ceil_div(total_ * cuts_, count_); }

  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    const std::uint64_t begin = first * count_, end = std::min(total_ * cuts_, last * count_);
    // The beginning of a record, until the hardware's prefetching follows. Two records ahead, into the second
    // level, is best.
    const std::uint64_t ahead = cuts_ == 1 ? std::min<std::uint64_t>(element_bytes_, 1024) : 0;
    const std::uint64_t record = begin / cuts_;
    Offsets from(axes_, record), to(in_target_, record), later(axes_, std::min(record + 2, total_ - 1));
    for (std::uint64_t i = begin, cut = begin % cuts_; i < end; ++i) {
      for (std::uint64_t at = 0; at < ahead; at += line_bytes) prefetch_far(source + *later + at);
      const std::uint64_t at = cut * part_;
      copy_(target + *to + at, source + *from + at, std::min(part_, element_bytes_ - at));
      if (++cut < cuts_) continue;
      cut = 0;
      ++from;
      ++to;
      ++later;
    }
  }

  std::string describe() const override {
    return fmt::format("axes: records of {} bytes{}", element_bytes_, streamed_ ? ", streamed" : "");
  }

 private:
  std::uint64_t element_bytes_;
  CopyFunction copy_;
  bool streamed_;
  std::vector<StridedAxis> axes_, in_target_;
  std::uint64_t part_, cuts_;  // bytes of a part, and parts of a record
  std::uint64_t count_;        // records of a task, or parts
  std::uint64_t total_ = 1;
};

}  // namespace

std::unique_ptr<Engine> make_records(TargetAxes target, bool streamed) {
  return std::make_unique<Records>(std::move(target), streamed);
}

}  // namespace xorder::memory
