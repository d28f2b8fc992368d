// Moves the tiles of a linear map whose elements may have any size: element by element, or in cells.
//
// A tile's runs are first copied side by side: in the source their distance may be a power of two, so that
// only a few of them are in the cache at a time. In this buffer, an element's place is its run's number above
// its place in the run. All of this is linear: the element of
// a segment's position is there at (a term of the tile) ⊕ (a term of the segment) ⊕ (a term of the
// position).
//
// Elements of 3, 5, 6 and 7 bytes are put in cells of 4 and 8 bytes (padding.hpp) when the runs are copied.
// Cells fill lines, so the tile is moved line by line (line_tiles.hpp) from there to other cells, from which
// the segments are put together. That is faster than one by one for all of these sizes, the more so the
// smaller the elements.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "kernel/linear/line_mover.hpp"
#include "kernel/linear/tile_shape.hpp"
#include "kernel/records.hpp"
#include "kernel/vectors/micro.hpp"
#include "kernel/vectors/padding.hpp"
#include "xorder/gf2/bit_matrix.hpp"

namespace xorder::kernel {

/// Tiles are named by the coordinate of the first element of one of their runs in the source, or of its image
/// in the target. Sources and targets are functions from coordinates to addresses. Immutable, so several
/// threads can use it at once.
class RecordMover {
 public:
  /// Requires a shape that is possible for the map. `streamed` means to write past the cache.
  RecordMover(const gf2::BitMatrix& map, std::uint64_t element_bytes, TileShape shape, bool streamed);

  std::size_t segments() const { return segments_.size(); }
  std::size_t segment_elements() const { return positions_.size(); }
  bool in_cells() const { return lines_.has_value(); }
  /// Of the buffer that a tile needs on its way.
  std::size_t buffer_bytes() const {
    const std::size_t tile = runs_.size() * run_bytes();
    return segment_bytes() +
           (in_cells() ? 2 * tile / element_bytes_ * cell_bytes(element_bytes_) : tile + slack_);
  }

  /// Moves a tile, and prefetches the runs of the tile `next`. `may_read_beyond`: there is another element
  /// after each run of the source, so that a tile of one run can stay where it is.
  template <class Source, class Target>
  void move(const Source& source, gf2::Word tile, gf2::Word next, const Target& target, gf2::Word target_tile,
            bool may_read_beyond, std::byte* buffer) const {
    if (in_cells()) return move_cells(source, tile, next, target, target_tile, buffer);
    std::byte *const segment = buffer, *const aside = buffer + segment_bytes();
    const std::byte* read = source(tile);
    if (runs_.size() > 1 || (slack_ != 0 && !may_read_beyond)) {
      for (std::size_t r = 0; r < runs_.size(); ++r)
        gather_(aside + r * run_bytes(), source(tile ^ runs_[r]), run_bytes());
      read = aside;
    }
    const gf2::Word low = gf2::low_mask(shape_.target_bits);
    const gf2::Word begin = positions_[target_tile & low];
    Fetch<Source> fetch{*this, source, next};
    with_record(element_bytes_, [&](const auto& record) {
      for (std::size_t s = 0; s < segments_.size(); ++s) {
        std::byte* const there = target((target_tile & ~low) ^ segments_[s]);
        write_segment(record, read, begin ^ from_segments_[s], streamed_ ? segment : there, fetch);
        if (streamed_) write_(there, segment, segment_bytes());
      }
    });
  }

 private:
  template <class Source, class Target>
  void move_cells(const Source& source, gf2::Word tile, gf2::Word next, const Target& target,
                  gf2::Word target_tile, std::byte* buffer) const {
    const std::size_t cell = cell_bytes(element_bytes_);
    const std::size_t run = cell << shape_.source_bits;
    std::byte *const aside = buffer, *const moved = aside + runs_.size() * run,
                     *const segment = moved + runs_.size() * run;
    for (std::size_t r = 0; r < runs_.size(); ++r)
      padding_.pad(source(tile ^ runs_[r]), aside + r * run, run / cell);
    const gf2::Word low = gf2::low_mask(shape_.target_bits);
    const std::uint64_t within = (target_tile & low) * cell;
    if (lines_->in_runs()) {
      lines_->write_run(Flat{moved}, within, aside, aside, nullptr);
    } else {
      lines_->move(aside, 0, 0, moved, within);
    }
    Fetch<Source> fetch{*this, source, next};
    const std::byte* from = moved;
    for (const gf2::Word s : segments_) {
      fetch.prefetch(segment_bytes());
      std::byte* const there = target((target_tile & ~low) ^ s);
      padding_.unpad(from, streamed_ ? segment : there, segment_elements());
      if (streamed_) write_(there, segment, segment_bytes());
      from += cell << shape_.target_bits;
    }
  }

  std::size_t run_bytes() const { return element_bytes_ << shape_.source_bits; }
  std::size_t segment_bytes() const { return element_bytes_ << shape_.target_bits; }

  // Prefetches the runs of a tile, some lines at a time.
  template <class Source>
  struct Fetch {
    const RecordMover& mover;
    const Source& source;
    gf2::Word tile;
    std::size_t run = 0, at = 0, owed = 0;

    void prefetch(std::size_t bytes) {
      if ((owed += bytes) < line_bytes) return;  // segments can be short
      bytes = std::exchange(owed, 0);
      const std::size_t run_bytes = mover.run_bytes();
      while (run < mover.runs_.size() && bytes > 0) {
        const std::byte* const from = source(tile ^ mover.runs_[run]);
        const std::size_t end = std::min(run_bytes, at + bytes);
        for (std::size_t i = at; i < end; i += line_bytes) prefetch_far(from + i);
        bytes -= end - at;
        at = end;
        if (at == run_bytes) {
          if (within_line(from + run_bytes)) prefetch_far(from + run_bytes - 1);  // may be one more line
          ++run, at = 0;
        }
      }
    }
  };

  // Prefetches as many bytes of the next tile before it writes some.
  template <class Record, class Source>
  void write_segment(const Record& record, const std::byte* tile, gf2::Word from, std::byte* to,
                     Fetch<Source>& fetch) const {
    constexpr std::size_t part_bytes = 1024;
    const std::size_t w = record.bytes(), last = positions_.size() - 1;
    const std::size_t part = std::bit_floor(std::max<std::size_t>(1, part_bytes / w));
    for (std::size_t p = 0; p <= last; p += part) {
      const std::size_t end = std::min(positions_.size(), p + part);
      fetch.prefetch((end - p) * w);
      for (std::size_t i = p; i < std::min(end, last); ++i, to += w)
        record.copy_ahead(to, tile + (from ^ positions_[i]) * w);
    }
    record.copy(to, tile + (from ^ positions_[last]) * w);
  }

  std::uint64_t element_bytes_;
  TileShape shape_;
  std::size_t slack_;  // bytes that copy_ahead() reads behind an element
  CopyFunction gather_, write_;
  bool streamed_;
  std::vector<gf2::Word> runs_, segments_;            // coordinates of one element of each
  std::vector<gf2::Word> positions_, from_segments_;  // places in the buffer
  Padding padding_;
  std::optional<LineMover> lines_;  // in cells: from places in the buffer to one segment after the other
};

}  // namespace xorder::kernel
