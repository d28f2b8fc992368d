// The strategy for linear axes. It applies if the elements of the linear axis are next to each other on both
// sides, or are large. Axes that are contiguous on both sides first become part of the element. An axis
// that repeats a short map is joined to the linear axis. All other axes are outer loops.
//
// Where line tiles do not apply, low bits that L leaves alone become part of the element too: if L e_i = e_i
// for all i < j and no other column touches these bits, then 2^j elements move together. Only an offset can
// still permute them among themselves.
#include "kernel/linear/linear.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "gf2/extend.hpp"
#include "gf2/subspace.hpp"

namespace xorder::kernel {
namespace {

// Elements of at least a line that lie apart are copied as pieces. Below this size, adjacent elements are
// better gathered into segments before they are written; above it, the second copy costs more than the short
// writes.
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
std::unique_ptr<LinearMover> make_mover(const LinearAxis& axis, std::uint64_t piece, bool streamed) {
  if (piece >= large_piece) return make_linear_pieces(axis, piece, streamed);
  auto lines = make_linear_lines(axis, piece, streamed);
  return lines ? std::move(lines) : make_linear_records(axis, piece, streamed);
}

// The movers for one axis, with `piece` bytes for each coordinate.
class Folded {
 public:
  Folded(const LinearAxis& axis, std::uint64_t piece, bool streamed) {
    const bool contiguous = axis.source.bytes == piece && axis.target.bytes == piece;
    const int fixed = contiguous ? fold(axis) : 0;
    tiled_ = contiguous && (piece << fixed) < large_piece;
    if (tiled_) mover_ = make_linear_lines(axis, piece, streamed);
    if (mover_) return;
    bits_ = fixed;
    mover_ =
        (tiled_ ? make_linear_records : make_linear_pieces)(folded(axis, bits_), piece << bits_, streamed);
    if (bits_ > 0) unfolded_ = make_mover(axis, piece, streamed);
  }

  /// Whether pieces may be shorter than the constructor was told.
  bool takes_parts() const { return !tiled_ && bits_ == 0; }

  void run(const Group& group, const Place& place, std::uint64_t piece) const {
    if ((group.offset & gf2::low_mask(bits_)) != 0) {
      unfolded_->run(group, place, group.offset, piece);
    } else {
      mover_->run(group, place, group.offset >> bits_, piece << bits_);
    }
  }

 private:
  bool tiled_ = false;
  int bits_ = 0;
  std::unique_ptr<LinearMover> mover_;
  std::unique_ptr<LinearMover> unfolded_;  // for an offset with bits below bits_
};

// An axis that repeats a short map, 2^bits of which are performed as one.
struct Batch {
  std::size_t axis = 0;
  int bits = 0;
};

// Bytes of several maps that are performed as one, at most. (One call for each short map costs several times
// as much as moving its bytes.)
constexpr std::uint64_t batch_bytes = 16 * 1024;

std::optional<Batch> find_batch(const Layout& layout, std::uint64_t piece) {
  const LinearAxis& linear = *layout.linear;
  const int n = linear.map.cols();
  const std::uint64_t bytes = piece << n;
  if (linear.map.rows() != n || linear.source_low < n || linear.target_low < n ||
      linear.source.bytes != piece || linear.target.bytes != piece)
    return std::nullopt;
  for (std::size_t i = 0; i < layout.axes.size(); ++i) {
    const Axis& axis = layout.axes[i];
    const std::uint64_t most = std::min(axis.length, batch_bytes / bytes);
    if (most >= 2 && is_next_to(axis, bytes)) return Batch{i, static_cast<int>(std::bit_width(most)) - 1};
  }
  return std::nullopt;
}

LinearAxis with_batch(LinearAxis axis, int bits) {
  axis.map = gf2::with_high_bits({axis.map, 0}, bits).matrix;
  axis.source_low = axis.target_low = axis.map.cols();
  return axis;
}

class Linear final : public Strategy {
 public:
  // `inner` has the axes that are contiguous on both sides, innermost first. With the element they make
  // `piece` bytes.
  Linear(const Layout& layout, std::vector<std::size_t> inner, std::uint64_t piece)
      : element_bytes_(layout.element_bytes),
        axes_(layout.axes),
        inner_(std::move(inner)),
        one_(*layout.linear, piece, layout.streamed),
        batch_(find_batch(layout, piece)),
        one_by_one_(make_one_by_one(layout)) {
    if (batch_) several_.emplace(with_batch(*layout.linear, batch_->bits), piece, layout.streamed);
  }

  const char* name() const override { return "linear"; }

  void run(const Group& group) const override {
    std::uint64_t piece = element_bytes_;
    AxisList outer;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      Axis axis = axes_[i];
      axis.length = group.lengths[i];
      if (axis.length == 0) return;
      const bool within = std::ranges::find(inner_, i) != inner_.end() || (batch_ && batch_->axis == i);
      if (axis.length > 1 && !within) outer.push(axis);
    }
    bool whole = true;
    bool gaps = false;
    for (const std::size_t i : inner_) {
      gaps = gaps || (!whole && group.lengths[i] > 1);
      whole = whole && group.lengths[i] == axes_[i].length;
      piece *= group.lengths[i];
    }
    if (gaps || (!whole && !one_.takes_parts())) {
      one_by_one_->run(group);  // an edge has only parts of the pieces
      return;
    }
    for_each_place(outer, {}, [&](const Place& place) {
      if (batch_) {
        run_batch(group, place, piece, whole);
      } else {
        one_.run(group, place, piece);
      }
    });
    finish_streams();
  }

 private:
  void run_batch(const Group& group, Place place, std::uint64_t piece, bool whole) const {
    const Axis& axis = axes_[batch_->axis];
    const std::uint64_t together = std::uint64_t{1} << batch_->bits;
    std::uint64_t left = group.lengths[batch_->axis];
    for (; whole && left >= together; left -= together, place.advance(axis, together))
      several_->run(group, place, piece);
    for (; left != 0; --left, place.advance(axis)) one_.run(group, place, piece);
  }

  std::uint64_t element_bytes_;
  std::vector<Axis> axes_;
  std::vector<std::size_t> inner_;
  Folded one_;
  std::optional<Batch> batch_;
  std::optional<Folded> several_;
  std::unique_ptr<Strategy> one_by_one_;
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
