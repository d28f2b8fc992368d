// The kernel layer in memory: bytes per second that one core permutes, compared with those it copies.
//
// Each permutation is that of a file tile: groups of 4 MiB, read from runs of 64 KiB and written into all
// runs of a target of 256 MiB. As in a real run, the source may be in the cache, but the target never is. A
// cycle through the tile's groups makes one full permutation. Rates are bytes of payload per second of one
// core; the first line is memcpy of the same groups, in order. The machine's noise is larger than most
// differences: compare within one run, with --benchmark_repetitions and medians.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "kernel/kernel.hpp"
#include "measured.hpp"

namespace {

using xorder::gf2::BitMatrix;
using xorder::gf2::Word;
using namespace xorder::kernel;

constexpr int tile_bits = 28;
constexpr int group_bits = 22;
constexpr std::uint64_t segment_bytes = 512;  // of each target run in a group

constexpr std::size_t buffer_bytes = (std::size_t{1} << tile_bits) + (std::size_t{1} << 21);

// Buffers on huge pages, like the tile buffers.
xorder::bench::Array& source() {
  static xorder::bench::Array b(buffer_bytes);
  return b;
}
xorder::bench::Array& target() {
  static xorder::bench::Array b(buffer_bytes);
  return b;
}

void copy(benchmark::State& state) {
  constexpr std::size_t bytes = std::size_t{1} << group_bits;
  std::size_t at = 0;
  std::byte* const from = source().data();
  std::byte* const to = target().data();
  for (auto _ : state) {
    std::memcpy(to + at, from + at, bytes);
    at = (at + bytes) % (std::size_t{1} << tile_bits);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes));
}

int lg(std::uint64_t x) { return static_cast<int>(std::bit_width(x - 1)); }  // rounded up

BitMatrix random_matrix(int n) {
  std::mt19937_64 random(7);
  for (;;) {
    std::vector<Word> columns;
    for (int i = 0; i < n; ++i) columns.push_back(random() & xorder::gf2::low_mask(n));
    BitMatrix a(n, columns);
    if (a.rank() == n) return a;
  }
}

enum Kind { transpose, reversal, random_map, gray, rotate1, morton, reverse };

BitMatrix matrix(Kind kind, int n) {
  std::vector<int> to(static_cast<std::size_t>(n));
  std::iota(to.begin(), to.end(), 0);
  switch (kind) {
    case transpose:
      std::ranges::rotate(to, to.begin() + n / 2);
      break;
    case reversal:
      std::ranges::reverse(to);
      break;
    case rotate1:
      std::ranges::rotate(to, to.begin() + 1);
      break;
    case morton:
      for (int i = 0; i < n; ++i)
        to[static_cast<std::size_t>(i)] = i < (n + 1) / 2 ? 2 * i : 2 * (i - (n + 1) / 2) + 1;
      break;
    case gray: {
      std::vector<Word> columns = BitMatrix::identity(n).columns();
      for (int i = 1; i < n; ++i) columns[static_cast<std::size_t>(i)] |= xorder::gf2::unit(i - 1);
      return BitMatrix(n, columns);
    }
    case random_map:
      return random_matrix(n);
    case reverse:
      break;
  }
  return BitMatrix::bit_permutation(to);
}

// The tile of an n-bit map as the plan cuts it: a group is E_source + A⁻¹E_target, extended to its size.
// Its coordinates are given by a basis; source runs are sums of the unit vectors of a line.
void linear(benchmark::State& state, Kind kind, std::uint64_t element) {
  const int n = tile_bits - lg(element);
  const int k = group_bits - lg(element);
  const int low = lg(segment_bytes / element);
  const BitMatrix a = matrix(kind, n);
  const BitMatrix back = *a.inverse();
  // Local coordinates: bits of a basis of the whole tile, the first `run` of which are the unit vectors.
  const int run = k - low;
  std::vector<Word> basis;
  BitMatrix span(n, {});
  const auto add = [&](Word v) {
    std::vector<Word> more = basis;
    more.push_back(v);
    if (BitMatrix(n, more).rank() == static_cast<int>(more.size())) basis = more;
  };
  for (int i = 0; i < run; ++i) add(xorder::gf2::unit(i));
  for (int i = 0; i < low; ++i) add(back.column(i));
  for (int i = 0; static_cast<int>(basis.size()) < n; ++i) add(xorder::gf2::unit(i));
  std::vector<Word> columns;
  for (int i = 0; i < k; ++i) columns.push_back(a(basis[static_cast<std::size_t>(i)]));
  const std::uint64_t pad = state.range(0) != 0 ? 4096 : 0;
  const std::uint64_t run_bytes = element << run;
  std::vector<const std::byte*> sources;
  for (std::uint64_t at = 0; at < std::uint64_t{1} << tile_bits; at += run_bytes) {
    const std::uint64_t in_group = (at / run_bytes) % (std::uint64_t{1} << (k - run));
    sources.push_back(source().data() + at + in_group * pad);
  }
  std::vector<std::byte*> targets;
  const int target_low = 12;
  for (Word z = 0; z < Word{1} << n; z += Word{1} << target_low)
    targets.push_back(target().data() + z * element);
  const Kernel kernel(
      {element, {}, LinearAxis{BitMatrix(n, columns), run, target_low, {1, element}, {1, element}}});
  const std::size_t groups = std::size_t{1} << (n - k);
  std::size_t g = 0;
  const Word flip = kind == reverse ? xorder::gf2::low_mask(n) : 0;
  for (auto _ : state) {
    Word x = 0;
    for (int i = 0; i < n - k; ++i) x ^= ((g >> i) & 1) != 0 ? basis[static_cast<std::size_t>(k + i)] : 0;
    kernel(sources.data() + (g << (k - run)), targets.data(), {}, a(x) ^ flip);
    g = (g + 1) % groups;
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * (element << k)));
  state.SetLabel(kernel.strategy());
}

// rows × columns of a matrix whose target rows are `pitch` elements apart; `skew` bytes of misalignment
// everywhere.
void box(benchmark::State& state, std::uint64_t element) {
  const std::uint64_t rows = segment_bytes / element;
  const std::uint64_t columns = (std::uint64_t{1} << group_bits) / segment_bytes;
  const bool odd = state.range(0) == 2;
  const std::uint64_t target_pitch = (std::uint64_t{1} << tile_bits) / columns - (odd ? 24 * element : 0);
  const std::uint64_t pad = state.range(0) == 1 ? 4096 : odd ? 8 : 0;
  const std::uint64_t groups = (std::uint64_t{1} << (tile_bits - group_bits)) - 2;
  std::vector<const std::byte*> sources;
  for (std::uint64_t r = 0; r < rows * groups; ++r)
    sources.push_back(source().data() + r * columns * element + r % rows * pad);
  std::vector<std::byte*> targets;
  for (std::uint64_t r = 0; r < columns; ++r) targets.push_back(target().data() + r * target_pitch);
  const Kernel kernel({element, {{rows, {1, 0}, {0, element}}, {columns, {0, element}, {1, 0}}}, {}});
  const std::uint64_t lengths[] = {rows, columns};
  std::vector<std::byte*> shifted(targets.size());
  std::uint64_t g = 0;
  for (auto _ : state) {
    for (std::size_t i = 0; i < targets.size(); ++i) shifted[i] = targets[i] + g * rows * element;
    kernel(sources.data() + g * rows, shifted.data(), lengths, 0);
    g = (g + 1) % groups;
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * rows * columns * element));
  state.SetLabel(kernel.strategy());
}

// A group of short axes: kind 0 interleaves `length` rows; kind 1 transposes matrices of length × length; kind 2
// permutes the bits of `length` elements in each of many rows; kind 3 transposes rows that go along three axes.
void short_axes(benchmark::State& state, int kind, std::uint64_t length, std::uint64_t element) {
  const std::uint64_t group = std::uint64_t{1} << group_bits;
  const std::uint64_t w = element, count = group / w / length / (kind == 1 || kind == 3 ? length : 1);
  Layout layout{w, {}, {}};
  std::vector<std::uint64_t> lengths;
  std::uint64_t source_runs = 1, target_runs = 1;
  if (kind == 0) {
    layout.axes = {{length, {1, 0}, {0, w}}, {count, {0, w}, {0, length * w}}};
    source_runs = length;
  } else if (kind == 1) {
    layout.axes = {{count, {0, length * length * w}, {0, length * length * w}},
                   {length, {0, length * w}, {0, w}},
                   {length, {0, w}, {0, length * w}}};
  } else if (kind == 2) {
    const int bits = lg(length);
    layout.axes = {{count, {0, length * w}, {0, length * w}}};
    layout.linear = LinearAxis{matrix(reversal, bits), bits, bits, {0, w}, {0, w}};
  } else {  // [length][count/64][length] rows of 64 columns to 64 runs of the same three axes, reversed
    const std::uint64_t columns = 64, rows = count / columns;
    layout.axes = {{length, {1, 0}, {0, rows * length * w}},
                   {rows, {0, length * columns * w}, {0, length * w}},
                   {length, {0, columns * w}, {0, w}},
                   {columns, {0, w}, {1, 0}}};
    source_runs = length;
    target_runs = columns;
  }
  for (const Axis& axis : layout.axes) lengths.push_back(axis.length);
  const std::uint64_t groups = (std::uint64_t{1} << (tile_bits - group_bits)) - 1;
  std::vector<std::vector<const std::byte*>> sources(groups);
  std::vector<std::vector<std::byte*>> targets(groups);
  for (std::uint64_t g = 0; g < groups; ++g) {
    for (std::uint64_t r = 0; r < source_runs; ++r)
      sources[g].push_back(source().data() + g * group + r * (group / source_runs + 512));
    for (std::uint64_t r = 0; r < target_runs; ++r)
      targets[g].push_back(target().data() + g * group + r * (group / target_runs));
  }
  const Kernel kernel(layout);
  std::uint64_t g = 0, bytes = w << (layout.linear ? layout.linear->map.cols() : 0);
  for (const std::uint64_t n : lengths) bytes *= n;
  for (auto _ : state) {
    kernel(sources[g].data(), targets[g].data(), lengths, 0);
    g = (g + 1) % groups;
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes));
  state.SetLabel(kernel.strategy());
}

void with_arguments(benchmark::internal::Benchmark* b) { b->Arg(0)->Arg(1); }

BENCHMARK(copy);
#define LINEAR(kind)                                                     \
  BENCHMARK_CAPTURE(linear, kind##_1, kind, 1)->Apply(with_arguments);   \
  BENCHMARK_CAPTURE(linear, kind##_2, kind, 2)->Apply(with_arguments);   \
  BENCHMARK_CAPTURE(linear, kind##_3, kind, 3)->Apply(with_arguments);   \
  BENCHMARK_CAPTURE(linear, kind##_4, kind, 4)->Apply(with_arguments);   \
  BENCHMARK_CAPTURE(linear, kind##_8, kind, 8)->Apply(with_arguments);   \
  BENCHMARK_CAPTURE(linear, kind##_12, kind, 12)->Apply(with_arguments); \
  BENCHMARK_CAPTURE(linear, kind##_16, kind, 16)->Apply(with_arguments)
LINEAR(transpose);
LINEAR(reversal);
LINEAR(random_map);
LINEAR(gray);
LINEAR(rotate1);
LINEAR(morton);
LINEAR(reverse);
BENCHMARK_CAPTURE(box, 1, 1)->Arg(0)->Arg(1)->Arg(2);
BENCHMARK_CAPTURE(box, 2, 2)->Arg(0)->Arg(1)->Arg(2);
BENCHMARK_CAPTURE(box, 3, 3)->Arg(0)->Arg(1)->Arg(2);
BENCHMARK_CAPTURE(box, 4, 4)->Arg(0)->Arg(1)->Arg(2);
BENCHMARK_CAPTURE(box, 6, 6)->Arg(0)->Arg(1)->Arg(2);
BENCHMARK_CAPTURE(box, 8, 8)->Arg(0)->Arg(1)->Arg(2);
BENCHMARK_CAPTURE(box, 12, 12)->Arg(0)->Arg(1)->Arg(2);
BENCHMARK_CAPTURE(box, 16, 16)->Arg(0)->Arg(1)->Arg(2);
#define SHORT(name, kind, length)                           \
  BENCHMARK_CAPTURE(short_axes, name##_1, kind, length, 1); \
  BENCHMARK_CAPTURE(short_axes, name##_3, kind, length, 3); \
  BENCHMARK_CAPTURE(short_axes, name##_4, kind, length, 4); \
  BENCHMARK_CAPTURE(short_axes, name##_8, kind, length, 8)
SHORT(two_rows, 0, 2);
SHORT(seven_rows, 0, 7);
SHORT(matrices_4x4, 1, 4);
SHORT(matrices_13x13, 1, 13);
SHORT(maps_of_4, 2, 4);
SHORT(maps_of_32, 2, 32);
SHORT(rows_of_three_axes, 3, 5);

}  // namespace

BENCHMARK_MAIN();
