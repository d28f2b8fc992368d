// Groups of iterations on arrays in memory, tile by tile through the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <utility>
#include <vector>

#include "descend/tile.hpp"
#include "task/parallel.hpp"
#include "xorder/descend/descend.hpp"

namespace xorder::descend {

/// Iterations 0 .. high−1 in groups whose tiles fit in the cache, in the direction's order. Each group is one
/// way through memory.
std::vector<Bits> groups_of(int high, Direction direction, std::size_t record_bytes,
                            std::uint64_t cache_bytes);

/// Records in memory, in pieces of 2^lg_piece that follow each other from index `first` on. Beyond the last
/// one the first one follows, which matters where there is one piece: the whole array.
struct Pieces {
  std::vector<const std::byte*> pieces;
  int lg_piece = 0;
  std::uint64_t first = 0;
};

class Groups {
 public:
  /// `cache_bytes` 0: of the machines that this was made on.
  Groups(Computation& what, int lg_size, std::uint64_t cache_bytes);

  Computation& what() const { return what_; }
  int lg_size() const { return lg_size_; }
  std::uint64_t cache_bytes() const { return cache_bytes_; }

  /// From now on the functions below throw Cancelled soon after this token asks for it.
  void heed(std::stop_token stop) { stop_ = std::move(stop); }

  /// Computes `count` records from index `first` on, both multiples of 2^low, from the pieces, which reach
  /// far enough to either side, into `out`, which is none of them.
  void with_halo(Bits bits, const Pieces& from, std::uint64_t first, std::uint64_t count, std::byte* out);

  /// In place, on all rows at once: row r of `data` is `width` records from index r · 2^low + column on;
  /// high is lg M.
  void cyclic(Bits bits, std::byte* data, std::uint64_t column, std::uint64_t width);

  /// All iterations on the whole array; `other` is as large. Returns the one of the two with the result.
  std::byte* all(std::byte* array, std::byte* other);

  /// Bytes of the two buffers that a thread needs for with_halo() with this count or, if high is lg M, for
  /// cyclic().
  std::uint64_t scratch_bytes(Bits bits, std::uint64_t count) const;

 private:
  struct Shape {
    std::uint64_t rows, width;
  };
  /// Of tiles with so many rows that count, and so many beside them.
  Shape shape(Bits bits, std::uint64_t rows, std::uint64_t halo) const;
  std::uint64_t bytes(std::uint64_t records) const { return records * what_.record_bytes(); }
  void check_stop() const;
  void halo_tile(Bits bits, const Pieces& from, const Tile& tile, std::uint64_t first, std::byte* out);

  Computation& what_;
  int lg_size_;
  std::uint64_t cache_bytes_;
  std::stop_token stop_;
  task::BufferPool scratch_;  // of two tiles each
};

}  // namespace xorder::descend
