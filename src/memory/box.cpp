#include "memory/box.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "memory/box_axes.hpp"
#include "memory/cache_sizes.hpp"
#include "memory/micro.hpp"
#include "memory/offsets.hpp"
#include "memory/scratch.hpp"
#include "memory/transpose.hpp"
#include "rounding.hpp"

namespace xorder::memory {
namespace {

constexpr std::uint64_t task_bytes = 512 * 1024;

// A tile's buffer. More leaves too little of the second-level cache to what is read.
constexpr std::uint64_t buffer_bytes = 64 * 1024;

constexpr std::uint64_t short_run = 768;
constexpr std::uint64_t long_record = 512;

// Short rows make short streams. If the slowest axis of the run is next to D in the source, rows along both
// are longer. Each coordinate of that axis is then a matrix of its own.
void stack(Box& box) {
  constexpr std::uint64_t long_row = 2048;
  if (box.run.size() < 2 || box.columns.mapped) return;
  const TargetAxis& slowest = box.run.back();
  const std::uint64_t row = box.columns.extent * box.element_bytes;
  const std::uint64_t rest = box.run_length / slowest.extent;
  if (slowest.mapped || slowest.source_stride != row || row >= long_row ||
      rest * box.element_bytes < short_run)
    return;
  box.stacked = slowest.extent;
  box.run_length = rest;
  box.run.pop_back();
}

class Runs : public Engine {
 public:
  Runs(Box box, bool streamed)
      : box_(std::move(box)),
        transpose_(transpose_function(box_.element_bytes)),
        write_(rows_out_function(streamed)),
        streamed_(streamed) {
    stack(box_);
    if (box_.rows_adjacent()) split_ = split_function(box_.element_bytes, box_.columns.extent);
    if (box_.columns.mapped) to_target_ = box_.columns.to_source.inverse();
    const std::uint64_t w = box_.element_bytes;
    const std::uint64_t all_columns = box_.columns.extent;
    // Of 1 and 2 bytes there are more rows than the hardware follows in any case, so pieces may be longer.
    const std::uint64_t run_bytes =
        w < line_bytes ? (w <= 2 ? 256 : std::clamp<std::uint64_t>(32 * w, 128, 256)) : 2048;
    rows_ =
        std::min(std::max<std::uint64_t>(w < line_bytes ? 8 : 1, ceil_div(run_bytes, w)), box_.run_length);
    if (all_columns * w < 1024 &&
        w < line_bytes) {  // short rows are close together: any number of them is one stream
      rows_ = std::min(box_.run_length,
                       std::max(rows_, std::min(std::uint64_t{16384} / (all_columns * w), 2048 / w)) / 8 * 8);
    }
    lines_ = (box_.run_length * w) % line_bytes == 0 && (rows_ * w) % line_bytes == 0;
    overlap_ = ceil_div(line_bytes, w);
    block_ = ceil_div(line_bytes, w);
    const std::uint64_t segment_bytes = rows_ <= 32 && w < line_bytes ? 256 : 2048;  // of each row
    const std::uint64_t columns = std::max(block_, std::min(segment_bytes, buffer_bytes / rows_) / w);
    strips_ = std::clamp<std::uint64_t>((all_columns + columns / 2) / columns, 1,
                                        std::max<std::uint64_t>(1, all_columns / block_));
    strips_per_task_ = std::clamp<std::uint64_t>(16384 * strips_ / (all_columns * w), 1, strips_);
    const std::uint64_t task_columns = ceil_div(all_columns * strips_per_task_, strips_) * box_.stacked;
    chunk_ = std::min(box_.run_length, ceil_div(task_bytes, task_columns * w * rows_) * rows_);
    chunks_ = ceil_div(box_.run_length, chunk_);
    tasks_ = box_.outer_count * chunks_ * ceil_div(strips_, strips_per_task_);
    for (std::uint64_t s = 0; s < strips_; ++s) widest_ = std::max(widest_, begin_of(s + 1) - begin_of(s));
    pitch_ = round_up((rows_ + overlap_) * w, line_bytes);
  }

  std::uint64_t tasks() const override { return tasks_; }

  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    Work work(*this);
    const std::uint64_t in_row = ceil_div(strips_, strips_per_task_);
    for (std::uint64_t task = first; task < last; ++task) {
      const std::uint64_t outer = task / (in_row * chunks_);
      const std::uint64_t strip = task % in_row * strips_per_task_;
      const std::uint64_t row = task / in_row % chunks_ * chunk_;
      part(strip, std::min(strips_, strip + strips_per_task_), row, std::min(box_.run_length, row + chunk_),
           source + *Offsets(box_.outer, outer),
           target + outer * box_.columns.extent * box_.stacked * box_.run_length * box_.element_bytes, work);
    }
  }

  std::string describe() const override {
    return fmt::format(
        "axes: runs of {} elements of {} bytes from rows of {}; tiles of {} rows by up to {} columns{}",
        box_.run_length, box_.element_bytes, box_.columns.extent, rows_, widest_,
        streamed_ ? ", streamed" : "");
  }

 private:
  struct Work {
    explicit Work(const Runs& runs)
        : buffer(runs.widest_ * runs.pitch_), offsets(runs.rows_ + runs.overlap_), rows(offsets.size()) {}
    Scratch buffer;
    std::vector<std::uint64_t> offsets;
    std::vector<const std::byte*> rows;
  };

  // Where a strip begins. Strips are about equal and begin at whole blocks. So none is narrower than a block,
  // unless all columns are.
  std::uint64_t begin_of(std::uint64_t strip) const {
    if (strip == strips_) return box_.columns.extent;
    return strip * (box_.columns.extent / block_) / strips_ * block_;
  }

  // Transposes some rows along all strips, then the next rows.
  void part(std::uint64_t strip, std::uint64_t end_strip, std::uint64_t row, std::uint64_t end_row,
            const std::byte* source, std::byte* target, Work& work) const {
    const std::uint64_t w = box_.element_bytes;
    const bool lines = lines_ && reinterpret_cast<std::uintptr_t>(target) % line_bytes == 0;
    for (; row < end_row; row += rows_) {
      const std::uint64_t before = lines ? 0 : std::min(row, overlap_);
      const std::uint64_t count = std::min(rows_, end_row - row) + before;
      if (split_ != nullptr) {
        const std::uint64_t columns = box_.columns.extent;
        split_(source + (row - before) * columns * w, count, columns, work.buffer.data(), pitch_);
        write(0, {target + row * w, box_.run_length * w, work.buffer.data() + before * w, pitch_, columns,
                  (count - before) * w, row == 0, row + count - before == box_.run_length});
        continue;
      }
      Offsets(box_.run, row - before).take(work.offsets.data(), count);
      for (std::uint64_t m = 0; m < box_.stacked; ++m) {
        for (std::uint64_t s = strip; s < end_strip; ++s) {
          const std::uint64_t column = begin_of(s);
          const std::uint64_t columns = begin_of(s + 1) - column;
          const std::byte* const from = source + (m * box_.columns.extent + column) * w;
          for (std::uint64_t i = 0; i < count; ++i) work.rows[i] = from + work.offsets[i];
          transpose_(work.rows.data(), count, columns, work.buffer.data(), pitch_, w);
          write(column, {target + (m * box_.run_length + row) * w, box_.stacked * box_.run_length * w,
                         work.buffer.data() + before * w, pitch_, columns, (count - before) * w, row == 0,
                         row + count - before == box_.run_length});
        }
      }
    }
  }

  void write(std::uint64_t column, RowsOut out) const {
    std::byte* const target = out.target;
    if (!box_.columns.mapped) {
      out.target += column * out.target_pitch;
      write_(out);
      return;
    }
    const std::uint64_t end = column + out.rows;
    out.rows = 1;
    for (; column < end; ++column, out.buffer += pitch_) {
      out.target = target + to_target_(column) * out.target_pitch;
      write_(out);
    }
  }

  Box box_;
  gf2::AffineMap to_target_;
  TransposeFunction transpose_;
  SplitFunction split_ = nullptr;
  RowsOutFunction write_;
  bool streamed_;
  bool lines_ = false;         // if the target is aligned to a line, tiles begin at lines of it
  std::uint64_t overlap_ = 0;  // otherwise a tile also needs this many rows of the one before
  std::uint64_t rows_ = 1;     // of a tile
  std::uint64_t block_ = 1;    // columns that the kernels process at once
  std::uint64_t strips_ = 1;   // of columns, each as wide as a tile
  std::uint64_t strips_per_task_ = 1;
  std::uint64_t chunk_ = 1;  // rows of a task
  std::uint64_t chunks_ = 1, tasks_ = 1, widest_ = 0, pitch_ = 0;
};

class Pieces : public Engine {
 public:
  Pieces(Box box, bool streamed)
      : box_(std::move(box)),
        transpose_(transpose_function(box_.element_bytes)),
        write_(rows_out_function(streamed)),
        streamed_(streamed) {
    const std::uint64_t run_bytes = box_.run_length * box_.element_bytes;
    const std::uint64_t buffer = cache_sizes().first / 2;
    const std::uint64_t block = std::max<std::uint64_t>(1, line_bytes / box_.element_bytes);
    overlap_ = ceil_div(line_bytes, run_bytes);
    const std::uint64_t row_bytes = box_.columns.extent * box_.element_bytes;
    small_ = box_.run.size() == 1 && box_.run[0].source_stride == row_bytes &&
             row_bytes * box_.run_length <= cache_sizes().second / 4;
    columns_ = std::max({block, overlap_, buffer / run_bytes / block * block});
    columns_ = std::min(columns_, box_.columns.extent);
    pieces_ = std::min(ceil_div(box_.columns.extent, columns_), ceil_div(256 * 1024, columns_ * run_bytes));
    chunks_ = ceil_div(box_.columns.extent, columns_ * pieces_);
  }

  std::uint64_t tasks() const override { return box_.outer_count * chunks_; }

  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    const std::uint64_t w = box_.element_bytes;
    const std::uint64_t run_bytes = box_.run_length * w;
    Scratch buffer((2 * columns_ + overlap_) * run_bytes);
    std::vector<const std::byte*> rows(box_.run_length);
    for (std::uint64_t task = first; task < last; ++task) {
      const std::uint64_t outer = task / chunks_;
      const std::byte* const from = source + *Offsets(box_.outer, outer);
      std::byte* const to = target + outer * box_.columns.extent * run_bytes;
      std::uint64_t column = task % chunks_ * columns_ * pieces_;
      const std::uint64_t end = std::min(box_.columns.extent, column + columns_ * pieces_);
      while (column < end) {
        // The last piece also takes what would be too little for a piece of its own.
        const std::uint64_t left = end - column;
        const std::uint64_t columns = left < 2 * columns_ ? left : columns_;
        const std::uint64_t before = std::min(column, overlap_);
        if (small_ && outer + 1 < box_.outer_count) {
          const std::byte* const ahead = source + *Offsets(box_.outer, outer + 1) + column * run_bytes;
          for (std::uint64_t at = 0; at < columns * run_bytes; at += line_bytes)
            __builtin_prefetch(ahead + at, 0, 2);
        }
        Offsets offset(box_.run, 0);
        for (std::uint64_t r = 0; r < box_.run_length; ++r, ++offset)
          rows[r] = from + *offset + (column - before) * w;
        transpose_(rows.data(), box_.run_length, columns + before, buffer.data(), run_bytes, w);
        write_({to + column * run_bytes, 0, buffer.data() + before * run_bytes, 0, 1, columns * run_bytes,
                column == 0, column + columns == box_.columns.extent});
        column += columns;
      }
    }
  }

  std::string describe() const override {
    return fmt::format("axes: pieces of {} runs of {} elements of {} bytes{}", columns_, box_.run_length,
                       box_.element_bytes, streamed_ ? ", streamed" : "");
  }

 private:
  Box box_;
  TransposeFunction transpose_;
  RowsOutFunction write_;
  bool streamed_;
  bool small_;  // a matrix is contiguous in the source, and the next one fits in the second-level cache
  std::uint64_t overlap_ = 1;  // columns of the piece before, which a first line may need
  std::uint64_t columns_ = 1;  // of a piece
  std::uint64_t pieces_ = 1;   // of a task
  std::uint64_t chunks_ = 1;
};

class Records : public Engine {
 public:
  Records(Box box, bool streamed)
      : element_bytes_(box.element_bytes), copy_(copy_function(streamed)), streamed_(streamed) {
    axes_ = std::move(box.run);
    axes_.push_back(std::move(box.columns));
    axes_.insert(axes_.end(), box.outer.begin(), box.outer.end());
    for (const TargetAxis& a : axes_) total_ *= a.extent;
    count_ = std::max<std::uint64_t>(1, 256 * 1024 / element_bytes_);
  }

  std::uint64_t tasks() const override { return ceil_div(total_, count_); }

  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    const std::uint64_t begin = first * count_;
    const std::uint64_t end = std::min(total_, last * count_);
    Offsets offsets(axes_, begin);
    for (std::uint64_t i = begin; i < end; ++i) {
      const std::byte* const from = source + *offsets;
      ++offsets;
      const std::uint64_t ahead = std::min<std::uint64_t>(element_bytes_, 1024);
      for (std::uint64_t at = 0; at < ahead; at += line_bytes) prefetch(source + *offsets + at);
      copy_(target + i * element_bytes_, from, element_bytes_);
    }
  }

  std::string describe() const override {
    return fmt::format("axes: records of {} bytes{}", element_bytes_, streamed_ ? ", streamed" : "");
  }

 private:
  std::uint64_t element_bytes_;
  CopyFunction copy_;
  bool streamed_;
  std::vector<TargetAxis> axes_;
  std::uint64_t count_ = 1, total_ = 1;
};

}  // namespace

std::unique_ptr<Engine> make_box_engine(const Reordering& what, bool streamed) {
  Box box(what);
  const std::uint64_t w = box.element_bytes;
  if (w >= 4096 || (w >= long_record && w % line_bytes == 0))
    return std::make_unique<Records>(std::move(box), streamed);
  if (fits_direct(box, what.bytes())) return make_direct_box(std::move(box));
  if (box.run_length * w < short_run && !box.columns.mapped)
    return std::make_unique<Pieces>(std::move(box), streamed);
  return std::make_unique<Runs>(std::move(box), streamed);
}

}  // namespace xorder::memory
