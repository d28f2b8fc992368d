// The strategy of last resort: element by element, in source order. It applies if no other one does: to a
// linear axis with small elements that are not next to each other. The linear strategy also uses it at edges.
#include <bit>
#include <cstring>
#include <vector>

#include "kernel/strategy.hpp"

namespace xorder::kernel {
namespace {

class OneByOne final : public Strategy {
 public:
  explicit OneByOne(const Layout& layout) : layout_(layout) {
    // Counting from h − 1 to h flips all bits up to h's lowest set bit. The image changes by the sum of their
    // columns.
    if (layout.linear) {
      gf2::Word sum = 0;
      for (const gf2::Word column : layout.linear->map.columns()) steps_.push_back(sum ^= column);
    }
  }

  const char* name() const override { return "one by one"; }

  void run(const Group& group) const override {
    AxisList axes;
    for (std::size_t i = 0; i < layout_.axes.size(); ++i) {
      Axis axis = layout_.axes[i];
      axis.length = group.lengths[i];
      if (axis.length == 0) return;
      if (axis.length > 1) axes.push(axis);
    }
    for_each_place(axes, {}, [&](const Place& place) {
      if (layout_.linear) {
        permute(group, place, *layout_.linear);
      } else {
        std::memcpy(group.targets[place.target.runs] + place.target.bytes,
                    group.sources[place.source.runs] + place.source.bytes, layout_.element_bytes);
      }
    });
  }

 private:
  void permute(const Group& group, const Place& place, const LinearAxis& linear) const {
    const gf2::Word count = gf2::Word{1} << linear.map.cols();
    gf2::Word z = group.offset;
    for (gf2::Word h = 0;;) {
      const Stride from = at(h, linear.source_low, linear.source);
      const Stride to = at(z, linear.target_low, linear.target);
      std::memcpy(group.targets[place.target.runs + to.runs] + place.target.bytes + to.bytes,
                  group.sources[place.source.runs + from.runs] + place.source.bytes + from.bytes,
                  layout_.element_bytes);
      if (++h == count) return;
      z ^= steps_[static_cast<std::size_t>(std::countr_zero(h))];
    }
  }

  static Stride at(gf2::Word coordinate, int low, const Stride& stride) {
    return {.runs = low >= 64 ? 0 : (coordinate >> low) * stride.runs,
            .bytes = (coordinate & gf2::low_mask(low)) * stride.bytes};
  }

  Layout layout_;
  std::vector<gf2::Word> steps_;
};

}  // namespace

std::unique_ptr<Strategy> make_one_by_one(const Layout& layout) { return std::make_unique<OneByOne>(layout); }

}  // namespace xorder::kernel
