// Reordering arrays in memory, beside copying them.
//
//   build/bench/bench/memory_bench [--bytes N[,N...]] [--threads N[,N...]] [--rounds N] [--only TEXT] [--cpu] [--json]
//
// Of each row it measures, in turn and in one process, a parallel memcpy (each thread copies its share with one call), a copy
// by streaming stores, and the reordering with a plan made before; one round after the other, so that all see the same machine. --cpu takes
// the processor time of all threads instead of the time that passes.
// Printed are GB/s of payload and the medians, over the rounds, of the ratios to memcpy and to the faster of the two copies of
// the same round, with their smallest and largest values. Arrays lie on huge pages.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "memory/micro.hpp"
#include "xorder/memory/permute.hpp"
#include "xorder/permutation/bmmc.hpp"

namespace {

using namespace xorder;
using Bytes = std::uint64_t;

class Array {
 public:
  explicit Array(Bytes bytes) : data_(std::aligned_alloc(huge, (bytes + huge - 1) / huge * huge)) {
    if (data_ == nullptr) throw std::bad_alloc();
    if (std::getenv("XORDER_BENCH_SMALL_PAGES") == nullptr) madvise(data_, bytes, MADV_HUGEPAGE);
    std::memset(data_, 1, bytes);
  }
  ~Array() { std::free(data_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  static constexpr std::size_t huge = std::size_t{1} << 21;
  void* data_;
};

struct Row {
  std::string name;
  Reordering what;
};

std::vector<int> axes_of(std::string_view digits) {
  std::vector<int> axes;
  for (const char c : digits) axes.push_back(c - '0');
  return axes;
}

gf2::AffineMap random_map(int n) {
  std::mt19937_64 random(7);
  for (;;) {
    std::vector<gf2::Word> columns;
    for (int i = 0; i < n; ++i) columns.push_back(random() & gf2::low_mask(n));
    gf2::BitMatrix a(n, columns);
    if (a.rank() == n) return {a, random() & gf2::low_mask(n)};
  }
}

std::uint64_t root(double x, int k) {
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::pow(x, 1.0 / k) + 1e-6));
}

// The families, for arrays of about so many bytes.
std::vector<Row> rows_for(Bytes bytes) {
  std::vector<Row> rows;
  const auto matrix = [](std::uint64_t r, std::uint64_t c, std::uint64_t w) {
    return transposition({{r, c}, w, Order::c}, {});
  };
  for (const std::uint64_t w : {1, 2, 4, 8, 16}) {
    const std::uint64_t n = bytes / w;
    const int bits = static_cast<int>(std::bit_width(n)) - 1;
    const auto add = [&](const std::string& name, const Reordering& what) {
      rows.push_back({fmt::format("{} {}", name, w), what});
    };
    const auto map = [&](const std::string& name, const gf2::AffineMap& m) {
      add(name, mapping_of_all({{std::uint64_t{1} << bits}, w, Order::c}, m));
    };
    const std::uint64_t side = std::uint64_t{1} << (bits / 2);
    add("transpose", matrix(side, n / side, w));
    add("odd", matrix(side + 7 + side / 64, (n / side) - 5 - n / side / 64, w));
    map("bitreverse", bmmc::bit_reverse(bits));
    map("gray", bmmc::gray(bits));
    map("shuffle", bmmc::shuffle(bits));
    add("morton",
        mapping_of_all({{std::uint64_t{1} << (bits & ~1)}, w, Order::c}, bmmc::morton(bits & ~1, 2)));
    map("random", random_map(bits));
    if (w >= 4) {
      const std::uint64_t e = root(static_cast<double>(n), 4);
      for (const char* axes : {"3210", "0213", "1032", "0132", "2301"}) {
        add(fmt::format("axes{}", axes), transposition({{e, e, e, e}, w, Order::c}, axes_of(axes)));
      }
    }
    add("Nx16", matrix(n / 16, 16, w));
    add("16xN", matrix(16, n / 16, w));
    add("Nx13", matrix(n / 13, 13, w));
    add("13xN", matrix(13, n / 13, w));
    add("Nx3", matrix(n / 3, 3, w));
    add("3xN", matrix(3, n / 3, w));
  }
  for (const std::uint64_t w : {3, 12, 24, 100}) {
    const std::uint64_t side = root(static_cast<double>(bytes / w), 2);
    rows.push_back({fmt::format("record {}", w), matrix(side, side, w)});
    const int bits = static_cast<int>(std::bit_width(bytes / w)) - 1;
    rows.push_back({fmt::format("bitreverse-record {}", w),
                    mapping_of_all({{std::uint64_t{1} << bits}, w, Order::c}, bmmc::bit_reverse(bits))});
  }
  const std::uint64_t big = bytes / 4096 / 64;
  rows.push_back({"lastfixed 4096", transposition({{big, 64, 512}, 8, Order::c}, std::vector<int>{1, 0, 2})});
  rows.push_back(
      {"lastfixed 520", transposition({{bytes / 520 / 64, 64, 65}, 8, Order::c}, std::vector<int>{1, 0, 2})});
  return rows;
}

// On a machine that others use, the time that this process had a processor is steadier than the time that passed.
bool processor_time = false;
double now() {
  timespec t{};
  clock_gettime(processor_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

double seconds(const std::function<void()>& f, int repeats) {
  const double start = now();
  for (int i = 0; i < repeats; ++i) f();
  return (now() - start) / repeats;
}

void copy_in_parallel(memory::CopyFunction copy, std::byte* target, const std::byte* source, Bytes bytes,
                      unsigned threads) {
  std::vector<std::jthread> others;
  const auto share = [&](unsigned i) {
    const Bytes begin = bytes * i / threads / 64 * 64;
    const Bytes end = i + 1 == threads ? bytes : bytes * (i + 1) / threads / 64 * 64;
    copy(target + begin, source + begin, end - begin);
    memory::finish_streams();
  };
  for (unsigned i = 1; i < threads; ++i) others.emplace_back(share, i);
  share(0);
}

struct Ratio {
  double median, low, high;
};
Ratio ratio_of(std::vector<double> values) {
  std::ranges::sort(values);
  return {values[values.size() / 2], values.front(), values.back()};
}

void measure(const Row& row, unsigned threads, int rounds, bool json) {
  const Bytes bytes = row.what.bytes();
  const Array source(bytes), target(bytes);
  const memory::InMemoryPlan plan(row.what);
  const int repeats =
      static_cast<int>(std::clamp<Bytes>((Bytes{32} << 20) / std::max<Bytes>(bytes, 1), 1, 2000));
  std::vector<double> to_memcpy, to_copy, speed, copy_speed;
  double best_copy = 0, best_permuted = 0;  // GB/s
  for (int i = 0; i < rounds; ++i) {
    const double plain = seconds(
        [&] { copy_in_parallel(memory::copy_function(false), target.data(), source.data(), bytes, threads); },
        repeats);
    const double streamed = seconds(
        [&] { copy_in_parallel(memory::copy_function(true), target.data(), source.data(), bytes, threads); },
        repeats);
    const double permuted = seconds([&] { plan.execute(source.data(), target.data(), threads); }, repeats);
    to_memcpy.push_back(plain / permuted);
    to_copy.push_back(std::min(plain, streamed) / permuted);
    speed.push_back(static_cast<double>(bytes) / permuted / 1e9);
    copy_speed.push_back(static_cast<double>(bytes) / plain / 1e9);
  }
  best_copy = *std::ranges::max_element(copy_speed);
  best_permuted = *std::ranges::max_element(speed);
  const double plan_time = seconds([&] { const memory::InMemoryPlan again(row.what); }, 20);
  const Ratio m = ratio_of(to_memcpy), c = ratio_of(to_copy), s = ratio_of(speed), p = ratio_of(copy_speed);
  if (json) {
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
        m.high, c.median, plan_time * 1e6, plan.describe());
  }
  std::fflush(stdout);
}

std::vector<Bytes> numbers(std::string_view text) {
  std::vector<Bytes> all;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    char* end = nullptr;
    const std::string one(text.substr(0, comma));
    Bytes n = std::strtoull(one.c_str(), &end, 10);
    if (*end == 'K') n <<= 10;
    if (*end == 'M') n <<= 20;
    if (*end == 'G') n <<= 30;
    all.push_back(n);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Bytes> sizes = {Bytes{512} << 20};
  std::vector<Bytes> threads = {std::thread::hardware_concurrency()};
  int rounds = 5;
  std::string only;
  bool json = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--json" || option == "--cpu") {
      (option == "--json" ? json : processor_time) = true;
      continue;
    }
    if (i + 1 == argc) return 2;
    const std::string_view value = argv[++i];
    if (option == "--bytes")
      sizes = numbers(value);
    else if (option == "--threads")
      threads = numbers(value);
    else if (option == "--rounds")
      rounds = static_cast<int>(numbers(value).at(0));
    else if (option == "--only")
      only = value;
    else
      return 2;
  }
  for (const Bytes bytes : sizes) {
    for (const Row& row : rows_for(bytes)) {
      if (row.name.find(only) == std::string::npos) continue;
      for (const Bytes t : threads) measure(row, static_cast<unsigned>(t), rounds, json);
    }
  }
}
