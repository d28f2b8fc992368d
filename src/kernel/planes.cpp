// The strategy for boxes of small elements. A box is taken as matrices whose columns follow each other in the
// source and whose rows follow each other in the target. Rows and columns each go along one axis, or along
// several if these are short; the axes that are left are outer loops. A box without two such axes is copied
// piece by piece.
//
// A matrix is divided into panels of some rows by a strip of columns, a few source lines wide. So each source
// line is used up at once. Each target row gets a *segment*, which is long enough to be written past the
// cache whatever its alignment. The segments of a panel are gathered in a buffer that stays in the
// first-level cache.
#include <algorithm>
#include <array>
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

// The axes along which the rows or the columns go, fastest first.
struct Line {
  AxisList axes;
  std::uint64_t length = 1;

  void add(const Axis& axis) {
    axes.push(axis);
    length *= axis.length;
  }
};

// Goes along a line, in stretches along its fastest axis.
class Walk {
 public:
  Walk(const Line& line, const Place& start) : line_(line), place_(start) {
    std::fill_n(at_.begin(), line.axes.size(), 0);
  }
  const Place& place() const { return place_; }
  // Calls visit(place) for this coordinate and the next ones, `count` in all, and steps behind them.
  template <class Visit>
  void visit(std::uint64_t count, Stride Place::*side, Stride Axis::*step, const Visit& visit) {
    const Axis& fastest = line_.axes[0];
    while (count != 0) {
      const std::uint64_t stretch = std::min(count, fastest.length - at_[0]);
      Stride here = place_.*side;
      for (std::uint64_t i = 0; i < stretch; ++i) {
        visit(static_cast<const Stride&>(here));
        here.runs += (fastest.*step).runs;
        here.bytes += (fastest.*step).bytes;
      }
      advance(stretch);
      count -= stretch;
    }
  }

 private:
  // Not beyond the end of the stretch.
  void advance(std::uint64_t steps) {
    for (std::size_t i = 0; i < line_.axes.size(); ++i, steps = 1) {
      const Axis& axis = line_.axes[i];
      place_.advance(axis, steps);
      if ((at_[i] += steps) < axis.length) return;
      at_[i] = 0;
      place_.rewind(axis, axis.length);
    }
  }

  const Line& line_;
  Place place_;
  std::array<std::uint64_t, 64> at_;  // setting all of them would take as long as a small matrix
};

class Matrix {
 public:
  // Takes the axes of the rows and of the columns out of the box.
  Matrix(const Group& group, Box& box, std::size_t columns, std::size_t rows, CopyFunction write)
      : group_(group),
        element_bytes_(box.piece),
        transpose_(transpose_function(element_bytes_)),
        write_(write),
        panel_rows_(panel_rows(element_bytes_)),
        stride_(panel_rows_ * element_bytes_),
        strip_(std::min(strip_limit / element_bytes_, panel_size / stride_)) {
    columns_.add(box.axes[columns]);
    rows_.add(box.axes[rows]);
    box.axes.erase(std::max(columns, rows));
    box.axes.erase(std::min(columns, rows));
    // The shorter one first, because the same axis may be next to both.
    bool longer = true;
    while (longer) {
      const bool rows_first = rows_.length < columns_.length;
      longer = rows_first ? lengthen_rows(box) || lengthen_columns(box)
                          : lengthen_columns(box) || lengthen_rows(box);
    }
  }

  void transpose(const Place& place) {
    Walk row(rows_, place);
    for (std::uint64_t first = 0; first < rows_.length; first += panel_rows_) {
      const std::size_t rows = std::min<std::uint64_t>(panel_rows_, rows_.length - first);
      Walk to(columns_, row.place());
      const std::byte** next = source_;
      row.visit(rows, &Place::source, &Axis::source,
                [&](const Stride& at) { *next++ = group_.sources[at.runs] + at.bytes; });
      for (std::uint64_t column = 0; column < columns_.length; column += strip_) {
        const std::size_t columns = std::min<std::uint64_t>(strip_, columns_.length - column);
        const std::size_t after = std::min<std::uint64_t>(strip_, columns_.length - column - columns);
        transpose_(source_, rows, columns, panel_, stride_, element_bytes_, false);
        for (std::size_t i = 0; i < rows; ++i) source_[i] += columns * element_bytes_;
        std::size_t fetched = 0, u = 0;
        to.visit(columns, &Place::target, &Axis::target, [&](const Stride& at) {
          for (; after != 0 && fetched < rows * (u + 1) / columns; ++fetched) fetch(source_[fetched], after);
          write_(group_.targets[at.runs] + at.bytes, panel_ + u * stride_, rows * element_bytes_);
          ++u;
        });
      }
    }
  }

 private:
  // Adds the axis that is next to the line on the given side. False if there is none, or if the line is long
  // enough.
  bool lengthen(Line& line, Stride Axis::*side, std::uint64_t enough, Box& box) const {
    if (line.length >= enough) return false;
    const std::size_t next = axis_at(box, side, line.length * element_bytes_);
    if (next == no_axis) return false;
    line.add(box.axes[next]);
    box.axes.erase(next);
    return true;
  }
  bool lengthen_rows(Box& box) { return lengthen(rows_, &Axis::target, panel_rows_, box); }
  bool lengthen_columns(Box& box) { return lengthen(columns_, &Axis::source, strip_, box); }

  // Prefetches the next columns of a row, while this panel is written.
  void fetch(const std::byte* row, std::size_t columns) const {
    for (std::size_t i = 0; i < columns * element_bytes_; i += line_bytes) prefetch(row + i);
  }

  const Group& group_;
  Line columns_, rows_;
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
    const std::size_t columns = axis_at(box, &Axis::source, box.piece);
    const std::size_t rows = axis_at(box, &Axis::target, box.piece);
    if (columns == no_axis || rows == no_axis || box.piece >= line_bytes) {  // an edge may have no such axes
      copy_box(group, box, write_);
    } else {
      Matrix matrix(group, box, columns, rows, write_);
      for_each_place(box.axes, {}, [&](const Place& place) { matrix.transpose(place); });
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
