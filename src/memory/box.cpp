#include "memory/box.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "memory/box_axes.hpp"
#include "memory/cache_sizes.hpp"
#include "memory/micro.hpp"
#include "memory/offsets.hpp"
#include "memory/scratch.hpp"
#include "memory/write_tile.hpp"
#include "rounding.hpp"

namespace xorder::memory {
namespace {

constexpr std::uint64_t task_bytes = 512 * 1024;

// The most that a tile of runs takes.
struct TileLimits {
  std::uint64_t piece_bytes;  // of a run
  std::uint64_t strip_bytes;  // of a row
  std::uint64_t tile_bytes;
};

TileLimits tile_limits(std::uint64_t element_bytes, bool few_rows) {
  const std::uint64_t w = element_bytes;
  if (w >= line_bytes) return {2048, 2048, 64 * 1024};
  if (!few_rows) return {std::min<std::uint64_t>(256 * w, 1024), 512, cache_sizes().second / 8};
  return {w <= 2 ? 256 : std::clamp<std::uint64_t>(32 * w, 128, 256), 256, 64 * 1024};
}

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
  Runs(Box box, bool streamed, std::uint64_t array_bytes)
      : box_(std::move(box)),
        transpose_(transpose_function(box_.element_bytes, box_.row_stride())),
        write_(rows_out_function(streamed)),
        streamed_(streamed) {
    stack(box_);
    if (box_.rows_adjacent()) split_ = split_function(box_.element_bytes, box_.columns.extent);
    if (box_.columns.mapped) to_target_ = box_.columns.to_source.inverse();
    const std::uint64_t w = box_.element_bytes;
    const std::uint64_t all_columns = box_.columns.extent;
    // Elements that are copied one by one take so long that the hardware's and the kernels' prefetching is
    // enough: for 24 bytes 0.97 of memcpy's speed, and 0.65 with larger tiles.
    const bool one_by_one = w < line_bytes && copied_one_by_one(w);
    const bool cached = in_caches(array_bytes);
    const TileLimits limits = tile_limits(w, cached || one_by_one);
    fetching_ = (cached && w >= 3) || one_by_one;
    rows_ = std::min(std::max<std::uint64_t>(w < line_bytes ? 8 : 1, ceil_div(limits.piece_bytes, w)),
                     box_.run_length);
    if (all_columns * w < 1024 &&
        w < line_bytes) {  // short rows are close together: any number of them is one stream
      rows_ = std::min(box_.run_length,
                       std::max(rows_, std::min(std::uint64_t{16384} / (all_columns * w), 2048 / w)) / 8 * 8);
    }
    lines_ = (box_.run_length * w) % line_bytes == 0 && (rows_ * w) % line_bytes == 0;
    overlap_ = ceil_div(line_bytes, w);
    block_ = ceil_div(line_bytes, w);
    const std::uint64_t columns =
        std::max(block_, std::min(limits.strip_bytes, limits.tile_bytes / rows_) / w);
    // Rows that are split are split whole.
    const std::uint64_t most_strips = split_ ? 1 : std::max<std::uint64_t>(1, all_columns / block_);
    strips_ = std::clamp<std::uint64_t>((all_columns + columns / 2) / columns, 1, most_strips);
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
  // Some rows of the source.
  struct Rows {
    std::uint64_t before = 0;  // rows of the tile before
    std::uint64_t count = 0;   // with those
    std::vector<std::uint64_t> offsets;
  };
  struct Work {
    explicit Work(const Runs& runs)
        : buffer(runs.widest_ * runs.pitch_), pointers(runs.rows_ + runs.overlap_) {
      now.offsets.resize(pointers.size());
      next.offsets.resize(pointers.size());
    }
    Scratch buffer;
    Rows now, next;
    std::vector<const std::byte*> pointers;
  };

  // Where a strip begins. Strips are about equal and begin at whole blocks. So none is narrower than a block,
  // unless all columns are.
  std::uint64_t begin_of(std::uint64_t strip) const {
    if (strip == strips_) return box_.columns.extent;
    return strip * (box_.columns.extent / block_) / strips_ * block_;
  }

  std::uint64_t width_of(std::uint64_t strip) const { return begin_of(strip + 1) - begin_of(strip); }

  void set_rows(std::uint64_t row, std::uint64_t end_row, bool lines, Rows& rows) const {
    rows.before = lines ? 0 : std::min(row, overlap_);
    rows.count = std::min(rows_, end_row - row) + rows.before;
    Offsets(box_.run, row - rows.before).take(rows.offsets.data(), rows.count);
  }

  // Transposes some rows along all strips, then the next rows.
  void part(std::uint64_t strip, std::uint64_t end_strip, std::uint64_t row, std::uint64_t end_row,
            const std::byte* source, std::byte* target, Work& work) const {
    const std::uint64_t w = box_.element_bytes;
    const bool lines = lines_ && reinterpret_cast<std::uintptr_t>(target) % line_bytes == 0;
    if (split_ != nullptr) return split(row, end_row, lines, source, target, work);
    const auto from = [&](std::uint64_t m, std::uint64_t s) {
      return source + (m * box_.columns.extent + begin_of(s)) * w;
    };
    set_rows(row, end_row, lines, work.next);
    for (; row < end_row; row += rows_) {
      std::swap(work.now, work.next);
      if (row + rows_ < end_row) set_rows(row + rows_, end_row, lines, work.next);
      const Rows& rows = work.now;
      const auto tile = [&](const Rows& of, std::uint64_t m, std::uint64_t s) {
        if (strips_ == 1 && box_.rows_adjacent())
          return NextTile(from(m, s), of.offsets.data(), 1, of.count * width_of(s) * w);
        return NextTile(from(m, s), of.offsets.data(), of.count, width_of(s) * w);
      };
      for (std::uint64_t m = 0; m < box_.stacked; ++m) {
        for (std::uint64_t s = strip; s < end_strip; ++s) {
          const std::byte* const here = from(m, s);
          const std::uint64_t columns = width_of(s);
          for (std::uint64_t i = 0; i < rows.count; ++i) work.pointers[i] = here + rows.offsets[i];
          transpose_(work.pointers.data(), rows.count, columns, work.buffer.data(), pitch_, w, fetching_);
          const NextTile next = fetching_               ? NextTile()
                                : s + 1 < end_strip     ? tile(rows, m, s + 1)
                                : m + 1 < box_.stacked  ? tile(rows, m + 1, strip)
                                : row + rows_ < end_row ? tile(work.next, 0, strip)
                                                        : NextTile();
          write(begin_of(s),
                {target + (m * box_.run_length + row) * w, box_.stacked * box_.run_length * w,
                 work.buffer.data() + rows.before * w, pitch_, columns, (rows.count - rows.before) * w,
                 row == 0, row + rows.count - rows.before == box_.run_length},
                next);
        }
      }
    }
  }

  // The same for adjacent rows of few columns, which are one stream. The hardware's prefetching stops where
  // such a stream is put aside for long; with up to five columns it is better than ours. (8 bytes on AMD Zen
  // 4, with and without the next tile on its way: N x 4 15 and 19 GB/s, N x 8 15 and 9, N x 13 14 and 9.)
  void split(std::uint64_t row, std::uint64_t end_row, bool lines, const std::byte* source, std::byte* target,
             Work& work) const {
    constexpr std::uint64_t short_stay = 5;
    const std::uint64_t w = box_.element_bytes, columns = box_.columns.extent;
    const std::uint64_t nothing = 0;
    for (; row < end_row; row += rows_) {
      const std::uint64_t before = lines ? 0 : std::min(row, overlap_);
      const std::uint64_t count = std::min(rows_, end_row - row);
      const std::uint64_t after = std::min(rows_, end_row - row - count);
      split_(source + (row - before) * columns * w, count + before, columns, work.buffer.data(), pitch_);
      write(0,
            {target + row * w, box_.run_length * w, work.buffer.data() + before * w, pitch_, columns,
             count * w, row == 0, row + count == box_.run_length},
            columns > short_stay && after != 0
                ? NextTile(source + (row + count) * columns * w, &nothing, 1, after * columns * w)
                : NextTile());
    }
  }

  // Writes the runs from one of a column on.
  void write(std::uint64_t column, const RowsOut& tile, const NextTile& next) const {
    write_tile(tile, next, [&](std::uint64_t c, RowsOut part) {
      if (!box_.columns.mapped) {
        part.target += column * part.target_pitch;
        write_(part);
        return;
      }
      std::byte* const target = part.target - c * part.target_pitch;
      for (std::uint64_t end = c + std::exchange(part.rows, 1); c < end; ++c, part.buffer += pitch_) {
        part.target = target + to_target_(column + c) * part.target_pitch;
        write_(part);
      }
    });
  }

  Box box_;
  gf2::AffineMap to_target_;
  TransposeFunction transpose_;
  SplitFunction split_ = nullptr;
  RowsOutFunction write_;
  bool streamed_;
  bool fetching_;              // see TransposeFunction
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
        transpose_(transpose_function(box_.element_bytes, box_.row_stride())),
        write_(rows_out_function(streamed)),
        streamed_(streamed) {
    const std::uint64_t run_bytes = box_.run_length * box_.element_bytes;
    const std::uint64_t buffer = cache_sizes().first / 2;
    const std::uint64_t block = std::max<std::uint64_t>(1, line_bytes / box_.element_bytes);
    overlap_ = ceil_div(line_bytes, run_bytes);
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
    std::vector<std::uint64_t> offsets(box_.run_length);
    Offsets(box_.run, 0).take(offsets.data(), offsets.size());
    std::vector<const std::byte*> rows(box_.run_length);
    for (Piece piece = first_of(first), next; piece.task < last; piece = next) {
      next = after(piece);
      const std::byte* const from = source + *Offsets(box_.outer, piece.task / chunks_);
      std::byte* const to = target + piece.task / chunks_ * box_.columns.extent * run_bytes;
      const std::uint64_t before = std::min(piece.column, overlap_);
      for (std::uint64_t r = 0; r < box_.run_length; ++r)
        rows[r] = from + offsets[r] + (piece.column - before) * w;
      transpose_(rows.data(), box_.run_length, piece.columns + before, buffer.data(), run_bytes, w, false);
      const NextTile fetched =
          next.task < last ? NextTile(source + *Offsets(box_.outer, next.task / chunks_) + next.column * w,
                                      offsets.data(), box_.run_length, next.columns * w)
                           : NextTile();
      write_tile(
          {to + piece.column * run_bytes, 0, buffer.data() + before * run_bytes, 0, 1,
           piece.columns * run_bytes, piece.column == 0, piece.column + piece.columns == box_.columns.extent},
          fetched, [&](std::uint64_t, const RowsOut& part) { write_(part); });
    }
  }

  std::string describe() const override {
    return fmt::format("axes: pieces of {} runs of {} elements of {} bytes{}", columns_, box_.run_length,
                       box_.element_bytes, streamed_ ? ", streamed" : "");
  }

 private:
  struct Piece {
    std::uint64_t task = 0, column = 0, columns = 0;
  };
  Piece at(std::uint64_t task, std::uint64_t column) const {
    // The last piece of a task also takes what would be too little for a piece of its own.
    const std::uint64_t left = end_of(task) - column;
    return {task, column, left < 2 * columns_ ? left : columns_};
  }
  Piece first_of(std::uint64_t task) const { return at(task, task % chunks_ * columns_ * pieces_); }
  Piece after(const Piece& piece) const {
    const std::uint64_t column = piece.column + piece.columns;
    return column < end_of(piece.task) ? at(piece.task, column) : first_of(piece.task + 1);
  }
  std::uint64_t end_of(std::uint64_t task) const {
    return std::min(box_.columns.extent, (task % chunks_ + 1) * columns_ * pieces_);
  }

  Box box_;
  TransposeFunction transpose_;
  RowsOutFunction write_;
  bool streamed_;
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
    // The beginning of a record, until the hardware's prefetching follows. (1 KiB on AMD Zen 4: 10.9 GB/s
    // with one record ahead into the first-level cache, 12.4 with two into the second, 9.5 with none.)
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
  return std::make_unique<Runs>(std::move(box), streamed, what.bytes());
}

}  // namespace xorder::memory
