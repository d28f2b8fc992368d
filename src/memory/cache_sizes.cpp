// The sizes of the caches, and what follows from them: up to which size arrays are written through the
// caches.
#include "memory/cache_sizes.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace xorder::memory {
namespace {

// The size of the first processor's cache, "48K" in /sys, or 0 if unknown.
std::size_t size_in_sysfs(int level) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
    int found_level = 0;
    std::string type;
    std::size_t size = 0;
    char unit = 0;
    if (!(std::ifstream(folder + "/level") >> found_level)) return 0;
    std::ifstream(folder + "/type") >> type;
    std::ifstream(folder + "/size") >> size >> unit;
    if (found_level == level && type != "Instruction") return unit == 'M' ? size << 20 : size << 10;
  }
  return 0;
}

CacheSizes ask() {
  CacheSizes sizes;
  const auto take = [](std::size_t& size, int name, int level) {
    const long told = sysconf(name);
    const std::size_t found = told > 0 ? static_cast<std::size_t>(told) : size_in_sysfs(level);
    if (found >= 4096) size = found;
  };
  take(sizes.first, _SC_LEVEL1_DCACHE_SIZE, 1);
  take(sizes.second, _SC_LEVEL2_CACHE_SIZE, 2);
  // Not from sysconf(): on some processors it says ten times as much.
  if (const std::size_t found = size_in_sysfs(3); found >= 4096) sizes.third = found;
  // If source and target together exceed a processor's own caches, fetching target lines before writing them
  // costs more than bypassing the cache. The minimum is for processors with a small second level, where other
  // levels keep more.
  sizes.written_through = sizes.scattered_through = std::max(sizes.written_through, sizes.second / 2);
#ifdef __x86_64__
  // A third level near the processor takes lines in any order faster than memory does, as long as the arrays
  // are small beside it. (Figures are in bench/memory_bench.md, "Arrays in the cache". Another maker's third
  // level lost by it.)
  if (__builtin_cpu_is("amd")) {
    sizes.scattered_through = std::max(sizes.scattered_through, sizes.third / 8);
    sizes.takes_split_lines = true;
  }
#endif
  return sizes;
}

CacheSizes& known() {
  static CacheSizes sizes = ask();
  return sizes;
}

}  // namespace

const CacheSizes& cache_sizes() { return known(); }
void assume_cache_sizes(const CacheSizes& sizes) { known() = sizes; }

}  // namespace xorder::memory
