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
#include "kernel/elements.hpp"
#include "kernel/micro.hpp"

namespace xorder::kernel {
namespace {

// Sizes in bytes, but most_rows in rows. As in micro_tiles.cpp, strips of one line are best for small
// elements, whose tiles have many rows.
constexpr std::size_t panel_size = 32768;
constexpr std::size_t segment_limit = 512;
constexpr std::size_t most_rows = 256;

constexpr std::size_t strip_lines(std::uint64_t element_bytes) { return element_bytes < 8 ? 1 : 8; }

std::size_t strip_columns(std::uint64_t element_bytes) {
  return strip_lines(element_bytes) * line_bytes / element_bytes;
}

std::size_t panel_rows(std::uint64_t element_bytes) {
  const std::size_t rows = std::min<std::size_t>(most_rows, segment_limit / element_bytes);
  return std::has_single_bit(rows) ? rows : rows / 4 * 4;
}

// How many rows ahead source lines are prefetched. No more, because rows that lie a large power of two apart
// share one set of the cache, which has only 8 to 16 ways.
constexpr std::size_t rows_ahead = 16;

// N is the size of an element, or 0 if it is not known at compile time.
template <std::size_t N>
class Plane {
 public:
  Plane(const Group& group, const Axis& columns, const Axis& rows, std::uint64_t element_bytes,
        CopyFunction write)
      : group_(group),
        columns_(columns),
        rows_(rows),
        element_bytes_(element_bytes),
        write_(write),
        kernels_(tile_kernels(element_bytes)),
        tile_(kernels_.plain == nullptr ? 0 : line_bytes / element_bytes),
        strip_(strip_columns(element_bytes)),
        panel_rows_(panel_rows(element_bytes)),
        stride_(panel_rows_ * element_bytes) {}

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
        fill(rows, columns, columns_.length - column > strip_);
        for (std::size_t u = 0; u < columns; ++u) {
          write_(group_.targets[to.runs] + to.bytes, panel_ + u * stride_, rows * size());
          to.runs += columns_.target.runs;
          to.bytes += columns_.target.bytes;
        }
        for (std::size_t i = 0; i < rows; ++i) source_[i] += columns * size();
      }
    }
  }

 private:
  std::uint64_t size() const { return N != 0 ? N : element_bytes_; }

  // Gathers a panel. `more` says that another one follows on its right.
  void fill(std::size_t rows, std::size_t columns, bool more) {
    if (tile_ == 0) {
      fetch(rows, 2 * rows, rows, more);
      some(0, rows, 0, columns);
      return;
    }
    const std::size_t tiled_rows = rows - rows % tile_;
    const std::size_t tiled_columns = columns - columns % tile_;
    TileRows tile;
    for (std::size_t row = 0; row < tiled_rows; row += tile_) {
      fetch(row + rows_ahead, row + rows_ahead + tile_, rows, more);
      for (std::size_t column = 0; column < tiled_columns; column += tile_) {
        for (std::size_t i = 0; i < tile_; ++i) {
          tile.source[i] = source_[row + i] + column * size();
          tile.target[i] = panel_ + (column + i) * stride_ + row * size();
        }
        kernels_.plain(tile);
      }
    }
    some(0, tiled_rows, tiled_columns, columns);
    some(tiled_rows, rows, 0, columns);
  }

  // Prefetches the strips of rows first .. last−1. Rows beyond this panel's count as rows of the next panel.
  void fetch(std::size_t first, std::size_t last, std::size_t rows, bool more) const {
    for (std::size_t i = first; i < last; ++i) {
      if (i < rows) {
        fetch_strip(source_[i]);
      } else if (more && i - rows < rows) {
        fetch_strip(source_[i - rows] + strip_ * size());
      }
    }
  }
  void fetch_strip(const std::byte* strip) const {
    for (std::size_t i = 0; i < strip_lines(size()); ++i) prefetch(strip + i * line_bytes);
  }

  // Copies elements one by one: rows first .. last−1, columns column .. columns−1.
  void some(std::size_t first, std::size_t last, std::size_t column, std::size_t columns) {
    for (std::size_t u = column; u < columns; ++u) {
      std::byte* to = panel_ + u * stride_ + first * size();
      for (std::size_t t = first; t < last; ++t, to += size())
        copy_element<N>(to, source_[t] + u * size(), size());
    }
  }

  const Group& group_;
  const Axis& columns_;
  const Axis& rows_;
  std::uint64_t element_bytes_;
  CopyFunction write_;
  TileKernels kernels_;
  std::size_t tile_;  // rows and columns of a tile; 0 if there is no kernel for this element size
  std::size_t strip_;
  std::size_t panel_rows_;
  std::size_t stride_;
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
      with_constant_size(box.piece, [&]<std::size_t n>(ConstantSize<n>) {
        Plane<n> plane(group, column_axis, row_axis, box.piece, write_);
        for_each_place(box.axes, {}, [&](const Place& place) { plane.transpose(place); });
      });
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
