// The strategy for linear axes. It applies if the elements of the linear axis are next to each other on both
// sides, or are large. Axes that are contiguous on both sides first become part of the element. All other
// axes are outer loops.
//
// Where line tiles do not apply, low bits that L leaves alone become part of the element too: if L e_i = e_i
// for all i < j and no other column touches these bits, then 2^j elements move together. Only an offset can
// still permute them among themselves.
#include "kernel/linear.hpp"

#include <algorithm>

#include "gf2/extend.hpp"
#include "xorder/gf2/subspace.hpp"

namespace xorder::kernel {
namespace {

// Elements of at least a line that lie apart are copied as pieces. Below this size, adjacent elements are
// better gathered into segments before they are written. (With earlier tiles: gathering 128-byte elements
// 9.5 GB/s, as pieces 6.5; 256-byte elements 14 against 23.)
constexpr std::uint64_t large_piece = 4 * line_bytes;

bool moves_low_bits_together(const gf2::BitMatrix& map, int bits) {
  for (int j = 0; j < map.cols(); ++j) {
    if (j < bits ? map.column(j) != gf2::unit(j) : (map.column(j) & gf2::low_mask(bits)) != 0) return false;
  }
  return true;
}

// The number of low bits that become part of the element.
int fold(const LinearAxis& axis) {
  int bits = std::min({axis.source_low, axis.target_low, axis.map.cols(), axis.map.rows()});
  while (!moves_low_bits_together(axis.map, bits)) --bits;
  return bits;
}

// For elements of any size that are next to each other.
std::unique_ptr<LinearEngine> make_engine(const LinearAxis& axis, std::uint64_t piece, bool streamed) {
  if (piece >= large_piece) return make_linear_pieces(axis, piece, streamed);
  auto lines = make_linear_lines(axis, piece, streamed);
  return lines ? std::move(lines) : make_linear_records(axis, piece, streamed);
}

class Linear final : public Strategy {
 public:
  // `inner` has the axes that are contiguous on both sides, innermost first. With the element they make
  // `piece` bytes.
  Linear(const Layout& layout, std::vector<std::size_t> inner, std::uint64_t piece)
      : element_bytes_(layout.element_bytes),
        axes_(layout.axes),
        inner_(std::move(inner)),
        table_(make_table(layout)) {
    const LinearAxis& axis = *layout.linear;
    const bool contiguous = axis.source.bytes == piece && axis.target.bytes == piece;
    const int fixed = contiguous ? fold(axis) : 0;
    tiled_ = contiguous && (piece << fixed) < large_piece;
    if (tiled_) engine_ = make_linear_lines(axis, piece, layout.streamed);
    if (engine_) return;
    folded_ = fixed;
    engine_ = (tiled_ ? make_linear_records : make_linear_pieces)(folded(axis, folded_), piece << folded_,
                                                                  layout.streamed);
    if (folded_ > 0) unfolded_ = make_engine(axis, piece, layout.streamed);
  }

  const char* name() const override { return "linear"; }

  void run(const Group& group) const override {
    std::uint64_t piece = element_bytes_;
    AxisList outer;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      Axis axis = axes_[i];
      axis.length = group.lengths[i];
      if (axis.length == 0) return;
      if (axis.length > 1 && std::ranges::find(inner_, i) == inner_.end()) outer.push(axis);
    }
    bool whole = true;
    bool gaps = false;
    for (const std::size_t i : inner_) {
      gaps = gaps || (!whole && group.lengths[i] > 1);
      whole = whole && group.lengths[i] == axes_[i].length;
      piece *= group.lengths[i];
    }
    if (gaps || (!whole && (tiled_ || folded_ > 0))) {
      table_->run(group);  // an edge has only parts of the pieces
      return;
    }
    const bool low = (group.offset & gf2::low_mask(folded_)) != 0;
    for_each_place(outer, {}, [&](const Place& place) {
      if (low) {
        unfolded_->run(group, place, group.offset, piece);
      } else {
        engine_->run(group, place, group.offset >> folded_, piece << folded_);
      }
    });
    finish_streams();
  }

 private:
  std::uint64_t element_bytes_;
  std::vector<Axis> axes_;
  std::vector<std::size_t> inner_;
  bool tiled_ = false;
  int folded_ = 0;
  std::unique_ptr<LinearEngine> engine_;
  std::unique_ptr<LinearEngine> unfolded_;  // for an offset with bits below folded_
  std::unique_ptr<Strategy> table_;
};

}  // namespace

LinearAxis folded(const LinearAxis& axis, int bits) {
  LinearAxis rest = axis;
  rest.map = axis.map.block(bits, bits, axis.map.rows() - bits, axis.map.cols() - bits);
  rest.source_low -= bits;
  rest.target_low -= bits;
  rest.source.bytes <<= bits;
  rest.target.bytes <<= bits;
  return rest;
}

LinearAxis unfolded(const LinearAxis& axis, int bits) {
  LinearAxis parts = axis;
  parts.map = gf2::with_low_bits(axis.map, bits);
  parts.source_low += bits;
  parts.target_low += bits;
  parts.source.bytes >>= bits;
  parts.target.bytes >>= bits;
  return parts;
}

TileShape longest(const LinearAxis& axis) {
  const gf2::Subspace image = gf2::Subspace::span(axis.map.columns());
  int target = 0;
  while (target < std::min(axis.target_low, axis.map.rows()) && image.contains(gf2::unit(target))) ++target;
  return {std::min(axis.source_low, axis.map.cols()), target};
}

std::unique_ptr<Strategy> make_linear(const Layout& layout) {
  if (!layout.linear) return nullptr;
  std::vector<std::size_t> inner;
  std::uint64_t piece = layout.element_bytes;
  for (bool found = true; found;) {
    found = false;
    for (std::size_t i = 0; i < layout.axes.size(); ++i) {
      const Axis& axis = layout.axes[i];
      if (axis.length <= 1 || !is_next_to(axis, piece)) continue;
      inner.push_back(i);
      piece *= axis.length;
      found = true;
    }
  }
  const LinearAxis& axis = *layout.linear;
  const bool contiguous = axis.source.bytes == piece && axis.target.bytes == piece;
  if (!contiguous && piece < line_bytes) return nullptr;
  return std::make_unique<Linear>(layout, std::move(inner), piece);
}

}  // namespace xorder::kernel
