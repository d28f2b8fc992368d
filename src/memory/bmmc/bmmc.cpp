// Which engine a map gets: by the number of lines across a tile, by whether its runs share sets of the cache,
// by the size of the array, and by where the target begins.
#include "memory/bmmc/bmmc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <span>
#include <utility>

#include "gf2/extend.hpp"
#include "memory/cache_sizes.hpp"

namespace xorder::memory {

namespace {

// Whether tiles are moved from line to line past the cache, rather than through a buffer, which spares a
// copy. Not with more lines, which are too many to be prefetched into the first-level cache. Nor with lines
// that are permuted before they are transposed. Nor, if a line takes several stores (AVX2), where the lines
// of a line tile lie apart: a processor combines the stores of few lines at a time. (Figures are in
// bench/memory_bench.md, "Maps".)
bool suits_streaming(const kernel::LineTiles& tiles) {
  constexpr int lg_most_lines = 4;
  const std::size_t lines = std::size_t{1} << tiles.lg_lines;  // of a line tile
  const bool together =
      std::ranges::max(std::span(tiles.target_lines).first(lines)) == (lines - 1) * line_bytes;
  return tiles.lg_lines <= lg_most_lines && tiles.before.kind == kernel::LinePermutation::none &&
         (kernel::lines_in_one_store() || together);
}

// Two engines: one for targets that begin at a line, one for the others. They have the same tasks, since
// neither has tiles larger than task_bytes.
class ByAlignment : public Engine {
 public:
  ByAlignment(std::unique_ptr<Engine> aligned, std::unique_ptr<Engine> unaligned)
      : aligned_(std::move(aligned)), unaligned_(std::move(unaligned)) {
    assert(aligned_->tasks() == unaligned_->tasks());
  }
  std::uint64_t tasks() const override { return unaligned_->tasks(); }
  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    (kernel::within_line(target) ? unaligned_ : aligned_)->perform(first, last, source, target);
  }
  std::string describe() const override {
    return fmt::format("{}; where the target begins within a line, {}", aligned_->describe(),
                       unaligned_->describe());
  }

 private:
  std::unique_ptr<Engine> aligned_, unaligned_;
};

std::unique_ptr<Engine> make_mapped_engine(Mapped mapped, std::uint64_t array_bytes, bool streamed) {
  if (!mapped.has_lines()) return make_bmmc_records(std::move(mapped), streamed);
  const bool cached = written_directly(array_bytes);
  kernel::LineTiles tiles =
      line_tiles(mapped, cached ? cached_shape(mapped.map, mapped.element_bytes, array_bytes)
                                : smallest_shape(mapped.map, mapped.element_bytes));
  if (tiles.in_runs) return make_line_runs(std::move(mapped), std::move(tiles), streamed);
  if (cached) return make_direct_lines(std::move(mapped), std::move(tiles));
  assert(streamed);  // the caches keep at least as much of a map as of other arrays
  const std::uint64_t w = mapped.element_bytes;
  const kernel::TileShape large = large_shape(mapped.map, w);
  const bool share_sets = runs_share_sets(mapped.map, w, large), leaves = leaves_the_caches(mapped.bytes());
  // Lines that share sets leave the second level before they are read. Those of 1 and 2 bytes come from
  // the third level then, unless the array is so large that they have left that too; so would larger
  // elements, but moved from line to line they are faster. Longer runs help, but only where segments, which
  // are shorter, begin at lines; elsewhere the lines are gathered.
  auto buffered = make_buffered_lines(mapped, line_tiles(mapped, large), share_sets && (w == 1 || leaves));
  std::unique_ptr<Engine> aligned;
  if (share_sets && (w <= 2 || leaves))
    aligned = make_buffered_lines(mapped, line_tiles(mapped, long_runs_shape(mapped.map, w)), false);
  else if (suits_streaming(tiles))
    aligned = make_streamed_lines(std::move(mapped), std::move(tiles));
  else
    return buffered;
  return std::make_unique<ByAlignment>(std::move(aligned), std::move(buffered));
}

// One engine for the beginning of the array, another one for the rest.
class TwoParts : public Engine {
 public:
  TwoParts(std::unique_ptr<Engine> first, std::unique_ptr<Engine> second, std::uint64_t first_bytes)
      : first_(std::move(first)), second_(std::move(second)), first_bytes_(first_bytes) {}
  std::uint64_t tasks() const override { return first_->tasks() + second_->tasks(); }
  void perform(std::uint64_t first, std::uint64_t last, const std::byte* source,
               std::byte* target) const override {
    const std::uint64_t border = first_->tasks();
    if (first < border) first_->perform(first, std::min(last, border), source, target);
    if (last > border)
      second_->perform(std::max(first, border) - border, last - border, source + first_bytes_,
                       target + first_bytes_);
  }
  std::string describe() const override { return first_->describe(); }

 private:
  std::unique_ptr<Engine> first_, second_;
  std::uint64_t first_bytes_;
};

// A batch of short maps: 2^bits of them are performed as one. The rest, which takes long, is at most 1/64 of
// the array, or 256 bytes.
int batch_bits(const Mapped& mapped, std::uint64_t array_bytes) {
  if (mapped.outer.size() != 1) return 0;
  const std::uint64_t bytes = std::clamp<std::uint64_t>(array_bytes / 64, 256, 16 * 1024);
  const std::uint64_t most = std::min(mapped.outer_count, bytes / mapped.bytes());
  return most < 2 ? 0 : static_cast<int>(std::bit_width(most)) - 1;
}

}  // namespace

std::unique_ptr<Engine> make_bmmc_engine(const Reordering& what, bool streamed) {
  Mapped one = mapped_of(what);
  const int bits = batch_bits(one, what.bytes());
  if (bits == 0) return make_mapped_engine(std::move(one), what.bytes(), streamed);
  const std::uint64_t count = one.outer_count, rest = count & gf2::low_mask(bits);
  Mapped several = one;
  several.map = gf2::with_high_bits(one.map, bits);
  several.outer_count = several.outer.front().extent = count >> bits;
  several.outer.front().stride <<= bits;
  auto first = make_mapped_engine(std::move(several), what.bytes(), streamed);
  if (rest == 0) return first;
  const std::uint64_t first_bytes = one.bytes() * (count - rest);
  one.outer_count = one.outer.front().extent = rest;
  return std::make_unique<TwoParts>(std::move(first),
                                    make_mapped_engine(std::move(one), what.bytes(), streamed), first_bytes);
}

}  // namespace xorder::memory
