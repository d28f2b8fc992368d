// The engine "records": elements so large that they are copied one by one, in the target's order. Only
// prefetching is left to do, since the next records may lie anywhere.
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
        axes_(std::move(target.axes)) {
    for (const StridedAxis& a : axes_) total_ *= a.extent;
    count_ = std::max<std::uint64_t>(1, task_bytes / element_bytes_);
  }

  std::uint64_t tasks() const override { return ceil_div(total_, count_); }

  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    const std::uint64_t begin = first * count_;
    const std::uint64_t end = std::min(total_, last * count_);
    // The beginning of a record, until the hardware's prefetching follows. Two records ahead, into the second
    // level, is best.
    const std::uint64_t ahead = std::min<std::uint64_t>(element_bytes_, 1024);
    Offsets offsets(axes_, begin), later(axes_, std::min(begin + 2, total_ - 1));
    for (std::uint64_t i = begin; i < end; ++i, ++offsets, ++later) {
      for (std::uint64_t at = 0; at < ahead; at += line_bytes) prefetch_far(source + *later + at);
      copy_(target + i * element_bytes_, source + *offsets, element_bytes_);
    }
  }

  std::string describe() const override {
    return fmt::format("axes: records of {} bytes{}", element_bytes_, streamed_ ? ", streamed" : "");
  }

 private:
  std::uint64_t element_bytes_;
  CopyFunction copy_;
  bool streamed_;
  std::vector<StridedAxis> axes_;
  std::uint64_t count_ = 1, total_ = 1;
};

}  // namespace

std::unique_ptr<Engine> make_records(TargetAxes target, bool streamed) {
  return std::make_unique<Records>(std::move(target), streamed);
}

}  // namespace xorder::memory
