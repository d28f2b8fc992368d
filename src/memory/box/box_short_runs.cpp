// The engine "short runs": runs so short that writing each by itself would write most lines in parts. They
// follow each other in the target, so a tile of several whole runs is one contiguous range there.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
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

// The runs of all outer coordinates follow each other in the target. A tile is some runs of one outer
// coordinate, or all of several.
class ShortRuns : public Engine {
 public:
  ShortRuns(Box box, bool streamed)
      : box_(std::move(box)),
        transpose_(transpose_function(box_.element_bytes, box_.row_stride())),
        write_(rows_out_function(streamed)),
        streamed_(streamed),
        rows_(box_.run_length),
        run_bytes_(box_.run_length * box_.element_bytes) {
    const std::uint64_t columns = box_.column_count;
    const std::uint64_t block = std::max<std::uint64_t>(1, line_bytes / box_.element_bytes);
    // Of each row at least some lines, unless the rows share their sets in the cache: then the lines would
    // leave it before they are read, which halves the speed. Elsewhere single lines are too short for
    // prefetching to follow.
    constexpr std::uint64_t sets = 4096;
    const std::uint64_t of_row = box_.row_stride() % sets == 0             ? line_bytes
                                 : std::has_single_bit(box_.element_bytes) ? 256
                                                                           : 512;
    const std::uint64_t runs =
        std::max({block, ceil_div(line_bytes, run_bytes_), cache_sizes().first / 2 / run_bytes_,
                  std::min(of_row / box_.element_bytes, cache_sizes().second / 4 / run_bytes_)});
    together_ = std::clamp<std::uint64_t>(runs / columns, 1, box_.outer.count);
    strips_ = Strips(columns, block, runs);
    if (const TransposeFunction ahead = transpose_ahead_function(
            box_.element_bytes, box_.run_length, std::min(columns, block), box_.row_stride())) {
      transpose_ = ahead;
      rows_ = kernel::ahead_rows(box_.element_bytes);
    }
    tiles_ = ceil_div(box_.outer.count, together_) * strips_.count;
    tiles_per_task_ = ceil_div(task_bytes, together_ * strips_.widest() * run_bytes_);
  }

  std::uint64_t tasks() const override { return ceil_div(tiles_, tiles_per_task_); }

  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    const std::uint64_t w = box_.element_bytes;
    const std::uint64_t begin = first * tiles_per_task_, end = std::min(tiles_, last * tiles_per_task_);
    if (begin >= end) return;
    // The buffer keeps the previous tile's last line, in front of the tile: the line in which one ends and
    // the next begins is written as a whole. Behind the tile is room for what transpose_ writes ahead.
    Scratch buffer(line_bytes + together_ * strips_.widest() * run_bytes_ + line_bytes);
    std::byte* const out = buffer.data() + line_bytes;
    std::vector<std::uint64_t> run(box_.run_length);
    Offsets(box_.run, 0).take(run.data(), run.size());
    std::vector<const std::byte*> rows(rows_);
    std::vector<std::uint64_t> fetched;
    for (std::uint64_t p = begin; p < end; ++p) {
      const Tile tile = at(p);
      std::uint64_t done = 0;
      for (Offsets outer(box_.outer.in_source, tile.outer); done < tile.together; ++outer, ++done) {
        for (std::uint64_t r = 0; r < rows.size(); ++r)
          rows[r] = source + *outer + run[std::min(r, run.size() - 1)] + tile.column * w;
        transpose_(rows.data(), run.size(), tile.columns, out + done * tile.columns * run_bytes_, run_bytes_,
                   w, false);
      }
      const std::uint64_t bytes = tile.together * tile.columns * run_bytes_;
      write_tile({target + (tile.outer * box_.column_count + tile.column) * run_bytes_, 0, out, 0, 1, bytes,
                  p == begin, p + 1 == end},
                 p + 1 < end ? next_tile(at(p + 1), source, run, fetched) : NextTile(),
                 [&](std::uint64_t, const RowsOut& part) { write_(part); });
      std::memmove(buffer.data(), buffer.data() + bytes, line_bytes);
    }
  }

  std::string describe() const override {
    return fmt::format("axes: {} short runs together of {} elements of {} bytes from rows of {}{}",
                       together_ * strips_.widest(), box_.run_length, box_.element_bytes, box_.column_count,
                       streamed_ ? ", streamed" : "");
  }

 private:
  struct Tile {
    std::uint64_t outer, together;  // outer coordinates
    std::uint64_t column, columns;
  };

  Tile at(std::uint64_t tile) const {
    const std::uint64_t strip = tile % strips_.count, outer = tile / strips_.count * together_;
    return {outer, std::min(together_, box_.outer.count - outer), strips_.begin(strip), strips_.width(strip)};
  }

  // `offsets` is for those of the tile's rows, unless they are the same for each tile.
  NextTile next_tile(const Tile& tile, const std::byte* source, const std::vector<std::uint64_t>& run,
                     std::vector<std::uint64_t>& offsets) const {
    const std::byte* const from = source + tile.column * box_.element_bytes;
    const std::size_t bytes = tile.columns * box_.element_bytes;
    Offsets outer(box_.outer.in_source, tile.outer);
    if (together_ == 1) return NextTile(from + *outer, run.data(), run.size(), bytes);
    const bool stream = box_.all_rows_adjacent();
    offsets.clear();
    for (std::uint64_t done = 0; done < tile.together; ++outer, ++done) {
      for (std::size_t r = 0; r < (stream ? 1 : run.size()); ++r) offsets.push_back(*outer + run[r]);
    }
    return NextTile(from, offsets.data(), offsets.size(), stream ? run.size() * bytes : bytes);
  }

  Box box_;
  TransposeFunction transpose_;
  RowsOutFunction write_;
  bool streamed_;
  std::uint64_t rows_;  // with those that repeat
  std::uint64_t run_bytes_;
  std::uint64_t together_ = 1;  // outer coordinates of a tile
  Strips strips_;               // of the columns of one outer coordinate
  std::uint64_t tiles_ = 1, tiles_per_task_ = 1;
};

}  // namespace

std::unique_ptr<Engine> make_short_runs(Box box, bool streamed) {
  return std::make_unique<ShortRuns>(std::move(box), streamed);
}

}  // namespace xorder::memory
