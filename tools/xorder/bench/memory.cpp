// xorder bench memory: reordering in memory compared with memcpy.
#include "memory/micro.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "bench/bench.hpp"
#include "bench/memory_families.hpp"
#include "io/memory.hpp"
#include "size_text.hpp"
#include "xorder/error.hpp"
#include "xorder/memory/permute.hpp"

namespace xorder::cli {
namespace {

using std::uint64_t;

double seconds_of(const std::function<void()>& work, int calls) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / calls;
}

class MemoryBenchmark final : public Benchmark {
 public:
  explicit MemoryBenchmark(const Extent& extent)
      : bytes_(extent.bytes),
        threads_(std::max(1u, std::thread::hardware_concurrency())),
        source_((check_memory(), bytes_)),
        target_(bytes_) {
    std::memset(source_.data(), 1, bytes_);
    std::memset(target_.data(), 1, bytes_);
  }

  std::vector<Case> cases(Results& results) override {
    const plots::Axis ratio{"of memcpy's speed", plots::Unit::ratio};
    const std::string of = fmt::format("arrays of {}, {} threads", size_text(bytes_), threads_);
    const auto add = [&](const char* id, const std::string& caption, const plots::Axis& values) {
      MeasuredFigure figure;
      figure.id = id;
      figure.caption = caption;
      figure.values = values;
      results.figures.push_back(std::move(figure));
    };
    add("families",
        fmt::format("Reordering {}: speed divided by that of a parallel memcpy of as many bytes just before, "
                    "by the size of an element.",
                    of),
        ratio);
    add("records", fmt::format("Records whose size is not a power of two, {}.", of), ratio);
    add("copies", fmt::format("The reference: copying {}.", of), {"payload", plots::Unit::bytes_per_second});
    results.figures[2].rows = {"memcpy", "streaming stores"};
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
      cases_.push_back(
          {streaming ? "streaming stores" : "memcpy",
           [this, streaming] { return static_cast<double>(bytes_) / copy_seconds(bytes_, streaming); }, 2, "",
           streaming ? 1.0 : 0.0});
    }
    return std::move(cases_);
  }

 private:
  void check_memory() const {
    const uint64_t there = io::available_memory();
    if (there != 0 && 2 * bytes_ > there) {
      throw InputError(fmt::format("--size: two arrays of {}, and {} of memory are available",
                                   size_text(bytes_), size_text(there)));
    }
  }

  void add_series(std::size_t figure, const std::string& name, const std::vector<MemoryFamily>& rows) {
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto plan = std::make_shared<const memory::InMemoryPlan>(rows[row].what);
      const uint64_t bytes = rows[row].what.bytes();
      cases_.push_back({fmt::format("{}, {}", rows[row].name, name),
                        [this, plan, bytes] { return ratio(*plan, bytes); }, figure, name,
                        static_cast<double>(row)});
    }
  }

  // The time of memcpy divided by the time of the plan, run right after it.
  double ratio(const memory::InMemoryPlan& plan, uint64_t bytes) const {
    const double copied = copy_seconds(bytes, false);
    return copied / seconds_of([&] { plan.execute(source_.data(), target_.data(), threads_); }, calls(bytes));
  }

  // Enough repetitions to be timed.
  static int calls(uint64_t bytes) {
    return static_cast<int>(
        std::clamp<uint64_t>((uint64_t{32} << 20) / std::max<uint64_t>(bytes, 1), 1, 2000));
  }

  // Each thread copies its share with one call.
  double copy_seconds(uint64_t bytes, bool streaming) const {
    const memory::CopyFunction copy = memory::copy_function(streaming);
    const auto share = [&](unsigned i) {
      const uint64_t begin = bytes * i / threads_ / 64 * 64;
      const uint64_t end = i + 1 == threads_ ? bytes : bytes * (i + 1) / threads_ / 64 * 64;
      copy(target_.data() + begin, source_.data() + begin, end - begin);
      memory::finish_streams();
    };
    return seconds_of(
        [&] {
          std::vector<std::jthread> others;
          for (unsigned i = 1; i < threads_; ++i) others.emplace_back(share, i);
          share(0);
        },
        calls(bytes));
  }

  uint64_t bytes_;
  unsigned threads_;
  io::BlockMemory source_, target_;
  std::vector<Case> cases_;
};

}  // namespace

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
