// Reordering arrays in memory, compared with copying them.
//
//   build/bench/bench/memory_bench [--bytes N[,N...]] [--threads N[,N...]] [--rounds N] [--only TEXT] [--cpu]
//                                  [--in-place] [--offset N] [--json]
//
// For each row it measures three things in turn, in one process: a parallel memcpy (each thread copies its
// share with one call), a copy with streaming stores, and the reordering with a plan made beforehand. It does
// so round after round, so that all see the same machine. --cpu takes the processor time of all threads
// instead of elapsed time. It prints GB/s of payload, and the ratios of the reordering to memcpy and to the
// faster copy of the same round: their medians, smallest and largest values. Arrays lie on huge pages.
// --in-place reorders one array again and again, and adds square matrices and batches. --only many, or
// many-8x8, measures many small matrices. With --offset N both arrays begin N bytes after the beginning of a
// page. (Large arrays of malloc begin 16 bytes after.)
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "bench/memory_families.hpp"
#include "measured.hpp"
#include "xorder/memory/permute.hpp"
#include "xorder/permutation/bmmc.hpp"

namespace {

using namespace xorder;
using bench::Array;
using bench::Bytes;

struct Row {
  std::string name;
  Reordering what;
};

// Square matrices, one large one or many small ones.
std::vector<Row> squares_for(Bytes bytes) {
  std::vector<Row> rows;
  for (const std::uint64_t w : {1, 2, 3, 4, 8, 12, 16, 100}) {
    const auto side = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(bytes / w)));
    const std::uint64_t odd = (side * 63 / 64) | 1;
    rows.push_back({fmt::format("square {}", w),
                    transposition({{std::bit_floor(side), std::bit_floor(side)}, w, Order::c}, {})});
    rows.push_back({fmt::format("square-odd {}", w), transposition({{odd, odd}, w, Order::c}, {})});
    for (const std::uint64_t small : {2, 3, 8, 13, 32}) {
      const std::uint64_t count = std::max<Bytes>(1, bytes / (small * small * w));
      rows.push_back({fmt::format("small-{} {}", small, w),
                      transposition({{count, small, small}, w, Order::c}, std::vector<int>{0, 2, 1})});
    }
  }
  return rows;
}

// Batches of other matrices, the pixels of images among them, and of maps.
std::vector<Row> batches_for(Bytes bytes) {
  std::vector<Row> rows;
  for (const std::uint64_t w : {1, 3, 4, 16}) {
    const auto add = [&](const char* name, std::uint64_t height, std::uint64_t width) {
      const std::uint64_t count = std::max<Bytes>(1, bytes / (height * width * w));
      rows.push_back({fmt::format("batch-{} {}", name, w),
                      transposition({{count, height, width}, w, Order::c}, std::vector<int>{0, 2, 1})});
    };
    add("50x60", 50, 60);
    add("pixels", 224 * 224, 3);
    add("500x700", 500, 700);
  }
  for (const std::uint64_t w : {1, 8}) {
    for (const int n : {9, 12, 15, 18}) {
      const ArrayShape shape{{std::max<Bytes>(1, bytes / w >> n), std::uint64_t{1} << n}, w, Order::c};
      rows.push_back(
          {fmt::format("batch-bitreverse-{} {}", n, w), mapping_along(shape, 1, bmmc::bit_reverse(n))});
      rows.push_back({fmt::format("batch-shuffle-{} {}", n, w), mapping_along(shape, 1, bmmc::shuffle(n))});
    }
  }
  return rows;
}

// Many matrices of up to 8 KiB, whose extents are powers of two.
std::vector<Row> small_matrices_for(Bytes bytes) {
  std::vector<Row> rows;
  for (const std::uint64_t w : {1, 2, 4, 8, 16}) {
    for (std::uint64_t height = 2; height <= 256; height *= 2) {
      for (std::uint64_t width = 2; height * width * w <= 8192 && width <= 256; width *= 2) {
        rows.push_back(
            {fmt::format("many-{}x{} {}", height, width, w),
             transposition({{std::max<Bytes>(1, bytes / (height * width * w)), height, width}, w, Order::c},
                           std::vector<int>{0, 2, 1})});
      }
    }
  }
  return rows;
}

// All families, each with elements of several sizes, and two whose last axis is fixed.
std::vector<Row> rows_for(Bytes bytes, bool in_place) {
  std::vector<Row> rows = in_place ? squares_for(bytes) : std::vector<Row>();
  if (in_place) std::ranges::move(batches_for(bytes), std::back_inserter(rows));
  for (const std::uint64_t w : {1, 2, 4, 8, 16}) {
    for (const cli::MemoryFamily& family : cli::memory_families(bytes, w))
      rows.push_back({fmt::format("{} {}", family.key, w), family.what});
  }
  for (const std::uint64_t w : {3, 12, 24, 100}) {
    for (const cli::MemoryFamily& family : cli::memory_families(bytes, w)) {
      if (family.key == "odd" || family.key == "bitreverse" || family.key == "gray" ||
          family.key == "random" || family.key == "Nx3")
        rows.push_back({fmt::format("{}-record {}", family.key, w), family.what});
    }
  }
  for (const std::uint64_t last : {512, 65}) {
    const std::uint64_t first = std::max<Bytes>(1, bytes / (8 * last) / 64);
    rows.push_back({fmt::format("lastfixed {}", 8 * last),
                    transposition({{first, 64, last}, 8, Order::c}, std::vector<int>{1, 0, 2})});
  }
  return rows;
}

struct Ratio {
  double median, low, high;
};
Ratio ratio_of(std::vector<double> values) {
  std::ranges::sort(values);
  return {values[values.size() / 2], values.front(), values.back()};
}

void measure(const Row& row, unsigned threads, const bench::Options& options) {
  const Bytes bytes = row.what.bytes();
  const Array source(bytes, options.offset), target(bytes, options.offset);
  const memory::InMemoryPlan plan(row.what);
  const auto seconds = [&](const auto& f) {
    return bench::seconds(f, bench::calls_for(bytes), options.processor_time);
  };
  const auto copy = [&](bool streamed) {
    return seconds([&] {
      bench::copy_in_parallel(memory::copy_function(streamed), target.data(), source.data(), bytes, threads);
    });
  };
  std::vector<double> to_memcpy, to_copy, speed, copy_speed;
  double best_copy = 0, best_permuted = 0;  // GB/s
  for (int i = 0; i < options.rounds; ++i) {
    const double plain = copy(false), streamed = copy(true);
    const double permuted = seconds([&] {
      if (options.in_place)
        plan.execute_in_place(source.data(), threads);
      else
        plan.execute(source.data(), target.data(), threads);
    });
    to_memcpy.push_back(plain / permuted);
    to_copy.push_back(std::min(plain, streamed) / permuted);
    speed.push_back(static_cast<double>(bytes) / permuted / 1e9);
    copy_speed.push_back(static_cast<double>(bytes) / plain / 1e9);
  }
  best_copy = *std::ranges::max_element(copy_speed);
  best_permuted = *std::ranges::max_element(speed);
  const double plan_time =
      bench::seconds([&] { const memory::InMemoryPlan again(row.what); }, 20, options.processor_time);
  const Ratio m = ratio_of(to_memcpy), c = ratio_of(to_copy), s = ratio_of(speed), p = ratio_of(copy_speed);
  if (options.json) {
    fmt::print(
        R"({{"row": "{}", "bytes": {}, "threads": {}, "gb_per_s": {:.3f}, "memcpy_gb_per_s": {:.3f}, "best": [{:.3f}, {:.3f}], )"
        R"("to_memcpy": [{:.3f}, {:.3f}, {:.3f}], "to_faster_copy": [{:.3f}, {:.3f}, {:.3f}], "plan_us": {:.2f}}})"
        "\n",
        row.name, bytes, threads, s.median, p.median, best_permuted, best_copy, m.median, m.low, m.high,
        c.median, c.low, c.high, plan_time * 1e6);
  } else {
    fmt::print(
        "{:22} {:7} KiB x{}  best {:6.2f} of {:6.2f} GB/s = {:.2f}  median ratio {:.2f} ({:.2f}-{:.2f}), of "
        "the faster copy {:.2f}  "
        "plan {:.1f} us  {}\n",
        row.name, bytes >> 10, threads, best_permuted, best_copy, best_permuted / best_copy, m.median, m.low,
        m.high, c.median, plan_time * 1e6, options.in_place ? plan.describe_in_place() : plan.describe());
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  bench::Options options = {.sizes = {Bytes{512} << 20}};
  if (!options.parse(argc, argv)) return bench::refuse();
  for (const Bytes bytes : options.sizes) {
    const bool small = options.only.starts_with("many");
    for (const Row& row : small ? small_matrices_for(bytes) : rows_for(bytes, options.in_place)) {
      if (row.name.find(options.only) == std::string::npos) continue;
      for (const Bytes t : options.threads) measure(row, static_cast<unsigned>(t), options);
    }
  }
}
