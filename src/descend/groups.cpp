#include "descend/groups.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "task/workers.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::descend {
namespace {

using std::uint64_t;

// Two of them fit in a level-two cache of a MiB, with room for what passes by.
constexpr uint64_t usual_cache_bytes = uint64_t{256} << 10;
// Columns of a tile: shorter runs cost more in calls than in records.
constexpr uint64_t least_run_bytes = 128;

int floor_lg(uint64_t x) { return x == 0 ? 0 : static_cast<int>(std::bit_width(x)) - 1; }

/// Copies `count` records from index `first` on.
void copy_out(const Pieces& from, uint64_t first, uint64_t count, uint64_t record, std::byte* to) {
  const uint64_t piece_size = uint64_t{1} << from.lg_piece;
  for (uint64_t at = first - from.first; count > 0;) {
    const uint64_t inside = at & (piece_size - 1), part = std::min(count, piece_size - inside);
    const std::byte* const piece = from.pieces[(at >> from.lg_piece) % from.pieces.size()];
    std::memcpy(to, piece + inside * record, part * record);
    to += part * record;
    at += part;
    count -= part;
  }
}

}  // namespace

std::vector<Bits> groups_of(int high, Direction direction, std::size_t record_bytes, uint64_t cache_bytes) {
  if (cache_bytes == 0) cache_bytes = usual_cache_bytes;
  // The first group's rows are single records, of which a tile has a halo of half its size; in the others a
  // tile is a few columns wide.
  const int first = std::max(1, floor_lg(cache_bytes / 4 / record_bytes));
  const int most = std::max(1, floor_lg(cache_bytes / (4 * least_run_bytes)));
  std::vector<Bits> groups;
  if (high > 0) groups.push_back({0, std::min(first, high)});
  for (int low = first, left = (high - first + most - 1) / most; left > 0; --left) {
    const int bits = (high - low + left - 1) / left;
    groups.push_back({low, low + bits});
    low += bits;
  }
  if (direction == Direction::descend) std::reverse(groups.begin(), groups.end());
  return groups;
}

Groups::Groups(Computation& what, int lg_size, uint64_t cache_bytes)
    : what_(what), lg_size_(lg_size), cache_bytes_(cache_bytes != 0 ? cache_bytes : usual_cache_bytes) {}

Groups::Shape Groups::shape(Bits bits, uint64_t rows, uint64_t halo) const {
  const uint64_t record = what_.record_bytes(), stride = bits.stride();
  const uint64_t fitting = cache_bytes_ / record / (rows + 2 * halo);
  const uint64_t least = std::bit_ceil(std::max<uint64_t>(1, least_run_bytes / record));
  const uint64_t width = std::min(stride, std::max(least, fitting == 0 ? 1 : std::bit_floor(fitting)));
  if (halo == 0) return {rows, width};
  const uint64_t fitting_rows = cache_bytes_ / record / width;
  return {std::min(rows, std::max(fitting_rows > 2 * halo ? fitting_rows - 2 * halo : 0, 2 * halo)), width};
}

void Groups::check_stop() const {
  if (stop_.stop_requested()) throw Cancelled();
}

void Groups::halo_tile(Bits bits, const Pieces& from, const Tile& tile, uint64_t first, std::byte* out) {
  check_stop();
  const uint64_t halo = bits.halo_rows(), stride = bits.stride();
  const task::BufferPool::Buffer scratch = scratch_.get();
  std::byte* const in = scratch.get();
  std::byte* const other = in + bytes(tile.rows * tile.width);
  if (tile.width == stride) {
    copy_out(from, tile.first, tile.rows * tile.width, what_.record_bytes(), in);
  } else {
    for (uint64_t r = 0; r < tile.rows; ++r)
      copy_out(from, tile.first + r * stride, tile.width, what_.record_bytes(), in + bytes(r * tile.width));
  }
  const std::byte* const result = iterate(what_, lg_size_, bits, tile, in, other);
  const uint64_t place = tile.first + halo * stride - first;
  if (tile.width == stride) {
    std::memcpy(out + bytes(place), result + bytes(halo * stride), bytes((tile.rows - 2 * halo) * stride));
    return;
  }
  for (uint64_t r = halo; r < tile.rows - halo; ++r) {
    std::memcpy(out + bytes(place + (r - halo) * stride), result + bytes(r * tile.width), bytes(tile.width));
  }
}

void Groups::with_halo(Bits bits, const Pieces& from, uint64_t first, uint64_t count, std::byte* out) {
  const uint64_t stride = bits.stride(), halo = bits.halo_rows(), rows = count / stride;
  const Shape tile = shape(bits, rows, halo);
  const uint64_t across = stride / tile.width, down = (rows + tile.rows - 1) / tile.rows;
  scratch_.at_least(2 * bytes((tile.rows + 2 * halo) * tile.width));
  task::each(across * down, [&](uint64_t t) {
    const uint64_t row = t / across * tile.rows, column = t % across * tile.width;
    const uint64_t height = std::min(tile.rows, rows - row);
    halo_tile(bits, from,
              {.first = first + (row - halo) * stride + column,
               .rows = height + 2 * halo,
               .width = tile.width,
               .cyclic = false},
              first, out);
  });
}

void Groups::cyclic(Bits bits, std::byte* data, uint64_t column, uint64_t width) {
  const uint64_t rows = uint64_t{1} << (bits.high - bits.low);
  if (bits.high == bits.low) return;
  const uint64_t across = std::min(width, shape(bits, rows, 0).width);
  scratch_.at_least(2 * bytes(rows * across));
  task::each((width + across - 1) / across, [&](uint64_t t) {
    check_stop();
    const Tile tile{.first = column + t * across,
                    .rows = rows,
                    .width = std::min(across, width - t * across),
                    .cyclic = true};
    const task::BufferPool::Buffer scratch = scratch_.get();
    std::byte* const corner = data + bytes(t * across);
    const uint64_t pitch = bytes(width), part = bytes(tile.width);
    for (uint64_t r = 0; r < rows; ++r) std::memcpy(scratch.get() + r * part, corner + r * pitch, part);
    const std::byte* const result =
        iterate(what_, lg_size_, bits, tile, scratch.get(), scratch.get() + rows * part);
    for (uint64_t r = 0; r < rows; ++r) std::memcpy(corner + r * pitch, result + r * part, part);
  });
}

std::byte* Groups::all(std::byte* array, std::byte* other) {
  const uint64_t size = uint64_t{1} << lg_size_;
  for (const Bits bits : groups_of(lg_size_, what_.direction(), what_.record_bytes(), cache_bytes_)) {
    if (bits.high == lg_size_) {
      cyclic(bits, array, 0, bits.stride());
    } else {
      with_halo(bits, {{array}, lg_size_, 0}, 0, size, other);
      std::swap(array, other);
    }
  }
  return array;
}

uint64_t Groups::scratch_bytes(Bits bits, uint64_t count) const {
  const bool is_cyclic = bits.high == lg_size_;
  const uint64_t halo = is_cyclic ? 0 : bits.halo_rows();
  const Shape tile = shape(bits, is_cyclic ? bits.halo_rows() + 1 : count / bits.stride(), halo);
  return 2 * bytes((tile.rows + 2 * halo) * tile.width);
}

void Computation::load(uint64_t, std::size_t, std::span<const std::byte* const>, std::byte*) {}
void Computation::store(uint64_t, std::size_t, std::byte*, std::byte*) {}

void compute(Computation& what, std::byte* records, uint64_t count, unsigned threads,
             const DescendSizes& sizes) {
  const int lg_size = exact_lg(count, "the number of records");
  Groups groups(what, lg_size, sizes.cache_bytes);
  const io::BlockMemory other(count * what.record_bytes());
  task::Workers workers(threads);
  const std::byte* result = nullptr;
  {
    const auto all = [&] {
      const task::InTask task;
      result = groups.all(records, other.data());
    };
    const task::AroundTasks around;
    workers.arena.execute(all);
  }
  if (result != records) std::memcpy(records, result, count * what.record_bytes());
}

}  // namespace xorder::descend
