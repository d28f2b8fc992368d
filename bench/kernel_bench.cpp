// The kernel layer in memory: bytes per second that one core permutes, compared with those it copies.
//
// Each permutation is that of a file tile: groups of 4 MiB, read from runs of 64 KiB and written into all
// runs of a target of 256 MiB. As in a real run, the source may be in the cache, but the target never is. A
// cycle through the tile's groups makes one full permutation. The first figure is memcpy of the same groups, in
// order.
//
//   build/bench/bench/kernel_bench [--rounds N] [--only TEXT] [--json FILE] [--html FILE]
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "bench/bench.hpp"
#include "io/memory.hpp"
#include "kernel/gather.hpp"
#include "kernel/kernel.hpp"

namespace {

using xorder::gf2::BitMatrix;
using xorder::gf2::Word;
using namespace xorder::kernel;

constexpr int tile_bits = 28;
constexpr int group_bits = 22;
constexpr std::uint64_t segment_bytes = 512;  // of each target run in a group

constexpr std::size_t buffer_bytes = (std::size_t{1} << tile_bits) + (std::size_t{1} << 21);

// On huge pages, like the tile buffers. Both are touched, so that no page is the zero page.
std::byte* buffer(int number) {
  static const xorder::io::BlockMemory buffers[] = {xorder::io::BlockMemory(buffer_bytes),
                                                    xorder::io::BlockMemory(buffer_bytes)};
  static const bool touched = [] {
    for (const auto& each : buffers) std::memset(each.data(), 1, buffer_bytes);
    return true;
  }();
  static_cast<void>(touched);
  return buffers[number].data();
}
std::byte* source() { return buffer(0); }
std::byte* target() { return buffer(1); }

// A kernel with its groups: each call permutes the next one, which has so many bytes.
struct Groups {
  std::function<void()> next;
  std::uint64_t bytes;
  std::string strategy{};
};

Groups copied() {
  constexpr std::size_t bytes = std::size_t{1} << group_bits;
  return {[at = std::size_t{0}]() mutable {
            std::memcpy(target() + at, source() + at, bytes);
            at = (at + bytes) % (std::size_t{1} << tile_bits);
          },
          bytes};
}

// Runs of 64 KiB of a source with gaps or in another byte order, as they are unpacked before a kernel reads them.
Groups unpacked(std::uint64_t element, bool reversed) {
  constexpr std::uint64_t run = 64 * 1024, all = std::uint64_t{1} << tile_bits;
  const std::uint64_t count = run / element;
  const auto width = static_cast<std::int64_t>(element);
  return {[=, at = std::uint64_t{0}]() mutable {
            const std::byte* const from = source() + at;
            if (reversed) {
              gather(from + (count - 1) * element, -width, target() + at, width, count, element);
            } else {
              gather(from, width, target() + at, width, count, element);
              swap_numbers(target() + at, count, element);
            }
            at = (at + run) % all;
          },
          count * element};
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
Groups linear(Kind kind, std::uint64_t element, bool padded) {
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
  const std::uint64_t pad = padded ? 4096 : 0;
  const std::uint64_t run_bytes = element << run;
  std::vector<const std::byte*> sources;
  for (std::uint64_t at = 0; at < std::uint64_t{1} << tile_bits; at += run_bytes) {
    const std::uint64_t in_group = (at / run_bytes) % (std::uint64_t{1} << (k - run));
    sources.push_back(source() + at + in_group * pad);
  }
  std::vector<std::byte*> targets;
  const int target_low = 12;
  for (Word z = 0; z < Word{1} << n; z += Word{1} << target_low) targets.push_back(target() + z * element);
  const auto kernel = std::make_shared<const Kernel>(
      Layout{element, {}, LinearAxis{BitMatrix(n, columns), run, target_low, {1, element}, {1, element}}});
  const Word flip = kind == reverse ? xorder::gf2::low_mask(n) : 0;
  return {[=, g = std::size_t{0}]() mutable {
            Word x = 0;
            for (int i = 0; i < n - k; ++i)
              x ^= ((g >> i) & 1) != 0 ? basis[static_cast<std::size_t>(k + i)] : 0;
            (*kernel)(sources.data() + (g << (k - run)), targets.data(), {}, a(x) ^ flip);
            g = (g + 1) % (std::size_t{1} << (n - k));
          },
          element << k, kernel->strategy()};
}

// rows × columns of a matrix; odd ones have target rows that are no power of two apart, and are misaligned.
Groups box(std::uint64_t element, bool padded, bool odd) {
  const std::uint64_t rows = segment_bytes / element;
  const std::uint64_t columns = (std::uint64_t{1} << group_bits) / segment_bytes;
  const std::uint64_t target_pitch = (std::uint64_t{1} << tile_bits) / columns - (odd ? 24 * element : 0);
  const std::uint64_t pad = padded ? 4096 : odd ? 8 : 0;
  const std::uint64_t groups = (std::uint64_t{1} << (tile_bits - group_bits)) - 2;
  std::vector<const std::byte*> sources;
  for (std::uint64_t r = 0; r < rows * groups; ++r)
    sources.push_back(source() + r * columns * element + r % rows * pad);
  std::vector<std::byte*> targets;
  for (std::uint64_t r = 0; r < columns; ++r) targets.push_back(target() + r * target_pitch);
  const auto kernel = std::make_shared<const Kernel>(
      Layout{element, {{rows, {1, 0}, {0, element}}, {columns, {0, element}, {1, 0}}}, {}});
  return {[=, g = std::uint64_t{0}, shifted = targets]() mutable {
            const std::uint64_t lengths[] = {rows, columns};
            for (std::size_t i = 0; i < targets.size(); ++i) shifted[i] = targets[i] + g * rows * element;
            (*kernel)(sources.data() + g * rows, shifted.data(), lengths, 0);
            g = (g + 1) % groups;
          },
          rows * columns * element, kernel->strategy()};
}

// A group of short axes: kind 0 interleaves `length` rows; kind 1 transposes matrices of length × length; kind 2
// permutes the bits of `length` elements in each of many rows; kind 3 transposes rows that go along three axes.
Groups short_axes(int kind, std::uint64_t length, std::uint64_t element) {
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
      sources[g].push_back(source() + g * group + r * (group / source_runs + 512));
    for (std::uint64_t r = 0; r < target_runs; ++r)
      targets[g].push_back(target() + g * group + r * (group / target_runs));
  }
  const auto kernel = std::make_shared<const Kernel>(layout);
  std::uint64_t bytes = w << (layout.linear ? layout.linear->map.cols() : 0);
  for (const std::uint64_t n : lengths) bytes *= n;
  return {[=, g = std::uint64_t{0}]() mutable {
            (*kernel)(sources[g].data(), targets[g].data(), lengths, 0);
            g = (g + 1) % groups;
          },
          bytes, kernel->strategy()};
}

// Bytes per second, over many groups.
double speed(const Groups& groups) {
  constexpr double least = 0.05;
  const auto begin = std::chrono::steady_clock::now();
  double seconds = 0, bytes = 0;
  while (seconds < least) {
    groups.next();
    bytes += static_cast<double>(groups.bytes);
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  return bytes / seconds;
}

using namespace xorder;

class Kernels final : public cli::Benchmark {
 public:
  explicit Kernels(const std::string& only) : only_(only) {}

  std::vector<cli::Case> cases(cli::Results& results) override {
    begin(results, "copy", "memcpy of groups in order");
    add(results, "memcpy", "", copied);
    const std::pair<const char*, Kind> kinds[] = {
        {"transpose", transpose}, {"reversal", reversal}, {"random_map", random_map}, {"gray", gray},
        {"rotate1", rotate1},     {"morton", morton},     {"reverse", reverse}};
    for (const bool padded : {false, true}) {
      begin(results, padded ? "linear-padded" : "linear",
            padded ? "Maps, source runs a page more than a power of two apart" : "Maps");
      for (const auto& [name, kind] : kinds) {
        for (const std::uint64_t w : {1, 2, 3, 4, 8, 12, 16})
          add(results, name, size(w), [=, kind = kind] { return linear(kind, w, padded); });
      }
    }
    begin(results, "box", "Transpositions");
    for (const int shape : {0, 1, 2}) {
      for (const std::uint64_t w : {1, 2, 3, 4, 6, 8, 12, 16})
        add(results,
            shape == 0   ? "runs a power of two apart"
            : shape == 1 ? "a page more"
                         : "odd",
            size(w), [=] { return box(w, shape == 1, shape == 2); });
    }
    begin(results, "short", "Short axes");
    const std::tuple<const char*, int, std::uint64_t> shorts[] = {
        {"two_rows", 0, 2},  {"seven_rows", 0, 7},  {"matrices_4x4", 1, 4},      {"matrices_13x13", 1, 13},
        {"maps_of_4", 2, 4}, {"maps_of_32", 2, 32}, {"rows_of_three_axes", 3, 5}};
    for (const auto& [name, kind, length] : shorts) {
      for (const std::uint64_t w : {1, 3, 4, 8})
        add(results, name, size(w),
            [=, kind = kind, length = length] { return short_axes(kind, length, w); });
    }
    begin(results, "unpacked", "Runs as they are unpacked");
    for (const std::uint64_t w : {1, 2, 3, 4, 5, 8, 12, 16})
      add(results, "reversed", size(w), [=] { return unpacked(w, true); });
    for (const std::uint64_t w : {2, 4, 8, 16})
      add(results, "bytes_swapped", size(w), [=] { return unpacked(w, false); });
    results.tables.push_back(std::move(strategies_));
    return std::move(cases_);
  }

 private:
  static std::string size(std::uint64_t element) { return fmt::format("{} B", element); }

  void begin(cli::Results& results, const char* id, const std::string& what) {
    results.figures.push_back({id,
                               what + ", by the size of an element: bytes per second of one processor.",
                               {},
                               {"payload", drawing::Unit::bytes_per_second}});
  }
  void add(cli::Results& results, const std::string& row, const std::string& series,
           const std::function<Groups()>& make) {
    auto& rows = results.figures.back().rows;
    const std::string name = fmt::format("{} {}", row, series);
    if (name.find(only_) == std::string::npos) return;
    if (rows.empty() || rows.back() != row) rows.push_back(row);
    const auto groups = std::make_shared<const Groups>(make());
    strategies_.rows.push_back({name, groups->strategy});
    cases_.push_back({name, [groups] { return speed(*groups); }, results.figures.size() - 1, series,
                      static_cast<double>(rows.size() - 1)});
  }

  std::string only_;
  std::vector<cli::Case> cases_;
  cli::PlainTable strategies_{"How", {"", "strategy"}, {}};
};

}  // namespace

int main(int argc, char** argv) {
  const auto only = std::make_shared<std::string>();
  return cli::benchmark_program(
      argc, argv,
      {.name = "kernel_bench",
       .summary = "",
       .description = "The kernels of file tiles, in memory, on one processor.",
       .footer = "",
       .add_options =
           [only](CLI::App& app) { app.add_option("--only", *only, "rows whose name contains this"); },
       .make = [only](const cli::Extent&) { return std::make_unique<Kernels>(*only); }});
}
