#include "io/residency.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>

namespace xorder::io {

bool mostly_cached(const io::File& file) {
  constexpr std::uint64_t page = 4096, samples = 64;
  const std::uint64_t size = file.size();
  if (size == 0) return true;
  void* const address = mmap(nullptr, size, PROT_READ, MAP_SHARED, file.plain_descriptor(), 0);
  if (address == MAP_FAILED) return false;
  const std::uint64_t pages = (size + page - 1) / page;
  std::uint64_t asked = 0, cached = 0;
  for (std::uint64_t i = 0; i < std::min(samples, pages); ++i) {
    unsigned char resident = 0;
    std::byte* const place = static_cast<std::byte*>(address) + pages * i / std::min(samples, pages) * page;
    if (mincore(place, page, &resident) != 0) break;
    ++asked;
    cached += resident & 1;
  }
  munmap(address, size);
  return asked > 0 && 4 * cached >= 3 * asked;
}

}  // namespace xorder::io
