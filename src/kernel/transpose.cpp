// The strategy for boxes of small elements. It applies where an axis is fastest in the source and another one
// in the target: planes of these two are transposed, all other axes are outer loops.
//
// A plane is done in panels of a few target lines' worth of rows by one line's worth of columns: each source
// line is used up at once, and each target row gets a *segment*, long enough to be written past the cache
// whatever its alignment. The segments of a panel are put together in a buffer that stays in the first-level
// cache.
#include <algorithm>
#include <bit>
#include <vector>
#include "kernel/box.hpp"
#include "kernel/elements.hpp"
#include "kernel/micro.hpp"

namespace xorder::kernel {
namespace {

constexpr std::size_t panel_size = 16384;
constexpr std::size_t largest_segment = 512;
constexpr std::size_t most_rows = panel_size / line_bytes;

// How far ahead source lines are asked for. It is few of them, because rows that lie a large power of two
// apart share one set of the cache, which has but 8 to 16 places.
constexpr std::size_t lines_ahead = 16;

// N is the size of an element, or 0 where the compiler cannot know it.
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
        panel_columns_(std::max<std::size_t>(1, line_bytes / element_bytes)),
        panel_rows_(std::max<std::size_t>(
            1, std::min(panel_size / panel_columns_, largest_segment) / element_bytes)) {
    if (kernels_.plain != nullptr) panel_rows_ -= panel_rows_ % panel_columns_;
    stride_ = panel_rows_ * size();
  }

  void transpose(const Place& place) {
    for (std::uint64_t row = 0; row < rows_.length; row += panel_rows_) {
      const std::size_t count = std::min<std::uint64_t>(panel_rows_, rows_.length - row);
      Place at = place;
      at.advance(rows_, row);
      const std::uint64_t target_byte = at.target.bytes;
      std::uint64_t target_run = at.target.runs;
      for (std::size_t i = 0; i < count; ++i) {
        source_[i] = group_.sources[at.source.runs] + at.source.bytes;
        at.advance(rows_);
      }
      const std::uint64_t full = columns_.length - columns_.length % panel_columns_;
      std::uint64_t column = 0;
      for (; column < full; column += panel_columns_) {
        full_panel(count, column + panel_columns_ < columns_.length);
        write_panel(target_run, target_byte, column, panel_columns_, count);
        for (std::size_t i = 0; i < count; ++i) source_[i] += panel_columns_ * size();
      }
      if (column < columns_.length) {
        some(0, count, columns_.length - column);
        write_panel(target_run, target_byte, column, columns_.length - column, count);
      }
    }
  }

 private:
  std::uint64_t size() const { return N != 0 ? N : element_bytes_; }

  void full_panel(std::size_t count, bool more) {
    const std::size_t k = panel_columns_;
    std::size_t row = 0;
    if (kernels_.plain != nullptr) {
      TileRows tile;
      for (; row + k <= count; row += k) {
        fetch(row, k, count, more);
        for (std::size_t i = 0; i < k; ++i) {
          tile.source[i] = source_[row + i];
          tile.target[i] = panel_ + i * stride_ + row * size();
        }
        kernels_.plain(tile);
      }
    } else {
      fetch(0, count, count, more);
    }
    some(row, count, k);
  }

  // Asks for the lines of k rows, some rows ahead, in this panel or the next one.
  void fetch(std::size_t row, std::size_t k, std::size_t count, bool more) const {
    for (std::size_t i = row + lines_ahead; i < row + lines_ahead + k; ++i) {
      if (i < count) {
        prefetch(source_[i]);
      } else if (more && i - count < count) {
        prefetch(source_[i - count] + panel_columns_ * size());
      }
    }
  }

  // Rows first .. count−1 of some columns, one by one.
  void some(std::size_t first, std::size_t count, std::size_t columns) {
    for (std::size_t u = 0; u < columns; ++u) {
      std::byte* to = panel_ + u * stride_ + first * size();
      for (std::size_t t = first; t < count; ++t, to += size()) {
        copy_element<N>(to, source_[t] + u * size(), size());
      }
    }
  }

  void write_panel(std::uint64_t run, std::uint64_t byte, std::uint64_t column, std::size_t columns,
                   std::size_t count) {
    run += column * columns_.target.runs;
    byte += column * columns_.target.bytes;
    for (std::size_t u = 0; u < columns; ++u) {
      write_(group_.targets[run] + byte, panel_ + u * stride_, count * size());
      run += columns_.target.runs;
      byte += columns_.target.bytes;
    }
  }

  const Group& group_;
  const Axis& columns_;
  const Axis& rows_;
  std::uint64_t element_bytes_;
  CopyFunction write_;
  TileKernels kernels_;
  std::size_t panel_columns_;
  std::size_t panel_rows_;
  std::size_t stride_;
  const std::byte* source_[most_rows * 2];
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
    if (columns == no_axis || rows == no_axis || box.piece >= line_bytes) {  // an edge may have neither
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
