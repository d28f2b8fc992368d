// Which way in place a reordering takes: the fastest that applies, in the order of make_in_place_engine().
#include "memory/in_place/in_place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "gf2/coset.hpp"
#include "gf2/subspace.hpp"
#include "memory/cache_sizes.hpp"

namespace xorder::memory {
namespace {

using gf2::AffineMap;
using gf2::BitMatrix;
using gf2::Subspace;
using gf2::unit;
using gf2::Word;
using kernel::Fetching;

WorkspaceSize larger(WorkspaceSize one, WorkspaceSize other) {
  return {std::max(one.shared, other.shared), std::max(one.for_each_thread, other.for_each_thread)};
}

class TwoSteps : public InPlaceEngine {
 public:
  TwoSteps(std::unique_ptr<InPlaceEngine> first, std::unique_ptr<InPlaceEngine> second)
      : first_(std::move(first)), second_(std::move(second)) {}
  WorkspaceSize needs() const override { return larger(first_->needs(), second_->needs()); }
  void perform(std::byte* array, unsigned threads, Workspace& workspace) const override {
    first_->perform(array, threads, workspace);
    second_->perform(array, threads, workspace);
  }
  std::string describe() const override {
    return fmt::format("{}; then {}", first_->describe(), second_->describe());
  }

 private:
  std::unique_ptr<InPlaceEngine> first_, second_;
};

// One engine for arrays that begin at a line, one for the others.
class InPlaceByAlignment : public InPlaceEngine {
 public:
  InPlaceByAlignment(std::unique_ptr<InPlaceEngine> aligned, std::unique_ptr<InPlaceEngine> unaligned)
      : aligned_(std::move(aligned)), unaligned_(std::move(unaligned)) {}
  WorkspaceSize needs() const override { return larger(aligned_->needs(), unaligned_->needs()); }
  void perform(std::byte* array, unsigned threads, Workspace& workspace) const override {
    (kernel::within_line(array) ? unaligned_ : aligned_)->perform(array, threads, workspace);
  }
  std::string describe() const override {
    return fmt::format("{}; where the array begins within a line, {}", aligned_->describe(),
                       unaligned_->describe());
  }

 private:
  std::unique_ptr<InPlaceEngine> aligned_, unaligned_;
};

// The memory that permute.hpp promises to stay within.
constexpr std::size_t most_for_a_thread = std::size_t{4} << 20;

int bits_of_line(std::uint64_t element_bytes) { return std::countr_zero(line_bytes / element_bytes); }

// Whether tiles of runs of 2^bits elements are small enough, and the runs are not longer than is useful:
// beyond a page they are copied more slowly.
bool fits(const AffineMap& map, std::uint64_t element_bytes, int bits, std::uint64_t tile_bytes) {
  constexpr std::uint64_t longest_run = 4096;
  return bits <= map.bits() && element_bytes << bits <= longest_run &&
         element_bytes << gf2::tile_bits(map, bits, bits) <= tile_bytes;
}

// The largest s for which the map permutes the tiles, cosets of E_s + A⁻¹E_s.
std::optional<int> bits_of_permuted_tiles(const AffineMap& map, std::uint64_t element_bytes,
                                          std::uint64_t tile_bytes) {
  const BitMatrix inverse = *map.matrix.inverse();
  std::optional<int> found;
  for (int bits = bits_of_line(element_bytes); fits(map, element_bytes, bits, tile_bytes); ++bits) {
    Subspace tile = Subspace::low_bits(bits);
    for (int i = 0; i < bits; ++i) tile.add(inverse.column(i));
    if (tile.image(map.matrix) == tile) found = bits;
  }
  return found;
}

// The engine for a map, in one step or in two.
class MapInPlace {
 public:
  explicit MapInPlace(const Mapped& mapped) : mapped_(mapped) {}

  // Null if the map permutes no tiles.
  std::unique_ptr<InPlaceEngine> one_step() const {
    // Smaller tiles have shorter runs; of larger ones less stays in the second level.
    const std::uint64_t tile_bytes = std::min(std::uint64_t{128} << 10, cache_sizes().second / 8);
    const auto bits = bits_of_permuted_tiles(mapped_.map, mapped_.element_bytes, tile_bytes);
    if (!bits) return nullptr;
    auto by_reads = cycles(mapped_.map, *bits, fetched_by_reads());
    if (!gains_by_streaming(*bits)) return by_reads;
    return std::make_unique<InPlaceByAlignment>(cycles(mapped_.map, *bits, Fetching::while_writing),
                                                std::move(by_reads));
  }
  std::unique_ptr<InPlaceEngine> two_steps() const {
    // Larger tiles than for one step: the second step moves runs, which grow with the tile, and gains more
    // than the first step loses.
    const std::uint64_t tile_bytes = std::min(std::uint64_t{2} << 20, 2 * cache_sizes().second);
    const InPlaceFactors factors = factored_in_place(mapped_.map, mapped_.element_bytes, tile_bytes);
    return std::make_unique<TwoSteps>(cycles(factors.within_tiles, factors.run_bits, fetched_by_reads()),
                                      cycles(factors.of_runs, factors.run_bits, fetched_by_reads()));
  }

 private:
  std::unique_ptr<InPlaceEngine> cycles(const AffineMap& map, int bits, Fetching fetching) const {
    Mapped step = mapped_;
    step.map = map;
    return make_cycles_engine(std::move(step), bits, fetching);
  }
  // If runs share sets, what is prefetched far ahead has left the second level when it is read, and from
  // 512 MiB on the third as well. Prefetched while another tile is written past the cache, more of it stays,
  // which gains for most sizes of elements, and from 512 MiB on for all. Lines of an array that begins within
  // a line cannot be written so: their ends would be partial writes.
  bool gains_by_streaming(int bits) const {
    const std::uint64_t w = mapped_.element_bytes;
    return ((w != 2 && w != 16) || leaves_the_caches(mapped_.bytes())) &&
           fetched_by_reads() == Fetching::far && runs_share_sets(mapped_.map, w, {bits, bits});
  }
  Fetching fetched_by_reads() const {
    return in_caches(mapped_.bytes() * mapped_.outer_count) ? Fetching::near : Fetching::far;
  }

  const Mapped& mapped_;
};

// The same reordering as a map, repeated along axes that stay where they are; if it is one.
std::optional<Mapped> as_map(const Reordering& what) {
  const int last = static_cast<int>(what.extents.size()) - 1;
  if (what.mapped == last && std::ranges::is_sorted(what.order)) return mapped_of(what);
  Reordering rest = what;
  for (std::uint64_t batch = 1;;) {
    if (const auto map = flat_map(rest))
      return mapped_of({what.element_bytes, {batch, std::uint64_t{1} << map->bits()}, {0, 1}, 1, *map});
    if (rest.order.front() != 0 || rest.mapped == 0) return {};
    batch *= rest.extents.front();
    rest.extents.erase(rest.extents.begin());
    rest.order.erase(rest.order.begin());
    for (int& axis : rest.order) --axis;
    if (rest.mapped) --*rest.mapped;
  }
}

}  // namespace

InPlaceFactors factored_in_place(const AffineMap& map, std::uint64_t element_bytes,
                                 std::uint64_t tile_bytes) {
  const int n = map.bits();
  const BitMatrix inverse = *map.matrix.inverse();
  int s = std::min(n, bits_of_line(element_bytes));
  while (fits(map, element_bytes, s + 1, tile_bytes)) ++s;

  // B's pairs x -> y: the required ones, others that complete them to bases of T, and a complement of T.
  std::vector<Word> from, to;
  Subspace sources, targets;
  const auto add = [](Subspace& space, std::vector<Word>& basis, Word v) {
    if (space.add(v)) basis.push_back(v);
  };
  for (int i = 0; i < s; ++i) {
    add(sources, from, inverse.column(i));
    add(targets, to, unit(i));
  }
  for (int i = 0; i < s; ++i) {
    add(sources, from, unit(i));
    add(targets, to, inverse.column(i));
  }
  for (int i = 0; i < n; ++i) {
    if (!sources.add(unit(i))) continue;
    from.push_back(unit(i));
    to.push_back(unit(i));
  }
  const BitMatrix b = BitMatrix(n, to) * *BitMatrix(n, from).inverse();
  return {{b, 0}, {map.matrix * *b.inverse(), map.complement}, s};
}

std::unique_ptr<InPlaceEngine> make_in_place_engine(const Reordering& what) {
  auto swaps = make_swap_engines(what);
  // Rows of at most a line make small tiles, each of which takes as long as a large one. Those are faster in
  // parts; longer rows are faster as squares.
  const bool long_rows = what.extents.back() * what.element_bytes > line_bytes;
  if (swaps.size() == 1 && long_rows) return std::move(swaps.front());
  // Parts and what they become are in the second-level cache. There, parts are faster than tiles of maps,
  // than squares and than a second array.
  if (auto parts = make_through_buffer(what, cache_sizes().second / 4)) return parts;
  const auto mapped = as_map(what);
  const bool has_lines = mapped && mapped->has_lines();
  if (has_lines) {
    if (auto one = MapInPlace(*mapped).one_step()) return one;
  }
  if (swaps.size() == 1) return std::move(swaps.front());
  // Parts and buffers of a few threads are in the third level, where parts still beat two steps and a second
  // array. Parts below 2 MiB always, as each of them would be permuted by one thread while the others wait.
  const auto longest = std::clamp(cache_sizes().third / 8, std::size_t{2} << 20, most_for_a_thread);
  if (auto parts = make_through_buffer(what, longest)) return parts;
  // In the cache a second array is twice as fast as two steps; beyond it, two steps are faster.
  if (2 * what.bytes() <= cache_sizes().second) return make_through_copy(what);
  if (swaps.size() == 2) return std::make_unique<TwoSteps>(std::move(swaps[0]), std::move(swaps[1]));
  if (has_lines) return MapInPlace(*mapped).two_steps();
  // Up to about here, the memory of a second array is cheap.
  if (what.bytes() <= 4 * cache_sizes().second) return make_through_copy(what);
  auto rectangles = make_rectangle_engines(what);
  if (rectangles.size() == 1) return std::move(rectangles[0]);
  if (rectangles.size() == 2)
    return std::make_unique<TwoSteps>(std::move(rectangles[0]), std::move(rectangles[1]));
  return make_through_copy(what);
}

}  // namespace xorder::memory
