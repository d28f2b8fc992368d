// Groups of small elements, micro-tile by micro-tile (micro_tiles.hpp).
#include <algorithm>

#include "kernel/elements.hpp"
#include "kernel/linear.hpp"
#include "kernel/micro.hpp"

namespace xorder::kernel {
namespace {

// The tile of one-byte elements. All other tiles are smaller.
constexpr std::size_t largest_tile = line_bytes * line_bytes;

// How far ahead source lines are prefetched. No more is possible: lines of runs that lie a large power of two
// apart share one set of the cache, which has only 8 to 16 ways.
constexpr std::uint64_t bytes_ahead = 2048;

int lg_ceil(std::uint64_t x) { return static_cast<int>(std::bit_width(x - 1)); }

// What both kinds of tiles need to find their lines. A local copy: the compiler then knows that stores cannot
// change it.
struct Lines {
  Lines(const Group& group, const Place& place, const LinearSide& source_side, const LinearSide& target_side)
      : sources(group.sources + place.source.runs),
        targets(group.targets + place.target.runs),
        source_byte(place.source.bytes),
        target_byte(place.target.bytes),
        from(source_side),
        to(target_side) {}

  const std::byte* source(gf2::Word h) const { return sources[from.run(h)] + source_byte + from.byte(h); }
  std::byte* target(gf2::Word z) const { return targets[to.run(z)] + target_byte + to.byte(z); }

  const std::byte* const* sources;
  std::byte* const* targets;
  std::uint64_t source_byte;
  std::uint64_t target_byte;
  LinearSide from;
  LinearSide to;
};

class LinearTiles : public LinearEngine {
 public:
  LinearTiles(const LinearAxis& axis, std::uint64_t element_bytes, CopyFunction write, MicroTiles tiles)
      : write_(write),
        element_bytes_(element_bytes),
        source_{axis.source_low, axis.source},
        target_{axis.target_low, axis.target},
        tiles_(std::move(tiles)),
        source_mask_(gf2::low_mask(tiles_.source_bits)),
        target_mask_(gf2::low_mask(tiles_.target_bits)),
        segment_mask_(gf2::low_mask(tiles_.segment_bits)) {
    const std::size_t tile_bytes = (tiles_.source_lines.size() << tiles_.source_bits) * element_bytes;
    distance_ = std::max<std::uint64_t>(1, bytes_ahead / tile_bytes);
  }

 protected:
  // The place in the panel of target line i of the current tile.
  std::byte* panel_line(std::byte* panel, const Walk& at, std::size_t i) const {
    const gf2::Word z = at.target ^ tiles_.target_lines[i];
    const gf2::Word segment = at.segment ^ tiles_.segment_of_line[i];
    return panel + ((segment << tiles_.segment_bits) | (z & segment_mask_ & ~target_mask_)) * element_bytes_;
  }

  // Goes through the tiles. visit(walk) puts each into the panel. Writes each panel when it is full.
  template <class Visit>
  void run_panels(const Lines& lines, gf2::Word offset, const std::byte* panel, const Visit& visit) const {
    const std::uint64_t per_panel = std::uint64_t{1} << tiles_.panel_steps;
    std::uint64_t left = per_panel;
    WalkAhead(tiles_.steps, offset, distance_)
        .run([&](gf2::Word h) { fetch(lines, h); },
             [&](const Walk& at) {
               visit(at);
               if (--left == 0) {
                 write_panel(lines, at, panel);
                 left = per_panel;
               }
             });
  }

  void fetch(const Lines& lines, gf2::Word h) const {
    for (const gf2::Word line : tiles_.source_lines) prefetch(lines.source((h ^ line) & ~source_mask_));
  }

  CopyFunction write_;
  std::uint64_t element_bytes_;
  LinearSide source_;
  LinearSide target_;
  MicroTiles tiles_;
  gf2::Word source_mask_;
  gf2::Word target_mask_;
  gf2::Word segment_mask_;
  std::uint64_t distance_;

 private:
  void write_panel(const Lines& lines, const Walk& at, const std::byte* panel) const {
    const std::uint64_t bytes = element_bytes_ << tiles_.segment_bits;
    for (std::size_t i = 0; i < tiles_.segments.size(); ++i) {
      std::byte* const to = lines.target((at.target ^ tiles_.segments[i ^ at.segment]) & ~segment_mask_);
      write_(to, panel + i * bytes, bytes);
    }
  }
};

// Square tiles of 1, 2, 4, 8 or 16-byte elements.
class SquareTiles final : public LinearTiles {
 public:
  SquareTiles(const LinearAxis& axis, std::uint64_t element_bytes, CopyFunction write, MicroTiles tiles)
      : LinearTiles(axis, element_bytes, write, std::move(tiles)), kernels_(tile_kernels(element_bytes)) {}

  void run(const Group& group, const Place& place, gf2::Word offset, std::uint64_t) const override {
    const Lines lines(group, place, source_, target_);
    alignas(line_bytes) std::byte panel[panel_bytes];
    TileRows rows{};
    run_panels(lines, offset, panel, [&](const Walk& at) {
      if (tiles_.plain) {
        plain(lines, at, panel, rows);
      } else {
        xored(lines, at, panel, rows);
      }
    });
  }

 private:
  // Here the low bits of the target are those of the offset, in all tiles. They permute the source lines.
  void plain(const Lines& lines, const Walk& at, std::byte* panel, TileRows& rows) const {
    const auto swap = static_cast<std::size_t>(at.target & target_mask_);
    for (std::size_t t = 0; t < tiles_.source_lines.size(); ++t) {
      rows.source[t ^ swap] = lines.source(at.source ^ tiles_.source_lines[t]);
      rows.target[t] = panel_line(panel, at, t);
    }
    kernels_.plain(rows);
  }

  void xored(const Lines& lines, const Walk& at, std::byte* panel, TileRows& rows) const {
    for (std::size_t t = 0; t < tiles_.source_lines.size(); ++t) {
      const gf2::Word from = at.source ^ tiles_.source_lines[t];
      const gf2::Word to = at.target ^ tiles_.target_lines[t];
      rows.source[t] = lines.source(from & ~source_mask_);
      rows.target[t] = panel_line(panel, at, t);
      rows.source_xor[t] = static_cast<std::uint8_t>((from & source_mask_) * element_bytes_);
      rows.target_xor[t] = static_cast<std::uint8_t>((to & target_mask_) * element_bytes_);
    }
    kernels_.xored(rows);
  }

  TileKernels kernels_;
};

// All other tiles, with a table. N is the size of an element, or 0 if it is not known at compile time.
template <std::size_t N>
class TableTiles final : public LinearTiles {
 public:
  using LinearTiles::LinearTiles;

  void run(const Group& group, const Place& place, gf2::Word offset, std::uint64_t) const override {
    const Lines lines(group, place, source_, target_);
    if (tiles_.whole_lines) {
      alignas(line_bytes) std::byte panel[panel_bytes];
      run_panels(lines, offset, panel, [&](const Walk& at) { whole(lines, at, panel); });
    } else {
      WalkAhead(tiles_.steps, offset, distance_)
          .run([&](gf2::Word h) { fetch(lines, h); },
               [&](const Walk& at) { parts(lines, at.source, at.target); });
    }
  }

 private:
  std::uint64_t size() const { return N != 0 ? N : element_bytes_; }

  // The table is sorted by target line and by position within it.
  void whole(const Lines& lines, const Walk& at, std::byte* panel) const {
    alignas(line_bytes) std::byte in[largest_tile];
    const std::uint64_t line = size() << tiles_.source_bits;
    for (std::size_t i = 0; i < tiles_.source_lines.size(); ++i) {
      std::memcpy(in + i * line, lines.source(at.source ^ tiles_.source_lines[i]), line);
    }
    const std::size_t swap = at.target & target_mask_;
    const std::size_t count = target_mask_ + 1;
    const MicroTiles::Entry* entry = tiles_.table.data();
    for (std::size_t i = 0; i < tiles_.target_lines.size(); ++i, entry += count) {
      gather_line(panel_line(panel, at, i), in, entry, count, swap);
    }
  }

  // A separate function, so that the compiler knows what the stores cannot change.
  void gather_line(std::byte* to, const std::byte* in, const MicroTiles::Entry* entry, std::size_t count,
                   std::size_t swap) const {
    const std::uint64_t bytes = size();
    for (std::size_t t = 0; t < count; ++t) {
      copy_element<N>(to + (t ^ swap) * bytes, in + entry[t].source * bytes, bytes);
    }
  }

  void parts(const Lines& lines, gf2::Word h, gf2::Word z) const {
    const std::byte* from[line_bytes];
    std::byte* to[line_bytes];
    for (std::size_t i = 0; i < tiles_.source_lines.size(); ++i)
      from[i] = lines.source(h ^ tiles_.source_lines[i]);
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

std::unique_ptr<LinearEngine> make_linear_tiles(const LinearAxis& axis, std::uint64_t element_bytes,
                                                CopyFunction write) {
  const int line_bits = lg_ceil((line_bytes + element_bytes - 1) / element_bytes);
  MicroTiles tiles = make_micro_tiles(axis.map, axis.source_low, axis.target_low, line_bits, element_bytes);
  if (tiles.square) return std::make_unique<SquareTiles>(axis, element_bytes, write, std::move(tiles));
  return with_constant_size(
      element_bytes, [&]<std::size_t n>(ConstantSize<n>) -> std::unique_ptr<LinearEngine> {
        return std::make_unique<TableTiles<n>>(axis, element_bytes, write, std::move(tiles));
      });
}

}  // namespace xorder::kernel
