// The strategy for boxes of small elements. One axis is fastest in the source and another one in the target.
// Planes of these two are transposed; all other axes are outer loops. A box without two such axes is copied
// piece by piece.
//
// A plane is divided into panels of some rows by a strip of columns, a few source lines wide. So each source
// line is used up at once. Each target row gets a *segment*, which is long enough to be written past the
// cache whatever its alignment. The segments of a panel are gathered in a buffer that stays in the
// first-level cache.
#include <algorithm>
#include <bit>
#include <vector>

#include "kernel/box.hpp"
#include "kernel/micro.hpp"
#include "kernel/transpose.hpp"

namespace xorder::kernel {
namespace {

// Sizes in bytes, but most_rows in rows. A strip must also fit into the panel. Strips of 64, 256 and 512
// bytes: elements of 3 bytes 4.2, 6.6 and 6.7 GB/s, of 6 bytes 4.4, 6.9 and 8.5. (AMD Zen 4, one thread.)
constexpr std::size_t panel_size = 32768;
constexpr std::size_t segment_limit = 512;
constexpr std::size_t strip_limit = 512;
constexpr std::size_t most_rows = 256;

std::size_t panel_rows(std::uint64_t element_bytes) {
  const std::size_t rows = std::min<std::size_t>(most_rows, segment_limit / element_bytes);
  return std::has_single_bit(rows) ? rows : rows / 4 * 4;
}

class Plane {
 public:
  Plane(const Group& group, const Axis& columns, const Axis& rows, std::uint64_t element_bytes,
        CopyFunction write)
      : group_(group),
        columns_(columns),
        rows_(rows),
        element_bytes_(element_bytes),
        transpose_(transpose_function(element_bytes)),
        write_(write),
        panel_rows_(panel_rows(element_bytes)),
        stride_(panel_rows_ * element_bytes),
        strip_(std::min(strip_limit / element_bytes, panel_size / stride_)) {}

  void transpose(const Place& place) {
    for (std::uint64_t row = 0; row < rows_.length; row += panel_rows_) {
      const std::size_t rows = std::min<std::uint64_t>(panel_rows_, rows_.length - row);
      Place at = place;
      at.advance(rows_, row);
      Stride to = at.target;
      for (std::size_t i = 0; i < rows; ++i) {
        source_[i] = group_.sources[at.source.runs] + at.source.bytes;
        at.advance(rows_);
      }
      for (std::uint64_t column = 0; column < columns_.length; column += strip_) {
        const std::size_t columns = std::min<std::uint64_t>(strip_, columns_.length - column);
        const std::size_t after = std::min<std::uint64_t>(strip_, columns_.length - column - columns);
        transpose_(source_, rows, columns, panel_, stride_, element_bytes_, false);
        for (std::size_t i = 0; i < rows; ++i) source_[i] += columns * element_bytes_;
        std::size_t fetched = 0;
        for (std::size_t u = 0; u < columns; ++u) {
          for (; after != 0 && fetched < rows * (u + 1) / columns; ++fetched) fetch(source_[fetched], after);
          write_(group_.targets[to.runs] + to.bytes, panel_ + u * stride_, rows * element_bytes_);
          to.runs += columns_.target.runs;
          to.bytes += columns_.target.bytes;
        }
      }
    }
  }

 private:
  // Prefetches the next columns of a row, while this panel is written.
  void fetch(const std::byte* row, std::size_t columns) const {
    for (std::size_t i = 0; i < columns * element_bytes_; i += line_bytes) prefetch(row + i);
  }

  const Group& group_;
  const Axis& columns_;
  const Axis& rows_;
  std::uint64_t element_bytes_;
  TransposeFunction transpose_;
  CopyFunction write_;
  std::size_t panel_rows_;
  std::size_t stride_;
  std::size_t strip_;
  const std::byte* source_[most_rows];
  alignas(line_bytes) std::byte panel_[panel_size];
};

class Transpose final : public Strategy {
 public:
  explicit Transpose(const Layout& layout)
      : element_bytes_(layout.element_bytes), axes_(layout.axes), write_(copy_function(layout.streamed)) {}
  const char* name() const override { return "transpose"; }

  void run(const Group& group) const override {
    Box box = make_box(element_bytes_, axes_, group.lengths);
    if (box.empty) return;
    const std::size_t columns = axis_next_to_piece(box, &Axis::source);
    const std::size_t rows = axis_next_to_piece(box, &Axis::target);
    if (columns == no_axis || rows == no_axis || box.piece >= line_bytes) {  // an edge may have no such axes
      copy_box(group, box, write_);
    } else {
      const Axis column_axis = box.axes[columns];
      const Axis row_axis = box.axes[rows];
      box.axes.erase(std::max(columns, rows));
      box.axes.erase(std::min(columns, rows));
      Plane plane(group, column_axis, row_axis, box.piece, write_);
      for_each_place(box.axes, {}, [&](const Place& place) { plane.transpose(place); });
    }
    finish_streams();
  }

 private:
  std::uint64_t element_bytes_;
  std::vector<Axis> axes_;
  CopyFunction write_;
};

}  // namespace

std::unique_ptr<Strategy> make_transpose(const Layout& layout) {
  if (layout.linear) return nullptr;
  return std::make_unique<Transpose>(layout);
}

}  // namespace xorder::kernel
