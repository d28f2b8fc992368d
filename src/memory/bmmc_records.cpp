#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "memory/bmmc.hpp"
#include "memory/bmmc_engine.hpp"
#include "memory/micro.hpp"
#include "memory/records.hpp"
#include "memory/scratch.hpp"

namespace xorder::memory {
namespace {

using gf2::Word;

// Moves elements of any size one by one. The source index is x = x₀ ⊕ (a term of the segment) ⊕ (a term of
// the position in the segment).
class MappedRecords : public BmmcEngine {
 public:
  MappedRecords(Mapped mapped, int bits, bool streamed)
      : BmmcEngine(std::move(mapped), {bits, bits}),
        bits_(bits),
        copy_(copy_function(streamed)),
        streamed_(streamed) {
    const gf2::AffineMap inverse = mapped_.map.inverse();
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
    const Word begin = place.source ^ positions_[place.target & mask];  // source of the segment's first place
    for (std::size_t s = 0; s < segments_.size(); ++s) {
      const std::byte* const ahead = source + (next.source ^ runs_[s % runs_.size()]) * w;
      for (std::size_t at = 0; at < w << bits_; at += line_bytes) prefetch(ahead + at);
      const Word x = begin ^ from_segments_[s];
      std::byte* to = buffer;
      // copy_ahead() may not read after the array's last element, nor write after the buffer.
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

std::unique_ptr<Engine> make_bmmc_records(Mapped mapped, int bits, bool streamed) {
  return std::make_unique<MappedRecords>(std::move(mapped), bits, streamed);
}

}  // namespace xorder::memory
