// In place by exchanges: square matrices exchange tiles in pairs across the diagonal.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "memory/for_tasks.hpp"
#include "memory/in_place/in_place.hpp"
#include "memory/write_tile.hpp"
#include "rounding.hpp"

namespace xorder::memory {
namespace {

// Square matrices. Matrix i of `inner` follows matrix i − 1 within each row; `outer` stacks of them follow
// each other.
struct Squares {
  std::uint64_t element_bytes, side, inner, outer;

  std::uint64_t row_bytes() const { return inner * side * element_bytes; }
  std::uint64_t bytes() const { return outer * side * row_bytes(); }
  std::uint64_t offset_of(std::uint64_t matrix, std::uint64_t row, std::uint64_t column) const {
    return (matrix / inner * side + row) * row_bytes() + (matrix % inner * side + column) * element_bytes;
  }
};

// The matrices that an exchange of these two axes transposes.
Squares squares_of(const Reordering& what, std::size_t first, std::size_t second) {
  const auto product = [&](std::size_t from, std::size_t to) {
    return std::accumulate(what.extents.begin() + static_cast<std::ptrdiff_t>(from),
                           what.extents.begin() + static_cast<std::ptrdiff_t>(to), std::uint64_t{1},
                           std::multiplies<>());
  };
  return {what.element_bytes * product(second + 1, what.extents.size()), what.extents[first],
          product(first + 1, second), product(0, first)};
}

using Exchange = std::pair<std::size_t, std::size_t>;

// Exchanges of two axes, one after the other, that together move all axes to their places; none unless the
// array has the same shape all the time.
std::vector<Exchange> exchanges_of(const Reordering& what) {
  if (what.mapped) return {};
  std::vector<Exchange> exchanges;
  std::vector<int> order(what.order.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] == what.order[i]) continue;
    const auto j = static_cast<std::size_t>(std::ranges::find(order, what.order[i]) - order.begin());
    if (what.extents[i] != what.extents[j]) return {};
    exchanges.emplace_back(i, j);
    std::swap(order[i], order[j]);
  }
  return exchanges;
}

// Counts the pairs (row, column), row <= column, of each of several matrices.
struct Pair {
  std::uint64_t matrix, row, column;
};
class Pairs {
 public:
  explicit Pairs(std::uint64_t side) : side_(side) {}

  std::uint64_t count() const { return side_ * (side_ + 1) / 2; }
  Pair at(std::uint64_t index) const {
    Pair pair{index / count(), 0, index % count()};
    while (pair.column >= side_ - pair.row) {
      pair.column -= side_ - pair.row;
      ++pair.row;
    }
    pair.column += pair.row;
    return pair;
  }
  void advance(Pair& pair) const {
    if (++pair.column < side_) return;
    pair.column = ++pair.row;
    if (pair.row == side_) pair = {pair.matrix + 1, 0, 0};
  }

 private:
  std::uint64_t side_;
};

// Exchanges a tile with the one on the other side of the diagonal; each is transposed on its way.
class SwapTiles : public InPlaceEngine {
 public:
  explicit SwapTiles(const Squares& all)
      : all_(all),
        transpose_(transpose_function(all.element_bytes, all.row_bytes())),
        tile_side_(std::min(all_.side, std::max(fewest, row_bytes(all) / all.element_bytes))),
        pairs_(ceil_div(all.side, tile_side_)),
        // Rows that do not share sets of the cache.
        pitch_(round_up(tile_side_ * all.element_bytes, line_bytes) + line_bytes) {
    for (std::uint64_t r = 0; r < tile_side_; ++r) offsets_.push_back(r * all_.row_bytes());
  }

  WorkspaceSize needs() const override { return {0, 2 * tile_side_ * pitch_}; }

  void perform(std::byte* array, unsigned threads, Workspace& workspace) const override {
    for_tasks(all_.outer * all_.inner * pairs_.count(), all_.bytes(), threads,
              [&](std::uint64_t task, std::uint64_t last) {
                const Workspace::Buffer buffer(workspace);
                for (Pair pair = pairs_.at(task), next = pair; task < last; ++task, pair = next) {
                  pairs_.advance(next);
                  exchange(array, pair, task + 1 < last ? &next : nullptr, buffer.data());
                }
              });
  }

  std::string describe() const override {
    return fmt::format("in place: squares of {} x {} elements of {} bytes; tiles of {} x {}", all_.side,
                       all_.side, all_.element_bytes, tile_side_, tile_side_);
  }

 private:
  static constexpr std::uint64_t most = 512, fewest = 8;  // rows of a tile

  // Of a tile, which is square: the larger its elements, the fewer rows of so many bytes it has, so the
  // longer they may be. Short rows leave prefetching no time; the lines of many rows leave the first level.
  static std::uint64_t row_bytes(const Squares& all) {
    const std::uint64_t w = all.element_bytes;
    if (w == 1 && all.row_bytes() % 4096 == 0) return 128;
    return w == 1 || w == 2 || w == 4 || w == 8 ? 256 : 512;
  }

  std::uint64_t begin_of(std::uint64_t tile) const { return tile * tile_side_; }
  std::uint64_t size_of(std::uint64_t tile) const { return std::min(tile_side_, all_.side - begin_of(tile)); }
  std::uint64_t offset_of(std::uint64_t matrix, std::uint64_t row, std::uint64_t column) const {
    return all_.offset_of(matrix, begin_of(row), begin_of(column));
  }

  // Puts a tile, transposed, into the buffer.
  void read(const std::byte* tile, std::uint64_t rows, std::uint64_t columns, std::byte* buffer) const {
    const std::byte* row[most];
    for (std::uint64_t r = 0; r < rows; ++r) row[r] = tile + r * all_.row_bytes();
    transpose_(row, rows, columns, buffer, pitch_, all_.element_bytes, false);
  }
  void write(std::byte* tile, std::uint64_t rows, std::uint64_t columns, const std::byte* buffer,
             NextTile next) const {
    const std::size_t lines = next.lines();
    for (std::uint64_t r = 0; r < rows; ++r) {
      next.prefetch_to(lines * (r + 1) / rows);
      std::memcpy(tile + r * all_.row_bytes(), buffer + r * pitch_, columns * all_.element_bytes);
    }
  }

  void exchange(std::byte* array, const Pair& pair, const Pair* next, std::byte* buffer) const {
    const auto fetched = [&](std::uint64_t row, std::uint64_t column) {
      return NextTile(array + offset_of(next->matrix, row, column), offsets_.data(), size_of(row),
                      size_of(column) * all_.element_bytes);
    };
    std::byte* const upper = array + offset_of(pair.matrix, pair.row, pair.column);
    const std::uint64_t rows = size_of(pair.row), columns = size_of(pair.column);
    const NextTile next_upper = next ? fetched(next->row, next->column) : NextTile();
    read(upper, rows, columns, buffer);
    if (pair.row == pair.column) {
      write(upper, columns, rows, buffer, next_upper);
      return;
    }
    std::byte* const lower = array + offset_of(pair.matrix, pair.column, pair.row);
    std::byte* const other = buffer + tile_side_ * pitch_;
    read(lower, columns, rows, other);
    write(lower, columns, rows, buffer, next_upper);
    write(upper, rows, columns, other,
          next && next->row != next->column ? fetched(next->column, next->row) : NextTile());
  }

  Squares all_;
  TransposeFunction transpose_;
  std::uint64_t tile_side_;
  Pairs pairs_;  // of tiles
  std::uint64_t pitch_;
  std::vector<std::uint64_t> offsets_;  // of a tile's rows
};

// Exchanges long elements, block by block.
class SwapElements : public InPlaceEngine {
 public:
  explicit SwapElements(const Squares& all) : all_(all), pairs_(all.side) {}

  WorkspaceSize needs() const override { return {}; }

  void perform(std::byte* array, unsigned threads, Workspace&) const override {
    const std::uint64_t blocks = ceil_div(all_.element_bytes, block);
    for_tasks(all_.outer * all_.inner * pairs_.count() * blocks, all_.bytes(), threads,
              [&](std::uint64_t task, std::uint64_t last) {
                Pair pair = pairs_.at(task / blocks);
                for (; task < last; ++task) {
                  const std::uint64_t begin = task % blocks * block;
                  const std::uint64_t length = std::min(block, all_.element_bytes - begin);
                  std::byte* const one = array + all_.offset_of(pair.matrix, pair.row, pair.column) + begin;
                  std::byte* const other = array + all_.offset_of(pair.matrix, pair.column, pair.row) + begin;
                  if (one != other) std::swap_ranges(one, one + length, other);
                  if ((task + 1) % blocks == 0) pairs_.advance(pair);
                }
              });
  }

  std::string describe() const override {
    return fmt::format("in place: squares of {} x {} elements of {} bytes", all_.side, all_.side,
                       all_.element_bytes);
  }

 private:
  static constexpr std::uint64_t block = 64 * 1024;

  Squares all_;
  Pairs pairs_;
};

}  // namespace

std::vector<std::unique_ptr<InPlaceEngine>> make_swap_engines(const Reordering& what) {
  std::vector<std::unique_ptr<InPlaceEngine>> engines;
  for (const auto& [first, second] : exchanges_of(what)) {
    const Squares squares = squares_of(what, first, second);
    constexpr std::uint64_t long_element = 512;
    if (squares.element_bytes >= long_element)
      engines.push_back(std::make_unique<SwapElements>(squares));
    else
      engines.push_back(std::make_unique<SwapTiles>(squares));
  }
  return engines;
}

}  // namespace xorder::memory
