// The engine "direct": in the cache, blocks go from the rows to their places in the target, without a buffer.
// A line that two blocks share is written twice, which costs little while it stays in the cache.
#include <fmt/format.h>

#include <algorithm>

#include "memory/box/box_engines.hpp"
#include "memory/cache_sizes.hpp"
#include "memory/micro.hpp"
#include "rounding.hpp"

namespace xorder::memory {
namespace {

// A task does several tiles of some rows by some columns, one after the other. What a tile reads and writes
// stays in the first-level cache, because the next row of blocks may write the rest of the lines that this
// one has begun.
class Direct : public Engine {
 public:
  /// So many rows stay in the caches even if they share their sets there.
  static constexpr std::uint64_t few_rows = 16;

  explicit Direct(Box box)
      : box_(std::move(box)),
        transpose_(
            transpose_function(box_.element_bytes, box_.run_length <= few_rows ? box_.row_stride() : 0)),
        batch_(batch_for(box_)) {
    constexpr std::uint64_t bytes_of_tile = 16 * 1024;
    const std::uint64_t w = box_.element_bytes, all_columns = box_.column_count;
    const std::uint64_t block_columns = ceil_div(line_bytes, w);
    rows_ = std::min(box_.run_length, std::clamp<std::uint64_t>(256 / w, 64, most_rows));
    columns_ = std::min(
        all_columns, std::max<std::uint64_t>(1, bytes_of_tile / (rows_ * w * block_columns)) * block_columns);
    const std::uint64_t last_strip = (all_columns - 1) % columns_ + 1;
    if (box_.runs_adjacent() && last_strip * box_.run_length * w >= line_bytes)
      ahead_ = transpose_ahead_function(w, box_.run_length, last_strip, box_.row_stride());
    if (ahead_ == nullptr && box_.all_rows_adjacent()) split_ = split_function(w, all_columns);
    if (batch_ != nullptr) {  // a tile is a matrix
      columns_ = all_columns;
      rows_ = box_.run_length;
    } else if (split_ != nullptr) {
      columns_ = all_columns;
      rows_ = std::min(box_.run_length, task_bytes / (all_columns * w));
    }
    strips_ = ceil_div(all_columns, columns_);
    chunks_ = std::max<std::uint64_t>(1, box_.run_length / rows_);
    tiles_ = box_.outer.count * chunks_ * strips_;
    tiles_per_task_ = std::clamp<std::uint64_t>(task_bytes / (columns_ * rows_ * w), 1, tiles_);
    tasks_ = ceil_div(tiles_, tiles_per_task_);
  }

  std::uint64_t tasks() const override { return tasks_; }

  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    const std::uint64_t w = box_.element_bytes;
    const std::uint64_t pitch = box_.columns.front().stride;  // of the runs
    const std::uint64_t end = std::min(tiles_, last * tiles_per_task_);
    std::uint64_t tile = first * tiles_per_task_;
    if (batch_ != nullptr) return perform_batches(tile, end, source, target);
    std::uint64_t strip = 0, chunk = 0, outer = 0;
    if (tile != 0) {  // a division takes as long as a small array
      strip = tile % strips_;
      chunk = tile / strips_ % chunks_;
      outer = tile / (strips_ * chunks_);
    }
    std::uint64_t offsets[2 * most_rows];
    const std::byte* rows[2 * most_rows];
    if (chunks_ == 1 && split_ == nullptr) list_rows(0, box_.run_length, offsets);
    Offsets outside(box_.outer.in_source, outer), there(box_.outer.in_target, outer);
    for (; tile < end; ++outside, ++there, chunk = 0) {
      const std::byte* const from = source + *outside;
      std::byte* const to = target + *there;
      for (; chunk < chunks_ && tile < end; ++chunk, strip = 0) {
        const std::uint64_t row = chunk * rows_;
        const std::uint64_t count = chunk + 1 == chunks_ ? box_.run_length - row : rows_;
        if (split_ != nullptr) {
          split_(from + row * box_.column_count * w, count, box_.column_count, to + row * w, pitch);
          ++tile;
          continue;
        }
        if (chunks_ != 1) list_rows(row, count, offsets);
        const std::uint64_t listed = ahead_ != nullptr ? kernel::ahead_rows(w) : count;
        for (; strip < strips_ && tile < end; ++strip, ++tile) {
          const std::uint64_t column = strip * columns_;
          for (std::uint64_t i = 0; i < listed; ++i) rows[i] = from + offsets[i] + column * w;
          const bool ahead = ahead_ != nullptr && tile + 1 < end;
          (ahead ? ahead_ : transpose_)(rows, count, std::min(columns_, box_.column_count - column),
                                        to + column * pitch + row * w, pitch, w, false);
        }
      }
    }
  }

  std::string describe() const override {
    return fmt::format(
        "axes: runs of {} elements of {} bytes from rows of {}; tiles of {} rows by {} columns, direct{}",
        box_.run_length, box_.element_bytes, box_.column_count, rows_, columns_,
        batch_ != nullptr ? ", in batches" : "");
  }

 private:
  static constexpr std::uint64_t most_rows = 256;

  // A tile is a matrix. A batch has those along the first outer axis.
  void perform_batches(std::uint64_t tile, std::uint64_t end, const std::byte* source,
                       std::byte* target) const {
    const std::vector<StridedAxis>& from = box_.outer.in_source;
    const std::vector<StridedAxis>& to = box_.outer.in_target;
    const StridedAxis one;
    const StridedAxis& along = from.empty() ? one : from.front();
    const StridedAxis& there = to.empty() ? one : to.front();
    while (tile < end) {
      const std::uint64_t count = std::min(end - tile, along.extent - tile % along.extent);
      batch_({source + *Offsets(from, tile), along.stride, target + *Offsets(to, tile), there.stride, count,
              box_.run_length, box_.column_count});
      tile += count;
    }
  }

  // Where the rows begin, and the last one again as often as ahead_ needs it.
  void list_rows(std::uint64_t row, std::uint64_t count, std::uint64_t* offsets) const {
    Offsets(box_.run, row).take(offsets, count);
    if (ahead_ != nullptr)
      std::fill(offsets + count, offsets + kernel::ahead_rows(box_.element_bytes), offsets[count - 1]);
  }

  Box box_;
  TransposeFunction transpose_;
  kernel::BatchFunction batch_;
  TransposeFunction ahead_ = nullptr;  // for all but the last tile of a call
  SplitFunction split_ = nullptr;
  std::uint64_t rows_ = 1;  // of a tile; the last one may have almost twice as many
  std::uint64_t columns_ = 1;
  std::uint64_t strips_ = 1;  // of columns
  std::uint64_t chunks_ = 1;  // of rows
  std::uint64_t tiles_ = 1, tiles_per_task_ = 1, tasks_ = 1;
};

}  // namespace

bool fits_direct(const Box& box, std::uint64_t bytes) {
  const CacheSizes& caches = cache_sizes();
  if (box.columns.front().mapped || !written_directly(bytes)) return false;
  // The lines of many rows so far apart share few sets in the second level too, and leave it soon. That does
  // no harm if each is read and written at once, as squares do; other kernels need a buffer then.
  constexpr std::uint64_t far_apart = 2048;
  const bool in_squares = kernel::transposes_squares(box.element_bytes) && box.row_bytes() >= line_bytes;
  if (bytes > caches.second && !in_squares && box.run_length > Direct::few_rows && box.row_stride() != 0 &&
      box.row_stride() % far_apart == 0)
    return false;
  if (caches.takes_split_lines) return true;
  return 2 * bytes <= caches.second &&
         (bytes <= 2 * caches.first || box.run_length * box.element_bytes % line_bytes == 0 ||
          box.element_bytes < 4);
}

kernel::BatchFunction batch_for(const Box& box) {
  const std::vector<StridedAxis>& outer = box.outer.in_source;
  const bool in_turn = outer.empty() || !outer.front().mapped;
  if (!in_turn || box.columns.size() != 1 || !box.all_rows_adjacent() || !box.runs_adjacent()) return nullptr;
  return kernel::batch_function(box.element_bytes, box.run_length, box.column_count);
}

std::unique_ptr<Engine> make_direct(Box box) { return std::make_unique<Direct>(std::move(box)); }

}  // namespace xorder::memory
