// What the programs that measure memory share: arrays on huge pages, clocks, the copy they
// compare with, and options.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "memory/micro.hpp"

namespace xorder::bench {

using Bytes = std::uint64_t;

class Array {
 public:
  /// The array begins `offset` bytes after the beginning of a page.
  explicit Array(Bytes bytes, Bytes offset = 0)
      : data_(std::aligned_alloc(huge, (offset + bytes + huge - 1) / huge * huge)), offset_(offset) {
    if (data_ == nullptr) throw std::bad_alloc();
    if (std::getenv("XORDER_BENCH_SMALL_PAGES") == nullptr) madvise(data_, offset + bytes, MADV_HUGEPAGE);
    std::memset(data_, 1, offset + bytes);
  }
  ~Array() { std::free(data_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(data_) + offset_; }

 private:
  static constexpr std::size_t huge = std::size_t{1} << 21;
  void* data_;
  Bytes offset_;
};

/// The processor time of all threads is steadier than elapsed time on a machine that others use.
inline double now(bool processor_time = false) {
  timespec t{};
  clock_gettime(processor_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

/// How often to call what moves so many bytes, so that the clock is fine enough for small arrays.
inline int calls_for(Bytes bytes) {
  return static_cast<int>(std::clamp<Bytes>((Bytes{32} << 20) / std::max<Bytes>(bytes, 1), 1, 2000));
}

/// Seconds for one call.
template <class Function>
double seconds(const Function& f, int calls, bool processor_time) {
  const double start = now(processor_time);
  for (int i = 0; i < calls; ++i) f();
  return (now(processor_time) - start) / calls;
}

inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// Each thread copies its share with one call.
inline void copy_in_parallel(memory::CopyFunction copy, std::byte* target, const std::byte* source,
                             Bytes bytes, unsigned threads) {
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

/// The exit code for wrong arguments, after one line about them.
inline int refuse() {
  std::fputs("unknown or incomplete option; the head of the program's source lists the options\n", stderr);
  return 2;
}

struct Options {
  std::vector<Bytes> sizes;
  std::vector<Bytes> memories = {0};
  std::vector<Bytes> threads = {std::thread::hardware_concurrency()};
  int rounds = 5;
  Bytes offset = 0;
  std::string only{};
  bool processor_time = false;
  bool json = false;
  bool in_place = false;

  /// False if the arguments are wrong.
  bool parse(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      const std::string_view option = argv[i];
      if (option == "--json" || option == "--cpu" || option == "--in-place") {
        (option == "--json" ? json : option == "--cpu" ? processor_time : in_place) = true;
        continue;
      }
      if (i + 1 == argc) return false;
      const std::string_view value = argv[++i];
      if (option == "--bytes")
        sizes = numbers(value);
      else if (option == "--memory")
        memories = numbers(value);
      else if (option == "--threads")
        threads = numbers(value);
      else if (option == "--rounds")
        rounds = static_cast<int>(numbers(value).at(0));
      else if (option == "--offset")
        offset = numbers(value).at(0);
      else if (option == "--only")
        only = value;
      else
        return false;
    }
    return true;
  }

 private:
  static std::vector<Bytes> numbers(std::string_view text) {
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
};

}  // namespace xorder::bench
