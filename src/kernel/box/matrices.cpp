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
#include <optional>
#include <vector>

#include "kernel/box/box.hpp"
#include "kernel/vectors/micro.hpp"
#include "kernel/vectors/transpose.hpp"

namespace xorder::kernel {
namespace {

// Sizes in bytes, but most_rows in rows. A strip must also fit into the panel. Narrow strips are slow:
// prefetching follows each row only for the width of a strip.
constexpr std::size_t panel_size = 32768;
constexpr std::size_t segment_limit = 512;
constexpr std::size_t strip_limit = 512;
constexpr std::size_t most_rows = 256;

std::size_t panel_rows(std::uint64_t element_bytes) {
  const std::size_t rows = std::min<std::size_t>(most_rows, segment_limit / element_bytes);
  return std::has_single_bit(rows) ? rows : rows / 4 * 4;
}

std::size_t strip(std::uint64_t element_bytes) {
  return std::min(strip_limit / element_bytes, panel_size / (panel_rows(element_bytes) * element_bytes));
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

// The lines of a box's matrices.
struct Lines {
  Line columns, rows;
};

// Adds the axis that is next to the line on the given side. False if there is none, or if the line is long
// enough.
bool lengthen(Line& line, Stride Axis::*side, std::uint64_t enough, Box& box) {
  if (line.length >= enough) return false;
  const std::size_t next = axis_at(box, side, line.length * box.piece);
  if (next == no_axis) return false;
  line.add(box.axes[next]);
  box.axes.erase(next);
  return true;
}

// Takes the axes of the lines out of the box. Nothing if it has no matrices.
std::optional<Lines> take_lines(Box& box) {
  const std::size_t column = axis_at(box, &Axis::source, box.piece);
  const std::size_t row = axis_at(box, &Axis::target, box.piece);
  if (column == no_axis || row == no_axis || box.piece >= line_bytes) return std::nullopt;
  std::optional<Lines> lines(std::in_place);
  Line &columns = lines->columns, &rows = lines->rows;
  columns.add(box.axes[column]);
  rows.add(box.axes[row]);
  box.axes.erase(std::max(column, row));
  box.axes.erase(std::min(column, row));
  const auto longer_columns = [&] { return lengthen(columns, &Axis::source, strip(box.piece), box); };
  const auto longer_rows = [&] { return lengthen(rows, &Axis::target, panel_rows(box.piece), box); };
  // The shorter one first, because the same axis may be next to both.
  while (rows.length < columns.length ? longer_rows() || longer_columns()
                                      : longer_columns() || longer_rows()) {
  }
  return lines;
}

class Matrix {
 public:
  Matrix(const Group& group, const Lines& lines, std::uint64_t element_bytes, CopyFunction write)
      : group_(group),
        lines_(lines),
        element_bytes_(element_bytes),
        transpose_(transpose_function(element_bytes)),
        write_(write),
        panel_rows_(panel_rows(element_bytes)),
        stride_(panel_rows_ * element_bytes),
        strip_(strip(element_bytes)) {}

  void transpose(const Place& place) {
    Walk row(lines_.rows, place);
    for (std::uint64_t first = 0; first < lines_.rows.length; first += panel_rows_) {
      const std::size_t rows = std::min<std::uint64_t>(panel_rows_, lines_.rows.length - first);
      Walk to(lines_.columns, row.place());
      const std::byte** next = source_;
      row.visit(rows, &Place::source, &Axis::source,
                [&](const Stride& at) { *next++ = group_.sources[at.runs] + at.bytes; });
      for (std::uint64_t column = 0; column < lines_.columns.length; column += strip_) {
        const std::size_t columns = std::min<std::uint64_t>(strip_, lines_.columns.length - column);
        const std::size_t after = std::min<std::uint64_t>(strip_, lines_.columns.length - column - columns);
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
  // Prefetches the next columns of a row, while this panel is written.
  void fetch(const std::byte* row, std::size_t columns) const {
    for (std::size_t i = 0; i < columns * element_bytes_; i += line_bytes) prefetch(row + i);
  }

  const Group& group_;
  const Lines& lines_;
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
    if (const auto lines = take_lines(box)) {
      Matrix matrix(group, *lines, box.piece, write_);
      for_each_place(box.axes, {}, [&](const Place& place) { matrix.transpose(place); });
    } else {  // an edge
      copy_box(group, box, write_);
    }
    finish_streams();
  }

 private:
  std::uint64_t element_bytes_;
  std::vector<Axis> axes_;
  CopyFunction write_;
};

}  // namespace

// Fitted together with PickTiles::cycles() to 360 random boxes of 2 to 5 axes and elements of 1 to 16 bytes,
// and checked with 260 others. The choice is nearly always the better strategy; neither is good for all of
// them. (Figures of this and other choices are in bench/kernel_bench.md.)
double matrix_cycles(Box box) {
  const auto lines = take_lines(box);
  if (!lines) return 0;
  const auto w = static_cast<double>(box.piece), rows = static_cast<double>(lines->rows.length),
             columns = static_cast<double>(lines->columns.length);
  double cycles = 2;
  if (!copied_one_by_one(box.piece) && columns * w >= 16 &&
      rows * static_cast<double>(std::bit_ceil(box.piece)) >= 16) {
    cycles = 0.1 * w;
  } else if (std::has_single_bit(box.piece) && box.piece < 16 && columns * w < 16) {
    cycles = std::min(cycles, 0.15 * w + 2 / columns);
  }
  const double segment = std::min(rows, static_cast<double>(panel_rows(box.piece)));
  return cycles + 8 / columns + 30 / segment + 100 / (rows * columns);
}

std::unique_ptr<Strategy> make_transpose(const Layout& layout) {
  if (layout.linear) return nullptr;
  return std::make_unique<Transpose>(layout);
}

}  // namespace xorder::kernel
