// xorder bench cache: what the order of accesses costs, compared with tiled kernels.
#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <ctime>
#include <numeric>
#include <random>
#include <span>

#include "bench/bench.hpp"
#include "io/memory.hpp"
#include "text/size_text.hpp"
#include "xorder/error.hpp"
#include "xorder/memory/permute.hpp"
#include "xorder/permutation/bmmc.hpp"

namespace xorder::cli {
namespace {

using std::uint64_t;
constexpr uint64_t line_bytes = 64;
constexpr double least_seconds = 2e-3;  // of a sample

// Processor time of this thread, so that time given to other processes does not count.
double now() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// Seconds per call, averaged over many calls if they are short.
template <typename Work>
double seconds_each(const Work& work) {
  for (uint64_t calls = 1;; calls *= 2) {
    const double begin = now();
    for (uint64_t i = 0; i < calls; ++i) work();
    const double seconds = now() - begin;
    if (seconds >= least_seconds) return seconds / static_cast<double>(calls);
  }
}

// Orders of 2^lg things: next() returns each of them once, and then starts again.

struct Sequential {
  explicit Sequential(int lg) : mask((uint64_t{1} << lg) - 1) {}
  uint64_t next() { return at++ & mask; }
  uint64_t mask, at = 0;
};

// By columns of a matrix stored by rows, as nearly square as possible.
struct Transposed {
  explicit Transposed(int lg) : mask((uint64_t{1} << lg) - 1), low(lg - lg / 2), high(lg / 2) {}
  uint64_t next() {
    const uint64_t i = at++ & mask;
    return (i << high & mask) | i >> low;
  }
  uint64_t mask;
  int low, high;
  uint64_t at = 0;
};

// A reversed counter: adding one flips the low bits up to the first 0, which are the high bits of the
// reversed number.
struct BitReversed {
  explicit BitReversed(int lg) : size(uint64_t{1} << lg) {}
  uint64_t next() {
    const uint64_t result = reversed;
    const int flipped = std::countr_zero(++at) + 1;
    reversed ^= size - (size >> flipped);
    if (at == size) at = reversed = 0;
    return result;
  }
  uint64_t size, at = 0, reversed = 0;
};

// A linear congruential generator of full period, with its low bits, whose periods are short, mixed with the
// high ones.
struct Random {
  explicit Random(int bits) : lg(bits), mask((uint64_t{1} << bits) - 1) {}
  uint64_t next() {
    state = (state * 6364136223846793005u + 1442695040888963407u) & mask;
    return state ^ state >> (lg / 2 + 1);
  }
  int lg;
  uint64_t mask, state = 0;
};

// In steps of a page: first whatever is a whole number of pages away from the first thing, then from the
// next.
template <int lg_in_page>
struct Strided {
  explicit Strided(int bits) : lg(bits), step(std::min(bits, lg_in_page)) {}
  uint64_t next() {
    const uint64_t mask = (uint64_t{1} << lg) - 1, i = at++ & mask;
    return (i << step & mask) | i >> (lg - step);
  }
  int lg, step;
  uint64_t at = 0;
};

// target[i] = source[order(i)], for 8-byte elements.
template <typename Order>
double copy_seconds(uint64_t* target, const uint64_t* source, int lg) {
  return seconds_each([&] {
    Order order(lg);
    for (uint64_t i = 0; i < uint64_t{1} << lg; ++i) target[i] = source[order.next()];
  });
}

// Memory in pages of the smallest size.
class SmallPages {
 public:
  explicit SmallPages(std::size_t bytes)
      : bytes_(bytes),
        data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (data_ == MAP_FAILED) throw std::bad_alloc();
    madvise(data_, bytes, MADV_NOHUGEPAGE);
  }
  ~SmallPages() { munmap(data_, bytes_); }
  SmallPages(const SmallPages&) = delete;
  SmallPages& operator=(const SmallPages&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  std::size_t bytes_;
  void* data_;
};

uint64_t& word_at(std::byte* memory, uint64_t offset) {
  return *reinterpret_cast<uint64_t*>(memory + offset);
}

// Each line holds the address of the next, so no load can begin before the previous one has ended.
uint64_t follow(std::byte* memory, uint64_t from, uint64_t steps) {
  for (uint64_t i = 0; i < steps; ++i) from = word_at(memory, from);
  return from;
}

// Keeps the compiler from removing unused results.
void use(uint64_t value) { asm volatile("" : : "r"(value) : "memory"); }

// Seconds per step through 2^lg lines in this order.
template <typename Order>
double chain_seconds(std::byte* memory, int lg) {
  Order order(lg);
  const uint64_t lines = uint64_t{1} << lg, first = order.next() * line_bytes;
  uint64_t at = first;
  for (uint64_t i = 1; i < lines; ++i) {
    const uint64_t next = order.next() * line_bytes;
    word_at(memory, at) = next;
    at = next;
  }
  word_at(memory, at) = first;
  // After this, whatever fits in a cache is there. If it does not fit, some thousands of steps show enough.
  uint64_t place = follow(memory, first, std::min<uint64_t>(lines, 1 << 17));
  const uint64_t steps = std::clamp<uint64_t>(lines, 1 << 12, 1 << 16);
  const double seconds = seconds_each([&] { use(place = follow(memory, place, steps)); });
  return seconds / static_cast<double>(steps);
}

// Seconds per step through a few lines, `stride` bytes apart, in a mixed order.
double stride_seconds(std::byte* memory, uint64_t stride, std::span<const uint64_t> order) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    word_at(memory, order[i] * stride) = order[(i + 1) % order.size()] * stride;
  }
  constexpr uint64_t steps = 1 << 12;
  uint64_t place = follow(memory, order[0] * stride, steps);
  return seconds_each([&] { use(place = follow(memory, place, steps)); }) / static_cast<double>(steps);
}

class CacheBenchmark final : public Benchmark {
 public:
  explicit CacheBenchmark(const Extent& extent)
      : largest_(std::bit_floor(extent.bytes)),
        step_(extent.full ? 1 : 2),
        source_((check_memory(), largest_)),
        target_(largest_),
        small_(largest_),
        mixed_(64) {
    std::memset(source_.data(), 1, largest_);
    std::memset(target_.data(), 1, largest_);
    std::memset(small_.data(), 1, largest_);
    std::iota(mixed_.begin(), mixed_.end(), uint64_t{0});
    std::shuffle(mixed_.begin(), mixed_.end(), std::mt19937_64(1));
  }

  std::vector<Case> cases(Results& results) override {
    const drawing::Axis size{"array", drawing::Unit::bytes, true};
    results.figures = {
        {"copy",
         "Copying 8-byte elements to consecutive places from places in some order, on one thread: bytes of "
         "the array per second. The tiled kernels do the same as the naive loops.",
         size,
         {"payload", drawing::Unit::bytes_per_second, true}},
        {"latency",
         "Dependent loads, one from each cache line, in some order: time per load. On huge pages, except for "
         "the last series.",
         size,
         {"time of a load", drawing::Unit::seconds, true}},
        {"stride",
         "Dependent loads from 64 cache lines with some stride. At strides of powers of two the lines share "
         "sets of the caches and evict each other; with strides one line longer they do not.",
         {"stride", drawing::Unit::bytes, true},
         {"time of a load", drawing::Unit::seconds, true}}};
    copies();
    latencies();
    strides();
    return std::move(cases_);
  }

 private:
  void check_memory() const {
    const uint64_t needed = 3 * largest_, there = io::available_memory();
    if (there != 0 && needed > there) {
      throw InputError(fmt::format("--size: arrays of {} need {} of memory, and {} are available",
                                   size_text(largest_), size_text(needed), size_text(there)));
    }
  }

  // A series of the figure, with a point for each size of array.
  template <typename Measure>
  void add_sizes(std::size_t figure, const std::string& name, const Measure& measure) {
    for (int lg = 12; uint64_t{1} << lg <= largest_; lg += step_) {
      cases_.push_back({fmt::format("{}, {}", name, size_text(uint64_t{1} << lg)),
                        [measure, lg] { return measure(lg); }, figure, name,
                        static_cast<double>(uint64_t{1} << lg)});
    }
  }

  void copies() {
    auto* const source = reinterpret_cast<uint64_t*>(source_.data());
    auto* const target = reinterpret_cast<uint64_t*>(target_.data());
    const auto payload = [](int lg, double seconds) {
      return static_cast<double>(uint64_t{1} << lg) / seconds;
    };
    add_sizes(0, "memcpy", [=](int lg) {
      return payload(lg, seconds_each([&] { std::memcpy(target, source, std::size_t{1} << lg); }));
    });
    add_sizes(0, "sequential",
              [=](int lg) { return payload(lg, copy_seconds<Sequential>(target, source, lg - 3)); });
    add_sizes(0, "pages apart",
              [=](int lg) { return payload(lg, copy_seconds<Strided<9>>(target, source, lg - 3)); });
    add_sizes(0, "transposed",
              [=](int lg) { return payload(lg, copy_seconds<Transposed>(target, source, lg - 3)); });
    add_sizes(0, "bit-reversed",
              [=](int lg) { return payload(lg, copy_seconds<BitReversed>(target, source, lg - 3)); });
    add_sizes(0, "random", [=](int lg) { return payload(lg, copy_seconds<Random>(target, source, lg - 3)); });
    const auto tiled = [=](const gf2::AffineMap& map, int lg) {
      const memory::InMemoryPlan plan(mapping_of_all({{uint64_t{1} << (lg - 3)}, 8, Order::c}, map));
      return payload(lg, seconds_each([&] {
                       plan.execute(reinterpret_cast<const std::byte*>(source),
                                    reinterpret_cast<std::byte*>(target), 1);
                     }));
    };
    add_sizes(0, "tiled transposition",
              [=](int lg) { return tiled(bmmc::transpose((lg - 3) / 2, (lg - 3) - (lg - 3) / 2), lg); });
    add_sizes(0, "tiled bit reversal", [=](int lg) { return tiled(bmmc::bit_reverse(lg - 3), lg); });
  }

  void latencies() {
    constexpr int lg_line = 6;
    std::byte* const huge = source_.data();
    std::byte* const small = small_.data();
    add_sizes(1, "sequential", [=](int lg) { return chain_seconds<Sequential>(huge, lg - lg_line); });
    add_sizes(1, "pages apart", [=](int lg) { return chain_seconds<Strided<6>>(huge, lg - lg_line); });
    add_sizes(1, "transposed", [=](int lg) { return chain_seconds<Transposed>(huge, lg - lg_line); });
    add_sizes(1, "bit-reversed", [=](int lg) { return chain_seconds<BitReversed>(huge, lg - lg_line); });
    add_sizes(1, "random", [=](int lg) { return chain_seconds<Random>(huge, lg - lg_line); });
    add_sizes(1, "random, small pages", [=](int lg) { return chain_seconds<Random>(small, lg - lg_line); });
  }

  void strides() {
    for (const uint64_t more : {uint64_t{0}, line_bytes}) {
      for (uint64_t stride = line_bytes; (stride + line_bytes) * mixed_.size() <= largest_; stride *= 2) {
        cases_.push_back(
            {fmt::format("stride {}", size_text(stride + more)),
             [this, stride, more] { return stride_seconds(source_.data(), stride + more, mixed_); }, 2,
             more == 0 ? "a power of two" : "one line more", static_cast<double>(stride)});
      }
    }
  }

  uint64_t largest_;
  int step_;
  io::BlockMemory source_, target_;
  SmallPages small_;
  std::vector<uint64_t> mixed_;
  std::vector<Case> cases_;
};

}  // namespace

void add_bench_cache(CLI::App& bench) {
  add_benchmark(
      bench,
      {.name = "cache",
       .summary = "what the order of accesses to memory costs",
       .description =
           "Walks through arrays of 4 KiB to 1 GiB in several orders, on one thread. This shows the caches,\n"
           "the TLB and conflicts of associativity, and tiled kernels, which they hardly affect.",
       .footer = "Examples:\n"
                 "  xorder bench cache\n"
                 "  xorder bench cache --full --html cache.html --json cache.json",
       .quick_bytes = uint64_t{256} << 20,
       .full_bytes = uint64_t{1} << 30,
       .least_bytes = uint64_t{64} << 10,
       .what_bytes = "the largest array",
       .make = [](const Extent& extent) { return std::make_unique<CacheBenchmark>(extent); }});
}

}  // namespace xorder::cli
