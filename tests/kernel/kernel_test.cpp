#include "kernel/kernel.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <hwy/targets.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <string>

#include "gf2/extend.hpp"
#include "sanitized.hpp"
#include "seed.hpp"

namespace xorder::kernel {
namespace {

using gf2::BitMatrix;
using gf2::Word;
using test::Random;

// Runs that lie apart from each other at chosen alignments, between bytes that nobody may touch.
class Runs {
 public:
  Runs(Random& random, std::uint64_t count, std::uint64_t bytes, std::uint64_t alignment)
      : memory_((count + 1) * (bytes + 192)) {
    random.fill(memory_.data(), memory_.size());
    for (std::uint64_t r = 0; r < count; ++r) {
      const auto room = reinterpret_cast<std::uintptr_t>(memory_.data() + r * (bytes + 192));
      const std::uint64_t shift = alignment == 0 ? random.in(std::uint64_t{0}, std::uint64_t{63}) : 0;
      starts_.push_back((64 - room % 64) % 64 + r * (bytes + 192) + shift);
    }
    std::ranges::shuffle(starts_, random);
  }
  std::vector<std::byte*> pointers() {
    std::vector<std::byte*> p;
    for (const std::uint64_t s : starts_) p.push_back(memory_.data() + s);
    return p;
  }
  std::vector<std::byte>& memory() { return memory_; }
  const std::vector<std::uint64_t>& starts() const { return starts_; }

 private:
  std::vector<std::byte> memory_;
  std::vector<std::uint64_t> starts_;
};

struct Case {
  Layout layout;
  std::vector<std::uint64_t> lengths;
  Word offset = 0;
  std::uint64_t source_runs = 1, source_bytes = 0, target_runs = 1, target_bytes = 0;

  // Calls visit(source run, source byte, target run, target byte) for every element: the contract, word for
  // word.
  template <class Visit>
  void for_each_element(const Visit& visit) const {
    const int bits = layout.linear ? layout.linear->map.cols() : 0;
    std::uint64_t count = std::uint64_t{1} << bits;
    for (const std::uint64_t n : lengths) count *= n;
    for (std::uint64_t i = 0; i < count; ++i) {
      const Word h = i & gf2::low_mask(bits);
      std::uint64_t rest = i >> bits;
      Stride s, t;
      for (std::size_t a = 0; a < lengths.size(); ++a) {
        const std::uint64_t x = rest % lengths[a];
        rest /= lengths[a];
        s.runs += x * layout.axes[a].source.runs, s.bytes += x * layout.axes[a].source.bytes;
        t.runs += x * layout.axes[a].target.runs, t.bytes += x * layout.axes[a].target.bytes;
      }
      if (const auto& l = layout.linear) {
        const Word z = l->map(h) ^ offset;
        s.runs += (h >> l->source_low) * l->source.runs;
        s.bytes += (h & gf2::low_mask(l->source_low)) * l->source.bytes;
        t.runs += (z >> l->target_low) * l->target.runs;
        t.bytes += (z & gf2::low_mask(l->target_low)) * l->target.bytes;
      }
      visit(s.runs, s.bytes, t.runs, t.bytes);
    }
  }

  // The runs as large as the whole layout needs, whatever the lengths of this call.
  void measure() {
    Case whole = *this;
    whole.lengths.clear();
    for (const Axis& axis : layout.axes) whole.lengths.push_back(axis.length);
    for (const Word c : {offset, Word{0}}) {
      whole.offset = c;
      whole.for_each_element([this](std::uint64_t sr, std::uint64_t sb, std::uint64_t tr, std::uint64_t tb) {
        source_runs = std::max(source_runs, sr + 1);
        target_runs = std::max(target_runs, tr + 1);
        source_bytes = std::max(source_bytes, sb + layout.element_bytes);
        target_bytes = std::max(target_bytes, tb + layout.element_bytes);
      });
    }
  }
};

std::string describe(const Case& c) {
  const auto side = [](const Stride& d) { return fmt::format("{}r{}", d.runs, d.bytes); };
  std::string s = fmt::format("element {} streamed {}", c.layout.element_bytes, c.layout.streamed);
  for (std::size_t i = 0; i < c.lengths.size(); ++i) {
    const Axis& a = c.layout.axes[i];
    s += fmt::format(" axis {}/{} {}>{}", c.lengths[i], a.length, side(a.source), side(a.target));
  }
  if (const auto& l = c.layout.linear) {
    s += fmt::format(" linear {}>{} low {}>{} {}>{} offset {} columns {}", l->map.cols(), l->map.rows(),
                     l->source_low, l->target_low, side(l->source), side(l->target), c.offset,
                     fmt::join(l->map.columns(), " "));
  }
  return s;
}

// Runs the case through the kernel and through the definition; everything must be equal, guard bytes
// included. Returns the strategy's name.
std::string check(Random& random, Case c, bool aligned) {
  c.measure();
  c.layout.streamed = random.in(0, 3) != 0;
  Runs source(random, c.source_runs, c.source_bytes, random.in(0, 2) == 0 ? 64 : 0);
  Runs target(random, c.target_runs, c.target_bytes, aligned ? 64 : 0);
  std::vector<std::byte> expected = target.memory();
  c.for_each_element([&](std::uint64_t sr, std::uint64_t sb, std::uint64_t tr, std::uint64_t tb) {
    std::memcpy(expected.data() + target.starts()[tr] + tb, source.memory().data() + source.starts()[sr] + sb,
                c.layout.element_bytes);
  });
  const Kernel kernel(c.layout);
  const std::vector<std::byte*> from = source.pointers(), to = target.pointers();
  kernel(from.data(), to.data(), c.lengths, c.offset);
  EXPECT_TRUE(expected == target.memory()) << kernel.strategy() << ": " << describe(c);
  return kernel.strategy();
}

enum class Map {
  identity,
  bit_permutation,
  gray,
  inverse_gray,
  low_rank,
  random,
  rotation,
  bit_reversal,
  count
};

BitMatrix random_injective(Random& random, int rows, int columns) {
  for (;;) {
    std::vector<Word> c;
    for (int i = 0; i < columns; ++i) c.push_back(random() & gf2::low_mask(rows));
    BitMatrix m(rows, c);
    if (m.rank() == columns) return m;
  }
}

BitMatrix random_map(Random& random, Map kind, int n) {
  std::vector<int> target(static_cast<std::size_t>(n));
  std::iota(target.begin(), target.end(), 0);
  std::vector<Word> columns = BitMatrix::identity(n).columns();
  switch (kind) {
    case Map::identity:
      break;
    case Map::bit_permutation:
      std::ranges::shuffle(target, random);
      return BitMatrix::bit_permutation(target);
    case Map::bit_reversal:
      std::ranges::reverse(target);
      return BitMatrix::bit_permutation(target);
    case Map::rotation:
      if (n > 0) std::ranges::rotate(target, target.begin() + random.in(0, n - 1));
      return BitMatrix::bit_permutation(target);
    case Map::gray:
      for (int i = 1; i < n; ++i) columns[static_cast<std::size_t>(i)] |= gf2::unit(i - 1);
      break;
    case Map::inverse_gray:
      for (int i = 0; i < n; ++i) columns[static_cast<std::size_t>(i)] = gf2::low_mask(i + 1);
      break;
    case Map::low_rank:  // a product of a few elementary matrices
      for (int i = 0; n > 1 && i < 4; ++i) {
        const auto a = static_cast<std::size_t>(random.in(0, n - 1)),
                   b = static_cast<std::size_t>(random.in(0, n - 1));
        if (a != b) columns[a] ^= columns[b];
      }
      break;
    default:
      return random_injective(random, n, n);
  }
  return BitMatrix(n, columns);
}

// Keeps some columns and adds some rows: what a group sees of a whole map.
BitMatrix widened(Random& random, const BitMatrix& m, int extra) {
  std::vector<Word> columns = m.columns();
  for (Word& c : columns) {
    for (int i = 0; i < extra; ++i) {
      const int at = random.in(0, 3) == 0 ? 0 : m.rows();
      c = ((c & ~gf2::low_mask(at)) << 1) | (c & gf2::low_mask(at));
    }
  }
  BitMatrix wide(m.rows() + extra, columns);
  return wide.rank() == wide.cols() ? wide : BitMatrix(m.rows() + extra, m.columns());
}

// Where the coordinates of one side lie: dimensions are given addresses one after the other, some in bytes,
// then in runs; sometimes with gaps.
class Placer {
 public:
  Placer(Random& random, std::uint64_t element_bytes) : random_(random), bytes_(element_bytes) {}
  std::uint64_t bytes(std::uint64_t length) {
    if (random_.in(0, 9) == 0) bytes_ += random_.in(std::uint64_t{0}, std::uint64_t{9});
    return std::exchange(bytes_, bytes_ * std::max<std::uint64_t>(length, 1));
  }
  std::uint64_t runs(std::uint64_t length) {
    if (random_.in(0, 19) == 0) ++runs_;
    return std::exchange(runs_, runs_ * std::max<std::uint64_t>(length, 1));
  }

 private:
  Random& random_;
  std::uint64_t bytes_, runs_ = 1;
};

std::uint64_t random_element(Random& random, std::uint64_t largest) {
  const std::uint64_t usual[] = {1, 2, 4, 8, 16};
  return random.in(0, 2) == 0 ? random.in(std::uint64_t{1}, largest) : usual[random.in(0, 4)];
}

void place(Random& random, Case& c, bool on_source, int linear_bits, bool linear_first) {
  Placer placer(random, c.layout.element_bytes);
  auto& linear = c.layout.linear;
  const auto stride = [on_source](auto& of) -> Stride& { return on_source ? of.source : of.target; };
  const auto low = [&] { return on_source ? linear->source_low : linear->target_low; };
  std::vector<std::size_t> order(c.layout.axes.size() + (linear ? 1 : 0));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, random);
  if (linear && linear_first)
    std::ranges::stable_partition(order, [&](std::size_t i) { return i == c.lengths.size(); });
  const std::size_t in_bytes = random.in(std::size_t{0}, order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] == c.layout.axes.size()) {
      stride(*linear).bytes = placer.bytes(std::uint64_t{1} << low());
    } else if (i < in_bytes || random.in(0, 2) == 0) {
      Axis& axis = c.layout.axes[order[i]];
      stride(axis).bytes = placer.bytes(axis.length);
    }
  }
  for (const std::size_t i : order) {
    if (i == c.layout.axes.size()) {
      stride(*linear).runs = placer.runs(std::uint64_t{1} << (linear_bits - low()));
    } else if (Axis& axis = c.layout.axes[i]; stride(axis).bytes == 0) {
      stride(axis).runs = placer.runs(axis.length);
    }
  }
}

void add_lengths(Random& random, Case& c) {
  for (const Axis& axis : c.layout.axes) {
    const bool whole = random.in(0, 1) == 0;
    c.lengths.push_back(whole ? axis.length
                              : random.in(std::uint64_t{random.in(0, 9) == 0 ? 0U : 1U}, axis.length));
  }
}

TEST(Kernel, LinearGroupsAgreeWithTheDefinition) {
  Random random;
  SEED_TRACE(random);
  std::map<std::string, int> reached;
  for (int i = 0; i < 1500 && !HasFailure(); ++i) {
    Case c;
    c.layout.element_bytes = random_element(random, 40);
    const int bits = random.in(0, c.layout.element_bytes == 1 ? 14 : 12);
    const Map kind = static_cast<Map>(random.in(0, static_cast<int>(Map::count) - 1));
    BitMatrix map = widened(random, random_map(random, kind, bits), random.in(0, 1) * random.in(0, 3));
    LinearAxis linear{map, random.in(0, bits), random.in(0, map.rows()), {}, {}};
    if (random.in(0, 1) == 0) linear.source_low = bits, linear.target_low = map.rows();
    c.layout.linear = linear;
    c.offset = random.in(0, 1) == 0 ? 0 : random() & gf2::low_mask(map.rows());
    place(random, c, true, bits, true);
    place(random, c, false, map.rows(), true);
    ++reached[check(random, c, random.in(0, 1) == 0)];
  }
  EXPECT_GT(reached["linear"], 100);
}

// Elements that are split, copied one by one, or copied as pieces; with offsets within what moves together.
TEST(Kernel, LinearGroupsOfLargeElementsAgreeWithTheDefinition) {
  Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 400 && !HasFailure(); ++i) {
    Case c;
    constexpr std::uint64_t elements[] = {17, 32, 33, 48, 64, 100, 128, 200, 255, 256, 257, 300};
    c.layout.element_bytes = elements[random.in(std::size_t{0}, std::size(elements) - 1)];
    const int bits = random.in(0, 8), fixed = random.in(0, 1) * random.in(0, bits);
    const Map kind = static_cast<Map>(random.in(0, static_cast<int>(Map::count) - 1));
    BitMatrix map = gf2::with_low_bits(random_map(random, kind, bits - fixed), fixed);
    if (fixed == 0) map = widened(random, map, random.in(0, 3));
    c.layout.linear = LinearAxis{map, random.in(0, bits), random.in(0, map.rows()), {}, {}};
    c.offset = random() & gf2::low_mask(map.rows());
    place(random, c, true, bits, true);
    place(random, c, false, map.rows(), true);
    check(random, c, random.in(0, 1) == 0);
  }
}

TEST(Kernel, BoxesAgreeWithTheDefinition) {
  Random random;
  SEED_TRACE(random);
  std::map<std::string, int> reached;
  for (int i = 0; i < test::rounds(1500) && !HasFailure(); ++i) {
    Case c;
    c.layout.element_bytes = random_element(random, 40);
    const int rank = random.in(0, 5);
    const std::uint64_t longest[] = {1, 8000, 150, 24, 10, 6};
    for (int a = 0; a < rank; ++a) {
      c.layout.axes.push_back(
          {.length = random.in(std::uint64_t{1}, longest[rank]), .source = {}, .target = {}});
    }
    add_lengths(random, c);
    place(random, c, true, 0, false);
    place(random, c, false, 0, false);
    ++reached[check(random, c, random.in(0, 1) == 0)];
  }
  EXPECT_GT(reached["transpose"], test::rounds(100));
  EXPECT_GT(reached["picked"], test::rounds(100));
  EXPECT_GT(reached["copy"], test::rounds(100));
}

// Small matrices, and long rows that are interleaved: boxes of many tiles. In some an axis is shorter than the
// layout says, so that the last tile is smaller, or the tiles do not fit.
TEST(Kernel, BoxesOfShortAxesAgreeWithTheDefinition) {
  Random random;
  SEED_TRACE(random);
  std::map<std::string, int> reached;
  for (int i = 0; i < test::rounds(300) && !HasFailure(); ++i) {
    Case c;
    const std::uint64_t w = c.layout.element_bytes = random_element(random, 40);
    const auto rows = random.in(std::uint64_t{2}, std::uint64_t{9});
    const auto columns = random.in(std::uint64_t{1}, std::uint64_t{9});
    const std::uint64_t count = random.in(std::uint64_t{1}, 40'000 / w / columns);
    // Rows lie in runs of their own, behind each other, or as parts of small matrices.
    const int kind = random.in(0, 2);
    const Stride row = kind == 0   ? Stride{1, 0}
                       : kind == 1 ? Stride{0, count * columns * w}
                                   : Stride{0, columns * w};
    const Stride next = kind == 2 ? Stride{0, rows * columns * w} : Stride{0, columns * w};
    c.layout.axes = {
        {count, next, {0, rows * columns * w}}, {rows, row, {0, w}}, {columns, {0, w}, {0, rows * w}}};
    if (random.in(0, 1) == 0) {
      for (Axis& axis : c.layout.axes) std::swap(axis.source, axis.target);
    }
    std::ranges::shuffle(c.layout.axes, random);
    add_lengths(random, c);
    ++reached[check(random, c, random.in(0, 1) == 0)];
  }
  EXPECT_GT(reached["picked"], test::rounds(100));
}

TEST(Kernel, BatchesAndMixedGroupsAgreeWithTheDefinition) {
  Random random;
  SEED_TRACE(random);
  std::map<std::string, int> reached;
  for (int i = 0; i < 1000 && !HasFailure(); ++i) {
    Case c;
    c.layout.element_bytes = random_element(random, 12);
    const int bits = random.in(0, 8);
    for (int a = random.in(1, 3); a > 0; --a) {
      c.layout.axes.push_back(
          {.length = random.in(std::uint64_t{1}, std::uint64_t{7}), .source = {}, .target = {}});
    }
    const Map kind = static_cast<Map>(random.in(0, static_cast<int>(Map::count) - 1));
    const BitMatrix map = widened(random, random_map(random, kind, bits), random.in(0, 1));
    c.layout.linear = LinearAxis{map, random.in(0, bits), random.in(0, map.rows()), {}, {}};
    c.offset = random.in(0, 1) == 0 ? 0 : random() & gf2::low_mask(map.rows());
    add_lengths(random, c);
    const bool batch = random.in(0, 1) == 0;
    place(random, c, true, bits, batch);
    place(random, c, false, map.rows(), batch);
    ++reached[check(random, c, random.in(0, 1) == 0)];
  }
  EXPECT_GT(reached["one by one"], 100);
  EXPECT_GT(reached["linear"], 100);
}

// A short map of small elements, repeated along axes that follow it: some repetitions are performed as one,
// the rest alone.
TEST(Kernel, BatchesOfShortMapsAgreeWithTheDefinition) {
  Random random;
  SEED_TRACE(random);
  std::map<std::string, int> reached;
  for (int i = 0; i < test::rounds(300) && !HasFailure(); ++i) {
    Case c;
    const std::uint64_t w = c.layout.element_bytes = random_element(random, 40);
    const int bits = random.in(1, 7);  // of none, the repetitions alone may be next to each other
    const Map kind = static_cast<Map>(random.in(0, static_cast<int>(Map::count) - 1));
    // Elements may be pieces of an axis, of which an edge has fewer.
    const std::uint64_t piece = random.in(0, 1) == 0 ? 1 : random.in(std::uint64_t{2}, std::uint64_t{9});
    const std::uint64_t count = random.in(std::uint64_t{1}, 1 + (60'000 / (w * piece) >> bits));
    const Stride inner{0, w}, linear{0, w * piece}, repetition{0, (w * piece) << bits}, outer{1, 0};
    c.layout.axes = {{count, repetition, repetition}, {piece, inner, inner}, {2, outer, outer}};
    std::ranges::shuffle(c.layout.axes, random);
    c.layout.linear = LinearAxis{random_map(random, kind, bits), bits, bits, linear, linear};
    c.offset = random.in(0, 1) == 0 ? 0 : random() & gf2::low_mask(bits);
    add_lengths(random, c);
    ++reached[check(random, c, random.in(0, 1) == 0)];
  }
  EXPECT_EQ(reached["linear"], test::rounds(300));
}

// The first group of the file tile that kernel.hpp's users make: 2^6 runs of the source, 512 bytes into each
// run of the target.
TEST(Kernel, AGroupOfAFileTile) {
  Random random;
  SEED_TRACE(random);
  for (const std::uint64_t element : {1, 2, 4, 8, 16}) {
    for (const Map kind : {Map::bit_reversal, Map::random, Map::bit_permutation, Map::inverse_gray}) {
      const int rows = 18, bits = 16;
      const BitMatrix whole = random_map(random, kind, rows);
      Case c;
      c.layout.element_bytes = element;
      const BitMatrix map(rows, {whole.columns().begin(), whole.columns().begin() + bits});
      c.layout.linear = LinearAxis{map, 10, 11, {1, element}, {1, element}};
      c.offset = random() & gf2::low_mask(rows);
      EXPECT_EQ(check(random, c, true), "linear");
    }
  }
}

// The vector code exists once for each kind of processor.
TEST(Kernel, EveryKindOfProcessorGivesTheSame) {
  Random random;
  SEED_TRACE(random);
  const auto use = [](std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  };
  for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    use(left & -left);
    SCOPED_TRACE(hwy::TargetName(left & -left));
    for (const std::uint64_t element : {1, 2, 4, 8, 16}) {
      for (const Map kind : {Map::bit_reversal, Map::random, Map::identity}) {
        Case c;
        c.layout.element_bytes = element;
        c.layout.linear = LinearAxis{random_map(random, kind, 14), 14, 14, {1, element}, {1, element}};
        c.offset = random() & gf2::low_mask(14);
        EXPECT_EQ(check(random, c, true), "linear");
      }
    }
  }
  use(0);
}

TEST(Kernel, DegenerateGroups) {
  Random random;
  for (const std::uint64_t element : {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{300'000}}) {
    Case one;
    one.layout.element_bytes = element;
    check(random, one, false);
    one.layout.linear = LinearAxis{BitMatrix::identity(0), 0, 0, {1, element}, {1, element}};
    check(random, one, false);
    one.layout.linear = LinearAxis{BitMatrix::identity(3), 3, 3, {1, element}, {1, element}};
    for (one.offset = 0; one.offset < 8; ++one.offset) check(random, one, false);
    Case empty;
    empty.layout.element_bytes = element;
    empty.layout.axes = {{5, {1, 0}, {0, element}}, {4, {0, element}, {1, 0}}};
    empty.lengths = {0, 4};
    check(random, empty, false);
    empty.lengths = {5, 0};
    check(random, empty, false);
  }
}

}  // namespace
}  // namespace xorder::kernel
