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
  // Not from sysconf(): for an AMD EPYC of 32 MiB it says 320 MiB.
  if (const std::size_t found = size_in_sysfs(3); found >= 4096) sizes.third = found;
  // If source and target together exceed a processor's own caches, fetching target lines before writing them
  // costs more than bypassing the cache. (Bit reversal of 2 MiB on an Intel Xeon: 15 GB/s instead of 4.) The
  // minimum is for processors with a small second level, where other levels keep more.
  sizes.written_through = sizes.scattered_through = std::max(sizes.written_through, sizes.second / 2);
#ifdef __x86_64__
  // A third level near the processor takes lines in any order faster than memory does. (AMD Zen 4, through
  // and past the cache, GB/s. 2 MiB: bit reversal of 8 bytes 18.7, 12.0, of 16 bytes 19.6, 14.3, shuffle
  // 22.9, 15.4, Morton order of 8 bytes 19.1, 12.6, random maps of it 14.7, 12.6. 4 MiB: 16.8, 12.0; 17.0,
  // 14.2; 22.8, 15.3; 18.5, 12.4; 12.4, 12.9. The axis permutations of memory_bench, 1 to 16 bytes: 1.6 times
  // as fast at 1 to 6 MB, 1.2 times at 8 MiB, half as fast at 16 MiB; odd extents gain most.)
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
