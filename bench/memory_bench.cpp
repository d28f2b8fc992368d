// Reordering arrays in memory, compared with copying them.
//
//   build/bench/bench/memory_bench [--bytes N[,N...]] [--threads N[,N...]] [--rounds N] [--only TEXT] [--cpu]
//                                  [--json]
//
// For each row it measures three things in turn, in one process: a parallel memcpy (each thread copies its
// share with one call), a copy with streaming stores, and the reordering with a plan made beforehand. It does
// so round after round, so that all see the same machine. --cpu takes the processor time of all threads
// instead of elapsed time. It prints GB/s of payload, and the ratios of the reordering to memcpy and to the
// faster copy of the same round: their medians, smallest and largest values. Arrays lie on huge pages.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "bench/memory_families.hpp"
#include "memory/micro.hpp"
#include "xorder/memory/permute.hpp"

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

// All families, each with elements of several sizes, and two whose last axis is fixed.
std::vector<Row> rows_for(Bytes bytes) {
  std::vector<Row> rows;
  for (const std::uint64_t w : {1, 2, 4, 8, 16}) {
    for (const cli::MemoryFamily& family : cli::memory_families(bytes, w))
      rows.push_back({fmt::format("{} {}", family.key, w), family.what});
  }
  for (const std::uint64_t w : {3, 12, 24, 100}) {
    for (const cli::MemoryFamily& family : cli::memory_families(bytes, w)) {
      if (family.key == "odd" || family.key == "bitreverse" || family.key == "random" || family.key == "Nx3")
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

// On a machine that others use, processor time is steadier than elapsed time.
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
