#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "gf2/sums.hpp"
#include "kernel/records.hpp"
#include "memory/bmmc.hpp"
#include "memory/bmmc_engine.hpp"
#include "memory/micro.hpp"
#include "memory/scratch.hpp"

namespace xorder::memory {
namespace {

using gf2::sums;
using gf2::Word;
using kernel::with_record;

// Moves elements of any size one by one. A tile's runs are first copied side by side: in the source their
// distance may be a power of two, so that only a few of them are in the cache at a time. (Bit reversal of 3
// bytes, 256 MiB on AMD Zen 4: 1.1 GB/s from where they are, 2.5 from side by side; 12 bytes 4.8 and 6.2.)
// Element x of the tile is in this buffer at the place with the run's number above its place in the run. All
// of this is linear: the element of a segment's position is there at (a term of the tile) ⊕ (a term of the
// segment) ⊕ (a term of the position).
class MappedRecords : public BmmcEngine {
 public:
  MappedRecords(Mapped mapped, int bits, bool streamed)
      : BmmcEngine(std::move(mapped), {bits, bits}),
        bits_(bits),
        gather_(copy_function(false)),
        write_(copy_function(streamed)),
        streamed_(streamed) {
    const gf2::BitMatrix& a = mapped_.map.matrix;
    const gf2::BitMatrix inverse = *a.inverse();
    gf2::Subspace segments, span = gf2::Subspace::low_bits(bits);
    std::vector<Word> runs;
    for (int i = 0; i < bits; ++i) {
      segments.add(high(a.column(i)));
      const Word run = high(inverse.column(i));
      if (span.add(run)) runs.push_back(run);
    }
    const gf2::BitMatrix of_number(mapped_.map.bits(), runs);
    const auto in_buffer = [&](Word x) { return *of_number.solve(high(x)) << bits | low(x); };
    std::vector<Word> positions, from_segments;
    for (int i = 0; i < bits; ++i) positions.push_back(in_buffer(inverse.column(i)));
    for (const Word v : segments.basis()) from_segments.push_back(in_buffer(inverse(v)));
    runs_ = sums(runs);
    segments_ = sums(segments.basis());
    positions_ = sums(positions);
    from_segments_ = sums(from_segments);
  }

  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    const std::size_t w = mapped_.element_bytes;
    if (bits_ == 0) {
      for_each_tile(first, last, source, target,
                    [&](const TileWalk::Place& place, const TileWalk::Place&, const std::byte* from,
                        std::byte* to) { write_(to + place.target * w, from + place.source * w, w); });
      return;
    }
    const std::size_t run = w << bits_;
    with_record(w, [&](const auto& record) {
      const std::size_t slack = record.reads() - w;
      const Scratch buffer(run * (runs_.size() + 1) + slack);
      std::byte *const segment = buffer.data(), *const tile = segment + run;
      const Word last_tile = high(gf2::low_mask(mapped_.map.bits()));
      for_each_tile(first, last, source, target,
                    [&](const TileWalk::Place& place, const TileWalk::Place& next, const std::byte* from,
                        std::byte* to) {
                      const std::byte* read = from + place.source * w;
                      // A tile of one run stays where it is, unless copy_ahead() would read past the array.
                      if (runs_.size() > 1 || (slack != 0 && place.source == last_tile)) {
                        for (std::size_t r = 0; r < runs_.size(); ++r)
                          gather_(tile + r * run, from + (place.source ^ runs_[r]) * w, run);
                        read = tile;
                      }
                      write_tile(record, read, segment, to, place.target, from, next.source);
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
  Word low(Word v) const { return v & gf2::low_mask(bits_); }
  Word high(Word v) const { return v & ~gf2::low_mask(bits_); }

  // Calls body(place, the next tile's place, source, target).
  template <class Body>
  void for_each_tile(std::uint64_t first, std::uint64_t last, const std::byte* source, std::byte* target,
                     const Body& body) const {
    for_each_map(first, last, source, target,
                 [&](TileWalk::Place place, const std::byte* from, std::byte* to) {
                   TileWalk::Place next = place;
                   for (std::uint64_t i = 0; i < tiles_per_task_; ++i, place = next) {
                     walk_.advance(next);
                     body(place, next, from, to);
                   }
                 });
  }

  // Prefetches a few lines of the next tile's runs before each part of a segment; see write_tile.hpp.
  template <class Record>
  void write_tile(const Record& record, const std::byte* tile, std::byte* segment, std::byte* target,
                  Word target_tile, const std::byte* source, Word next) const {
    const std::size_t w = record.bytes(), run = w << bits_;
    const std::size_t last = positions_.size() - 1;
    constexpr std::size_t part_bytes = 1024;
    const std::size_t part = std::bit_floor(std::max<std::size_t>(1, part_bytes / w));
    const Word begin = positions_[low(target_tile)];
    for (std::size_t s = 0; s < segments_.size(); ++s) {
      const std::byte* const ahead = source + (next ^ runs_[s]) * w;
      std::byte* const there = target + (high(target_tile) ^ segments_[s]) * w;
      std::byte* to = streamed_ ? segment : there;
      const Word from = begin ^ from_segments_[s];
      for (std::size_t p = 0; p <= last; p += part) {
        const std::size_t end = std::min(positions_.size(), p + part);
        for (std::size_t at = p * w; at < end * w; at += line_bytes) prefetch_far(ahead + at);
        for (std::size_t i = p; i < std::min(end, last); ++i, to += w)
          record.copy_ahead(to, tile + (from ^ positions_[i]) * w);
      }
      record.copy(to, tile + (from ^ positions_[last]) * w);
      if (streamed_) write_(there, segment, run);
    }
  }

  int bits_;
  CopyFunction gather_, write_;
  bool streamed_;
  std::vector<Word> runs_, segments_, positions_, from_segments_;
};

}  // namespace

std::unique_ptr<Engine> make_bmmc_records(Mapped mapped, bool streamed) {
  const int bits = record_bits(mapped.map, mapped.element_bytes);
  return std::make_unique<MappedRecords>(std::move(mapped), bits, streamed);
}

}  // namespace xorder::memory
