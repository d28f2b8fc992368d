#include "memory/bmmc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "memory/cache_sizes.hpp"
#include "memory/line_tiles.hpp"
#include "memory/micro.hpp"
#include "memory/offsets.hpp"
#include "memory/records.hpp"
#include "memory/scratch.hpp"
#include "memory/tile_walk.hpp"
#include "xorder/plan/coset.hpp"

namespace xorder::memory {
namespace {

using gf2::AffineMap;
using gf2::Word;

constexpr std::uint64_t task_bytes = 256 * 1024;

// A map, and what it is repeated along.
struct Mapped {
  std::uint64_t element_bytes = 1;
  AffineMap map;
  std::vector<TargetAxis> outer;  ///< fastest first
  std::uint64_t outer_count = 1;

  std::uint64_t bytes() const { return element_bytes << map.bits(); }
};

// `bits` more at the lower end, which stay where they are.
AffineMap with_low_bits(const AffineMap& map, int bits) {
  std::vector<Word> columns;
  for (int i = 0; i < bits; ++i) columns.push_back(gf2::unit(i));
  for (const Word c : map.matrix.columns()) columns.push_back(c << bits);
  const int n = static_cast<int>(columns.size());
  return {gf2::BitMatrix(n, std::move(columns)), map.complement << bits};
}
AffineMap with_high_bits(const AffineMap& map, int bits) {
  std::vector<Word> columns = map.matrix.columns();
  for (int i = 0; i < bits; ++i) columns.push_back(gf2::unit(map.bits() + i));
  const int n = static_cast<int>(columns.size());
  return {gf2::BitMatrix(n, std::move(columns)), map.complement};
}

Mapped mapped_of(const Reordering& r) {
  Mapped m{r.element_bytes, r.map, {}, 1};
  constexpr std::uint64_t largest = 16;
  if (std::has_single_bit(m.element_bytes) && m.element_bytes > largest) {
    m.map = with_low_bits(m.map, std::countr_zero(m.element_bytes / largest));
    m.element_bytes = largest;
  }
  const int rank = static_cast<int>(r.extents.size());
  std::vector<std::uint64_t> strides(r.extents.size());
  std::uint64_t stride = r.element_bytes;
  for (int axis = rank; axis-- > 0; stride *= r.extents[axis]) strides[axis] = stride;
  for (std::size_t i = r.order.size() - 1; i-- > 0;) {
    const int axis = r.order[i];
    m.outer.push_back({r.extents[axis], strides[axis], false, {}});
    m.outer_count *= r.extents[axis];
  }
  if (m.outer.size() == 1) {  // a batch: as much of it as is a power of two belongs to the map
    TargetAxis& batch = m.outer.front();
    const int bits = std::countr_zero(batch.extent);
    m.map = with_high_bits(m.map, bits);
    batch.extent >>= bits;
    batch.source_stride <<= bits;
    m.outer_count >>= bits;
  }
  return m;
}

// Source runs of 256 bytes and target segments of 128, or fewer elements if there are no more. Where few lines make a tile,
// longer ones, so that there is something to do in a tile.
struct TileShape {
  int source_bits, target_bits;
};
TileShape tile_shape(const AffineMap& map, std::uint64_t element_bytes) {
  constexpr std::uint64_t source_bytes = 256, target_bytes = 128, enough = 2048;
  const auto bits_of = [&](std::uint64_t bytes) {
    return std::min(map.bits(),
                    static_cast<int>(std::bit_width(std::max<std::uint64_t>(1, bytes / element_bytes))) - 1);
  };
  TileShape shape{bits_of(source_bytes), bits_of(target_bytes)};
  while (shape.source_bits < map.bits()) {
    const int source = shape.source_bits + 1;
    const int target = std::min(map.bits(), std::max(shape.target_bits, source));
    if (element_bytes << plan::tile_bits(map, source, target) > enough) break;
    shape = {source, target};
  }
  return shape;
}

// Tasks are equal numbers of tiles.
class BmmcEngine : public Engine {
 public:
  BmmcEngine(Mapped mapped, int source_bits, int target_bits)
      : mapped_(std::move(mapped)), walk_(mapped_.map, source_bits, target_bits, mapped_.element_bytes) {
    const std::uint64_t tile = mapped_.element_bytes << walk_.tile_bits();
    tiles_per_task_ = std::min(walk_.tiles(), std::max<std::uint64_t>(1, std::bit_floor(task_bytes / tile)));
    tasks_per_map_ = walk_.tiles() / tiles_per_task_;
    maps_per_task_ = std::max<std::uint64_t>(1, task_bytes / (tile * tiles_per_task_));
  }

  std::uint64_t tasks() const override {
    return tasks_per_map_ > 1 ? mapped_.outer_count * tasks_per_map_
                              : (mapped_.outer_count + maps_per_task_ - 1) / maps_per_task_;
  }

 protected:
  // Calls body(place, source, target) with the first tile of each stretch of tiles.
  template <class Body>
  void for_each_map(std::uint64_t first, std::uint64_t last, const std::byte* source, std::byte* target,
                    const Body& body) const {
    if (tasks_per_map_ > 1) {
      for (; first < last; ++first) {
        const std::uint64_t outer = first / tasks_per_map_;
        body(walk_.at(first % tasks_per_map_ * tiles_per_task_), source + *Offsets(mapped_.outer, outer),
             target + outer * mapped_.bytes());
      }
      return;
    }
    const std::uint64_t end = std::min(mapped_.outer_count, last * maps_per_task_);
    std::uint64_t outer = first * maps_per_task_;
    const TileWalk::Place start = walk_.at(0);
    for (Offsets offsets(mapped_.outer, outer); outer < end; ++outer, ++offsets) {
      body(start, source + *offsets, target + outer * mapped_.bytes());
    }
  }

  Mapped mapped_;
  TileWalk walk_;
  std::uint64_t tiles_per_task_, tasks_per_map_, maps_per_task_;
};

class Lines : public BmmcEngine {
 public:
  Lines(Mapped mapped, int source_bits, int target_bits, bool streamed)
      : BmmcEngine(std::move(mapped), source_bits, target_bits),
        tiles_(make_line_tiles(mapped_.map, std::countr_zero(mapped_.element_bytes), source_bits, target_bits,
                               walk_.varying())),
        transpose_(line_tile_function(tiles_.lg_lines)),
        write_(segment_function(streamed)),
        write_unaligned_(segment_function(false)),
        copy_(copy_function(streamed)),
        streamed_(streamed) {
    lg_element_ = std::countr_zero(mapped_.element_bytes);
    segment_bytes_ = mapped_.element_bytes << tiles_.target_bits;
    constexpr std::size_t lines_ahead = 24;
    ahead_ = std::clamp<std::size_t>(lines_ahead >> tiles_.lg_lines, 1, tiles_.line_tiles.size());
    in_runs_ =
        tiles_.lg_lines == 0 && tiles_.before.kind == LinePermutation::none && tiles_.segments.size() == 1;
  }

  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    Scratch buffer(tiles_.lines.size() * line_bytes + segment_bytes_);
    for_each_map(first, last, source, target,
                 [&](TileWalk::Place place, const std::byte* from, std::byte* to) {
                   TileWalk::Place next = place;
                   for (std::uint64_t i = 0; i < tiles_per_task_; ++i, place = next) {
                     walk_.advance(next);
                     if (in_runs_) {
                       const std::byte* const ahead = from + (next.source << lg_element_);
                       for (std::size_t at = 0; at < segment_bytes_; at += line_bytes) prefetch(ahead + at);
                       write_tile(to, place.target << lg_element_, from + (place.source << lg_element_),
                                  buffer.data());
                       continue;
                     }
                     read_tile(from, place.source << lg_element_, next.source << lg_element_, buffer.data());
                     write_tile(to, place.target << lg_element_, buffer.data(), buffer.data());
                   }
                 });
  }

  std::string describe() const override {
    return fmt::format(
        "map of {} bits, elements of {} bytes; tiles of {} segments of {} bytes, {} lines across{}{}{}",
        mapped_.map.bits(), mapped_.element_bytes, tiles_.segments.size(), segment_bytes_,
        1 << tiles_.lg_lines, tiles_.before.kind == LinePermutation::none ? "" : ", permuted before",
        tiles_.after.kind == LinePermutation::none ? "" : ", permuted after", streamed_ ? ", streamed" : "");
  }

 private:
  void read_tile(const std::byte* source, std::uint64_t tile, std::uint64_t next, std::byte* buffer) const {
    const std::size_t lines = std::size_t{1} << tiles_.lg_lines;
    const std::size_t count = tiles_.line_tiles.size();
    const std::byte* rows[line_bytes];
    for (std::size_t m = 0; m < count; ++m, buffer += lines * line_bytes) {
      const std::size_t later = m + ahead_;
      const std::uint64_t ahead =
          later < count ? tile ^ tiles_.line_tiles[later] : next ^ tiles_.line_tiles[later - count];
      const std::uint64_t here = tile ^ tiles_.line_tiles[m];
      for (std::size_t a = 0; a < lines; ++a) {
        rows[a] = source + (here ^ tiles_.source_lines[a]);
        prefetch(source + (ahead ^ tiles_.source_lines[a]));
      }
      transpose_(rows, tiles_.before, tiles_.before_flips.data(), buffer);
    }
  }

  void write_tile(std::byte* target, std::uint64_t tile, const std::byte* lines, std::byte* buffer) const {
    const std::uint64_t within = tile & (segment_bytes_ - 1);
    const std::size_t count = segment_bytes_ / line_bytes;
    Segment segment{nullptr,
                    lines,
                    tiles_.lines.data(),
                    tiles_.after_flips.data(),
                    count,
                    within / line_bytes,
                    tiles_.tile_flips[within % line_bytes]};
    const bool aligned = reinterpret_cast<std::uintptr_t>(target) % line_bytes == 0;
    std::byte* const whole = buffer + tiles_.lines.size() * line_bytes;
    for (const std::uint64_t s : tiles_.segments) {
      std::byte* const to = target + ((tile ^ within) ^ s);
      segment.target = aligned ? to : whole;
      (aligned ? write_ : write_unaligned_)(segment, tiles_.after);
      if (!aligned) copy_(to, whole, segment_bytes_);
      segment.lines += count;
    }
  }

  LineTiles tiles_;
  LineTileFunction transpose_;
  SegmentFunction write_, write_unaligned_;
  CopyFunction copy_;
  bool streamed_;
  int lg_element_;
  std::uint64_t segment_bytes_;
  std::size_t ahead_;
  bool in_runs_;  // a tile is a run on both sides: its lines are read where they are
};

// Elements of any size, one by one: x = x₀ ⊕ (the segment's) ⊕ (the position's in the segment).
class MappedRecords : public BmmcEngine {
 public:
  MappedRecords(Mapped mapped, int bits, bool streamed)
      : BmmcEngine(std::move(mapped), bits, bits),
        bits_(bits),
        copy_(copy_function(streamed)),
        streamed_(streamed) {
    const AffineMap inverse = mapped_.map.inverse();
    positions_ = sums(inverse.matrix, gf2::Subspace::low_bits(bits));
    gf2::Subspace high;
    for (int i = 0; i < bits; ++i) high.add(mapped_.map.matrix.column(i) & ~gf2::low_mask(bits));
    segments_ = {0};
    for (const Word v : high.basis()) {
      for (std::size_t i = 0, n = segments_.size(); i < n; ++i) segments_.push_back(segments_[i] ^ v);
    }
    for (const Word v : segments_) from_segments_.push_back(inverse.matrix(v));
    gf2::Subspace lines = gf2::Subspace::low_bits(bits);
    runs_ = {0};
    for (int i = 0; i < bits; ++i) {
      const Word v = inverse.matrix.column(i) & ~gf2::low_mask(bits);
      if (!lines.add(v)) continue;
      for (std::size_t k = 0, n = runs_.size(); k < n; ++k) runs_.push_back(runs_[k] ^ v);
    }
  }

  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    Scratch buffer(mapped_.element_bytes << bits_);
    with_record(mapped_.element_bytes, [&](const auto& record) {
      for_each_map(first, last, source, target,
                   [&](TileWalk::Place place, const std::byte* from, std::byte* to) {
                     TileWalk::Place next = place;
                     for (std::uint64_t i = 0; i < tiles_per_task_; ++i, place = next) {
                       walk_.advance(next);
                       move_tile(record, from, to, place, next, buffer.data());
                     }
                   });
    });
  }

  std::string describe() const override {
    return fmt::format(
        "map of {} bits, elements of {} bytes one by one; tiles of {} segments of {} elements{}",
        mapped_.map.bits(), mapped_.element_bytes, segments_.size(), positions_.size(),
        streamed_ ? ", streamed" : "");
  }

 private:
  static std::vector<Word> sums(const gf2::BitMatrix& m, const gf2::Subspace& space) {
    std::vector<Word> all{0};
    for (const Word v : space.basis()) {
      for (std::size_t i = 0, n = all.size(); i < n; ++i) all.push_back(all[i] ^ m(v));
    }
    return all;
  }

  template <class Record>
  void move_tile(const Record& record, const std::byte* source, std::byte* target,
                 const TileWalk::Place& place, const TileWalk::Place& next, std::byte* buffer) const {
    const std::size_t w = record.bytes();
    const Word mask = gf2::low_mask(bits_);
    const Word begin =
        place.source ^ positions_[place.target & mask];  // of what goes to the segment's first place
    for (std::size_t s = 0; s < segments_.size(); ++s) {
      const std::byte* const ahead = source + (next.source ^ runs_[s % runs_.size()]) * w;
      for (std::size_t at = 0; at < w << bits_; at += line_bytes) prefetch(ahead + at);
      const Word x = begin ^ from_segments_[s];
      std::byte* to = buffer;
      // Only behind the array's last element there is nothing to read.
      const Word last = gf2::low_mask(mapped_.map.bits());
      const std::byte* const end = buffer + (w << bits_);
      for (const Word p : positions_) {
        const std::byte* const from = source + (x ^ p) * w;
        if ((x ^ p) == last || to + w == end) {
          record.copy(to, from);
        } else {
          record.copy_ahead(to, from);
        }
        to += w;
      }
      copy_(target + ((place.target & ~mask) ^ segments_[s]) * w, buffer, w << bits_);
    }
  }

  int bits_;
  CopyFunction copy_;
  bool streamed_;
  std::vector<Word> positions_, segments_, from_segments_, runs_;
};

}  // namespace

std::unique_ptr<Engine> make_bmmc_engine(const Reordering& what, bool streamed) {
  Mapped mapped = mapped_of(what);
  const std::uint64_t w = mapped.element_bytes;
  const TileShape shape = tile_shape(mapped.map, w);
  if (std::has_single_bit(w) && mapped.bytes() >= line_bytes) {
    return std::make_unique<Lines>(std::move(mapped), shape.source_bits, shape.target_bits, streamed);
  }
  return std::make_unique<MappedRecords>(std::move(mapped), std::max(shape.source_bits, shape.target_bits),
                                         streamed);
}

}  // namespace xorder::memory
