// xorder bench memory: reordering in memory compared with memcpy.
#include "bench/memory.hpp"

#include <fmt/format.h>

#include <cstring>
#include <ctime>
#include <thread>

#include "bench/bench.hpp"
#include "memory/micro.hpp"
#include "text/size_text.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {
namespace {

using std::uint64_t;

class MemoryBenchmark final : public Benchmark {
 public:
  explicit MemoryBenchmark(const Extent& extent)
      : bytes_(extent.bytes),
        threads_(std::max(1u, std::thread::hardware_concurrency())),
        arrays_(bytes_, {}) {}

  std::vector<Case> cases(Results& results) override {
    const drawing::Axis none{}, ratio{"of memcpy's speed", drawing::Unit::ratio};
    const std::string of = fmt::format("arrays of {}, {} threads", size_text(bytes_), threads_);
    results.figures = {
        {"families",
         fmt::format("Reordering {}: speed divided by that of a parallel memcpy of as many bytes just "
                     "before, by the size of an element.",
                     of),
         none, ratio},
        {"records", fmt::format("Records whose size is not a power of two, {}.", of), none, ratio},
        {"copies",
         fmt::format("The reference: copying {}.", of),
         none,
         {"payload", drawing::Unit::bytes_per_second},
         {"memcpy", "streaming stores"}}};
    for (const MemoryFamily& family : memory_families(bytes_, 8))
      results.figures[0].rows.push_back(family.name);
    for (const uint64_t width : {1, 2, 4, 8, 16}) {
      add_series(0, fmt::format("{} B", width), memory_families(bytes_, width));
    }
    const uint64_t widths[] = {3, 12, 24, 100};
    for (const uint64_t width : widths) results.figures[1].rows.push_back(fmt::format("{} bytes", width));
    std::vector<MemoryFamily> transposed, reversed;
    for (const uint64_t width : widths) {
      for (const MemoryFamily& family : memory_families(bytes_, width)) {
        if (family.key == "transpose") transposed.push_back(family);
        if (family.key == "bitreverse") reversed.push_back(family);
      }
    }
    add_series(1, "transposed", transposed);
    add_series(1, "bit-reversed", reversed);
    for (const bool streaming : {false, true}) {
      cases_.push_back({streaming ? "streaming stores" : "memcpy",
                        [this, streaming] {
                          return static_cast<double>(bytes_) /
                                 arrays_.copy_seconds(bytes_, streaming, threads_);
                        },
                        2, "", streaming ? 1.0 : 0.0});
    }
    return std::move(cases_);
  }

 private:
  // The time of memcpy divided by the time of the plan, run right after it.
  void add_series(std::size_t figure, const std::string& name, const std::vector<MemoryFamily>& rows) {
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto plan = std::make_shared<const memory::InMemoryPlan>(rows[row].what);
      const uint64_t bytes = rows[row].what.bytes();
      cases_.push_back({fmt::format("{}, {}", rows[row].name, name),
                        [this, plan, bytes] {
                          const double copied = arrays_.copy_seconds(bytes, false, threads_);
                          return copied / arrays_.reorder_seconds(bytes, *plan, threads_);
                        },
                        figure, name, static_cast<double>(row)});
    }
  }

  uint64_t bytes_;
  unsigned threads_;
  TestArrays arrays_;
  std::vector<Case> cases_;
};

void require_memory(uint64_t bytes) {
  const uint64_t there = io::available_memory();
  if (there != 0 && 2 * bytes > there) {
    throw InputError(fmt::format("--size: two arrays of {}, and {} of memory are available", size_text(bytes),
                                 size_text(there)));
  }
}

}  // namespace

TestArrays::TestArrays(uint64_t bytes, const Options& options)
    : options_(options),
      source_((require_memory(bytes), bytes + options.offset)),
      target_(bytes + options.offset) {
  std::memset(source_.data(), 1, source_.size());
  std::memset(target_.data(), 1, target_.size());
}

double TestArrays::seconds(uint64_t bytes, const std::function<void()>& work) const {
  const auto now = [this] {
    timespec t{};
    clock_gettime(options_.processor_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
  };
  const auto calls = std::clamp<uint64_t>((uint64_t{32} << 20) / std::max<uint64_t>(bytes, 1), 1, 2000);
  const double begin = now();
  for (uint64_t i = 0; i < calls; ++i) work();
  return (now() - begin) / static_cast<double>(calls);
}

double TestArrays::copy_seconds(uint64_t bytes, bool streaming, unsigned threads) const {
  const memory::CopyFunction copy = memory::copy_function(streaming);
  const auto share = [&](uint64_t i) {
    const uint64_t begin = bytes * i / threads / 64 * 64;
    const uint64_t end = i + 1 == threads ? bytes : bytes * (i + 1) / threads / 64 * 64;
    copy(target() + begin, source() + begin, end - begin);
    memory::finish_streams();
  };
  return seconds(bytes, [&] {
    std::vector<std::jthread> others;
    for (uint64_t i = 1; i < threads; ++i) others.emplace_back(share, i);
    share(0);
  });
}

double TestArrays::reorder_seconds(uint64_t bytes, const memory::InMemoryPlan& plan, unsigned threads,
                                   uint64_t first) const {
  return seconds(bytes, [&] {
    options_.in_place ? plan.execute_in_place(source(), threads)
                      : plan.execute(source() + first, target(), threads);
  });
}

void add_bench_memory(CLI::App& bench) {
  add_benchmark(
      bench,
      {.name = "memory",
       .summary = "reordering in memory compared with memcpy",
       .description =
           "Reorders arrays in memory in every way and with elements of every size, each right after a\n"
           "memcpy of the same size, on all processors.",
       .footer = "Examples:\n"
                 "  xorder bench memory\n"
                 "  xorder bench memory --size 1MiB                 arrays in the cache\n"
                 "  xorder bench memory --full --html memory.html",
       .quick_bytes = uint64_t{64} << 20,
       .full_bytes = uint64_t{512} << 20,
       .least_bytes = uint64_t{64} << 10,
       .what_bytes = "an array",
       .make = [](const Extent& extent) { return std::make_unique<MemoryBenchmark>(extent); }});
}

}  // namespace xorder::cli
