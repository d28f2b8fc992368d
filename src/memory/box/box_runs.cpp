// The engine "runs": everything that no other engine does better. A tile is a part of each of some runs. It
// is transposed into a buffer, and each part is written as whole lines. The later of two tiles writes the
// line that both share, and also reads the rows that it needs for that.
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "memory/box/box_engines.hpp"
#include "memory/cache_sizes.hpp"
#include "memory/micro.hpp"
#include "memory/scratch.hpp"
#include "memory/write_tile.hpp"
#include "rounding.hpp"

namespace xorder::memory {
namespace {

constexpr std::uint64_t long_task_bytes = 512 * 1024;

// The most that a tile of runs takes.
struct TileLimits {
  std::uint64_t part_bytes;   // of a run
  std::uint64_t strip_bytes;  // of a row
  std::uint64_t tile_bytes;
};

TileLimits tile_limits(const Box& box, bool few_rows, std::uint64_t array_bytes) {
  const std::uint64_t w = box.element_bytes;
  if (w >= line_bytes) return {2048, 2048, 64 * 1024};
  // Rows that lie so far apart share their sets in the cache. Longer parts of each gain up to a third then,
  // in large arrays with elements of any size but one byte.
  const bool far_apart = box.row_stride() != 0 && box.row_stride() % (64 * 1024) == 0;
  const bool gains = w == 4 || (leaves_the_caches(array_bytes) && box.row_bytes() >= 4096);
  if (!few_rows && far_apart && gains) return {256, 1024, 128 * 1024};
  if (!few_rows) return {std::min<std::uint64_t>(256 * w, 1024), 512, cache_sizes().second / 8};
  return {w <= 2 ? 256 : std::clamp<std::uint64_t>(32 * w, 128, 256), 256, 64 * 1024};
}

class Runs : public Engine {
 public:
  Runs(Box box, bool streamed, std::uint64_t array_bytes)
      : box_(std::move(box)),
        transpose_(transpose_function(box_.element_bytes, box_.row_stride())),
        write_(rows_out_function(streamed)),
        streamed_(streamed) {
    if (box_.all_rows_adjacent()) split_ = split_function(box_.element_bytes, box_.column_count);
    const std::uint64_t w = box_.element_bytes;
    const std::uint64_t all_columns = box_.column_count;
    // Elements that are copied one by one take so long that the hardware's and the kernels' prefetching is
    // enough; larger tiles lose a third.
    const bool one_by_one = w < line_bytes && copied_one_by_one(w);
    const bool cached = in_caches(array_bytes);
    const TileLimits limits = tile_limits(box_, cached || one_by_one, array_bytes);
    fetching_ = (cached && w >= 3) || one_by_one;
    rows_ = std::min(std::max<std::uint64_t>(w < line_bytes ? 8 : 1, ceil_div(limits.part_bytes, w)),
                     box_.run_length);
    if (all_columns * w < 1024 &&
        w < line_bytes) {  // short rows are close together: any number of them is one stream
      const std::uint64_t more = std::min(std::uint64_t{16384} / (all_columns * w), 2048 / w);
      rows_ = std::min(box_.run_length, round_up(std::max(rows_, more), 8));
    }
    const auto whole_lines = [](std::uint64_t bytes) { return bytes % line_bytes == 0; };
    lines_ = whole_lines(box_.run_length * w) && whole_lines(rows_ * w) &&
             std::ranges::all_of(box_.columns, whole_lines, &StridedAxis::stride);
    overlap_ = ceil_div(line_bytes, w);
    const std::uint64_t block = ceil_div(line_bytes, w);  // columns that the kernels process at once
    const std::uint64_t columns =
        std::max(block, std::min(limits.strip_bytes, limits.tile_bytes / rows_) / w);
    strips_ = Strips(all_columns, block, split_ ? all_columns : columns);  // what is split is split whole
    strips_per_task_ = std::clamp<std::uint64_t>(16384 * strips_.count / (all_columns * w), 1, strips_.count);
    const std::uint64_t task_columns = ceil_div(all_columns * strips_per_task_, strips_.count);
    chunk_ = std::min(box_.run_length, ceil_div(long_task_bytes, task_columns * w * rows_) * rows_);
    chunks_ = ceil_div(box_.run_length, chunk_);
    parts_ = ceil_div(strips_.count, strips_per_task_);
    tasks_ = box_.outer.count * chunks_ * parts_;
    pitch_ = round_up((rows_ + overlap_) * w, line_bytes);
  }

  std::uint64_t tasks() const override { return tasks_; }

  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    if (first == last) return;
    const std::uint64_t w = box_.element_bytes;
    Walk walk(*this, last, source, target);
    Scratch buffer(strips_.widest() * pitch_);
    std::vector<const std::byte*> pointers(rows_ + overlap_);
    std::vector<std::uint64_t> places(has_pitch() ? 0 : strips_.widest());
    Tile tile = walk.first(first);
    for (bool more = true; more;) {
      const Tile now = tile;
      more = walk.advance(tile);
      const Rows& rows = *now.rows;
      const std::byte* const from = now.source + strips_.begin(now.strip) * w;
      const std::uint64_t columns = strips_.width(now.strip);
      if (split_ != nullptr) {
        split_(from + rows.offsets[0], rows.count, columns, buffer.data(), pitch_);
      } else {
        for (std::uint64_t i = 0; i < rows.count; ++i) pointers[i] = from + rows.offsets[i];
        transpose_(pointers.data(), rows.count, columns, buffer.data(), pitch_, w, fetching_);
      }
      const std::uint64_t count = rows.count - rows.before;
      RowsOut out{now.target + now.row * w,
                  0,
                  buffer.data() + rows.before * w,
                  pitch_,
                  columns,
                  count * w,
                  now.row == 0,
                  now.row + count == box_.run_length};
      const NextTile next = more && next_is_fetched() ? fetched(tile) : NextTile();
      if (has_pitch()) {
        out.target_pitch = box_.columns.front().stride;
        out.target += strips_.begin(now.strip) * out.target_pitch;
        write_tile(out, next, [&](std::uint64_t, const RowsOut& part) { write_(part); });
      } else {
        Offsets(box_.columns, strips_.begin(now.strip)).take(places.data(), columns);
        write_tile_to(places.data(), out, next, write_);
      }
    }
  }

  std::string describe() const override {
    return fmt::format(
        "axes: runs of {} elements of {} bytes from rows of {}; tiles of {} rows by up to {} columns{}",
        box_.run_length, box_.element_bytes, box_.column_count, rows_, strips_.widest(),
        streamed_ ? ", streamed" : "");
  }

 private:
  // Some rows of the source.
  struct Rows {
    std::uint64_t before = 0;            // rows of the tile before
    std::uint64_t count = 0;             // with those
    std::vector<std::uint64_t> offsets;  // only the first one's if rows are split
  };

  struct Tile {
    std::uint64_t task;
    const std::byte* source;  // where the coordinate of the outer axes begins
    std::byte* target;
    std::uint64_t row, end_row, strip, end_strip;
    const Rows* rows;
  };

  // Visits the tiles of some tasks: some rows along the strips of a task, then the next rows.
  class Walk {
   public:
    Walk(const Runs& runs, std::uint64_t last, const std::byte* source, std::byte* target)
        : runs_(runs), last_(last), source_(source), target_(target) {
      for (Rows& rows : rows_) rows.offsets.resize(runs.rows_ + runs.overlap_);
    }

    Tile first(std::uint64_t task) {
      const std::uint64_t outer = task / (runs_.parts_ * runs_.chunks_);
      const std::uint64_t row = task / runs_.parts_ % runs_.chunks_ * runs_.chunk_;
      Tile tile{task,
                source_ + *Offsets(runs_.box_.outer.in_source, outer),
                target_ + *Offsets(runs_.box_.outer.in_target, outer),
                row,
                std::min(runs_.box_.run_length, row + runs_.chunk_),
                0,
                0,
                nullptr};
      set_rows(tile);
      return tile;
    }

    // Returns whether there is another one. The rows of the tile before stay until the next call.
    bool advance(Tile& tile) {
      if (++tile.strip < tile.end_strip) return true;
      tile.row += runs_.rows_;
      if (tile.row < tile.end_row) {
        set_rows(tile);
        return true;
      }
      if (++tile.task == last_) return false;
      tile = first(tile.task);
      return true;
    }

   private:
    void set_rows(Tile& tile) {
      Rows& rows = rows_[turn_ ^= 1];
      const bool lines = runs_.lines_ && reinterpret_cast<std::uintptr_t>(tile.target) % line_bytes == 0;
      rows.before = lines ? 0 : std::min(tile.row, runs_.overlap_);
      rows.count = std::min(runs_.rows_, tile.end_row - tile.row) + rows.before;
      Offsets(runs_.box_.run, tile.row - rows.before)
          .take(rows.offsets.data(), runs_.split_ != nullptr ? 1 : rows.count);
      tile.strip = tile.task % runs_.parts_ * runs_.strips_per_task_;
      tile.end_strip = std::min(runs_.strips_.count, tile.strip + runs_.strips_per_task_);
      tile.rows = &rows;
    }

    const Runs& runs_;
    const std::uint64_t last_;
    const std::byte* const source_;
    std::byte* const target_;
    Rows rows_[2];
    unsigned turn_ = 0;
  };

  // Whether all columns are equally far apart in the target.
  bool has_pitch() const { return box_.columns.size() == 1 && !box_.columns.front().mapped; }

  // The hardware's prefetching stops where a stream of adjacent rows of few columns is put aside for long;
  // with up to five columns it is better than ours, with more columns ours is better by half.
  bool next_is_fetched() const {
    constexpr std::uint64_t short_stay = 5, long_stream = 64 * 1024;
    return !fetching_ && (split_ == nullptr || box_.column_count > short_stay ||
                          box_.run_length * box_.row_bytes() < long_stream);
  }

  NextTile fetched(const Tile& tile) const {
    const std::byte* const from = tile.source + strips_.begin(tile.strip) * box_.element_bytes;
    const std::uint64_t bytes = strips_.width(tile.strip) * box_.element_bytes;
    const Rows& rows = *tile.rows;
    if (strips_.count == 1 && box_.all_rows_adjacent())  // a stream
      return NextTile(from, rows.offsets.data(), 1, rows.count * bytes);
    return NextTile(from, rows.offsets.data(), rows.count, bytes);
  }

  Box box_;
  TransposeFunction transpose_;
  SplitFunction split_ = nullptr;
  RowsOutFunction write_;
  bool streamed_;
  bool fetching_;              // see TransposeFunction
  bool lines_ = false;         // if the target is aligned to a line, tiles begin at lines of it
  std::uint64_t overlap_ = 0;  // otherwise a tile also needs this many rows of the one before
  std::uint64_t rows_ = 1;     // of a tile
  Strips strips_;              // each as wide as a tile
  std::uint64_t strips_per_task_ = 1;
  std::uint64_t parts_ = 1;  // tasks for some rows
  std::uint64_t chunk_ = 1;  // rows of a task
  std::uint64_t chunks_ = 1, tasks_ = 1, pitch_ = 0;
};

}  // namespace

std::unique_ptr<Engine> make_runs(Box box, bool streamed, std::uint64_t array_bytes) {
  return std::make_unique<Runs>(std::move(box), streamed, array_bytes);
}

}  // namespace xorder::memory
