// Groups of small elements, micro-tile by micro-tile (micro_tiles.hpp).
#include <algorithm>
#include <cstdlib>

#include "kernel/elements.hpp"
#include "kernel/linear.hpp"
#include "kernel/micro.hpp"

namespace xorder::kernel {
namespace {

// Of one-byte elements; all others have smaller tiles.
constexpr std::size_t largest_tile = line_bytes * line_bytes;

int lg_ceil(std::uint64_t x) { return static_cast<int>(std::bit_width(x - 1)); }

// What both kinds of tiles need to find their lines.
struct Lines {
  const Group& group;
  const Place& place;
  const LinearSide& from;
  const LinearSide& to;

  const std::byte* source(gf2::Word h) const {
    return group.sources[place.source.runs + from.run(h)] + place.source.bytes + from.byte(h);
  }
  std::byte* target(gf2::Word z) const {
    return group.targets[place.target.runs + to.run(z)] + place.target.bytes + to.byte(z);
  }
};

class LinearTiles : public LinearEngine {
 public:
  LinearTiles(const LinearAxis& axis, std::uint64_t element_bytes, MicroTiles tiles)
      : element_bytes_(element_bytes),
        source_{axis.source_low, axis.source},
        target_{axis.target_low, axis.target},
        tiles_(std::move(tiles)),
        source_mask_(gf2::low_mask(tiles_.source_bits)),
        target_mask_(gf2::low_mask(tiles_.target_bits)) {
    const std::size_t tile_bytes = (tiles_.source_lines.size() << tiles_.source_bits) * element_bytes;
    const char* d = std::getenv("XD");
    distance_ = std::max<std::uint64_t>(1, (d ? strtoull(d, 0, 10) : 1024) / tile_bytes);
  }

 protected:
  std::uint64_t element_bytes_;
  LinearSide source_;
  LinearSide target_;
  MicroTiles tiles_;
  gf2::Word source_mask_;
  gf2::Word target_mask_;
  std::uint64_t distance_;
};

// Square tiles of 1, 2, 4, 8 or 16-byte elements.
class SquareTiles final : public LinearTiles {
 public:
  SquareTiles(const LinearAxis& axis, std::uint64_t element_bytes, MicroTiles tiles)
      : LinearTiles(axis, element_bytes, std::move(tiles)), kernels_(tile_kernels(element_bytes)) {}

  void run(const Group& group, const Place& place, gf2::Word offset, std::uint64_t) const override {
    const Lines lines{group, place, source_, target_};
    TileRows rows{};
    const auto fetch = [&](gf2::Word h) {
      for (const gf2::Word line : tiles_.source_lines) prefetch(lines.source((h ^ line) & ~source_mask_));
    };
    const auto visit = [&](gf2::Word h, gf2::Word z) {
      if (tiles_.plain) {
        plain(lines, h, z, rows);
      } else {
        xored(lines, h, z, rows);
      }
    };
    WalkAhead(tiles_.steps, offset, distance_).run(fetch, visit);
  }

 private:
  // Here z's low bits are the offset's in all tiles: they permute the source's lines.
  void plain(const Lines& lines, gf2::Word h, gf2::Word z, TileRows& rows) const {
    const std::size_t k = tiles_.source_lines.size();
    const auto swap = static_cast<std::size_t>(z & target_mask_);
    std::uintptr_t addresses = 0;
    for (std::size_t t = 0; t < k; ++t) {
      rows.source[t ^ swap] = lines.source(h ^ tiles_.source_lines[t]);
      rows.target[t] = lines.target((z ^ tiles_.target_lines[t]) & ~target_mask_);
      addresses |= reinterpret_cast<std::uintptr_t>(rows.target[t]);
    }
    (addresses % line_bytes == 0 && !getenv("XN") ? kernels_.plain_streamed : kernels_.plain)(rows);
  }

  void xored(const Lines& lines, gf2::Word h, gf2::Word z, TileRows& rows) const {
    const std::size_t k = tiles_.source_lines.size();
    std::uintptr_t addresses = 0;
    for (std::size_t t = 0; t < k; ++t) {
      const gf2::Word from = h ^ tiles_.source_lines[t];
      const gf2::Word to = z ^ tiles_.target_lines[t];
      rows.source[t] = lines.source(from & ~source_mask_);
      rows.target[t] = lines.target(to & ~target_mask_);
      rows.source_xor[t] = static_cast<std::uint8_t>((from & source_mask_) * element_bytes_);
      rows.target_xor[t] = static_cast<std::uint8_t>((to & target_mask_) * element_bytes_);
      addresses |= reinterpret_cast<std::uintptr_t>(rows.target[t]);
    }
    (addresses % line_bytes == 0 && !getenv("XN") ? kernels_.xored_streamed : kernels_.xored)(rows);
  }

  TileKernels kernels_;
};

// All other tiles, by table. N is the size of an element, or 0 where the compiler cannot know it.
template <std::size_t N>
class TableTiles final : public LinearTiles {
 public:
  using LinearTiles::LinearTiles;

  void run(const Group& group, const Place& place, gf2::Word offset, std::uint64_t) const override {
    const Lines lines{group, place, source_, target_};
    const auto fetch = [&](gf2::Word h) {
      for (const gf2::Word line : tiles_.source_lines) {
        const std::byte* const p = lines.source(h ^ line);
        prefetch(p);
        prefetch(p + source_line_bytes() - 1);
      }
    };
    const auto visit = [&](gf2::Word h, gf2::Word z) {
      if (tiles_.whole_lines) {
        whole(lines, h, z);
      } else {
        parts(lines, h, z);
      }
    };
    WalkAhead(tiles_.steps, offset, distance_).run(fetch, visit);
  }

 private:
  std::uint64_t size() const { return N != 0 ? N : element_bytes_; }
  std::uint64_t source_line_bytes() const { return size() << tiles_.source_bits; }
  std::uint64_t target_line_bytes() const { return size() << tiles_.target_bits; }

  void whole(const Lines& lines, gf2::Word h, gf2::Word z) const {
    alignas(line_bytes) std::byte in[largest_tile];
    alignas(line_bytes) std::byte out[largest_tile];
    std::byte* next = in;
    for (const gf2::Word line : tiles_.source_lines) {
      std::memcpy(next, lines.source(h ^ line), source_line_bytes());
      next += source_line_bytes();
    }
    const std::size_t swap = z & target_mask_;
    for (std::size_t i = 0, n = tiles_.table.size(); i < n; ++i) {
      copy_element<N>(out + (i ^ swap) * size(), in + tiles_.table[i].source * size(), size());
    }
    next = out;
    for (const gf2::Word line : tiles_.target_lines) {
      std::memcpy(lines.target((z ^ line) & ~target_mask_), next, target_line_bytes());
      next += target_line_bytes();
    }
  }

  void parts(const Lines& lines, gf2::Word h, gf2::Word z) const {
    const std::byte* from[64];
    std::byte* to[64];
    for (std::size_t i = 0; i < tiles_.source_lines.size(); ++i) from[i] = lines.source(h ^ tiles_.source_lines[i]);
    for (std::size_t i = 0; i < tiles_.target_lines.size(); ++i) {
      to[i] = lines.target((z ^ tiles_.target_lines[i]) & ~target_mask_);
    }
    const gf2::Word swap = z & target_mask_;
    for (const MicroTiles::Entry& e : tiles_.table) {
      copy_element<N>(to[e.target >> tiles_.target_bits] + ((e.target & target_mask_) ^ swap) * size(),
                      from[e.source >> tiles_.source_bits] + (e.source & source_mask_) * size(), size());
    }
  }
};

}  // namespace

std::unique_ptr<LinearEngine> make_linear_tiles(const LinearAxis& axis, std::uint64_t element_bytes) {
  const int line_bits = lg_ceil((line_bytes + element_bytes - 1) / element_bytes);
  MicroTiles tiles = make_micro_tiles(axis.map, axis.source_low, axis.target_low, line_bits, element_bytes);
  if (tiles.square) {
    return std::make_unique<SquareTiles>(axis, element_bytes, std::move(tiles));
  }
  return with_constant_size(element_bytes, [&]<std::size_t n>(ConstantSize<n>) -> std::unique_ptr<LinearEngine> {
    return std::make_unique<TableTiles<n>>(axis, element_bytes, std::move(tiles));
  });
}

}  // namespace xorder::kernel
