#include "io/page_cache/page_cache.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <map>

#include "io/disk.hpp"
#include "seed.hpp"

namespace xorder::io {
namespace {

using std::uint64_t;

/// Counts the pages that have passed and were not yet dropped; they need no file.
class PagesDisk final : public Disk {
 public:
  void pass(uint64_t offset, std::size_t bytes) {
    for (uint64_t page = offset / page_bytes; page * page_bytes < offset + bytes; ++page) ++uses_[page];
  }
  void advise(int, uint64_t offset, uint64_t bytes, int) override {
    for (uint64_t page = offset / page_bytes; page * page_bytes < offset + bytes; ++page) uses_.erase(page);
  }
  int write_back(int, uint64_t, uint64_t, unsigned) override { return 0; }
  uint64_t bytes() const { return uses_.size() * page_bytes; }

 private:
  std::map<uint64_t, int> uses_;
};

// Long ranges after short ones: each new range may have to push out many old ones.
TEST(PageCache, HoldsNoMoreThanItsWindowsWhateverTheSizes) {
  test::Random random;
  SEED_TRACE(random);
  for (int kind = 0; kind < 3; ++kind) {
    PagesDisk disk;
    PageCache cache(disk);
    const std::size_t window = random.in(std::size_t{1}, std::size_t{64}) * page_bytes;
    cache.set_windows(window, window);
    uint64_t offset = 0;
    for (int i = 0; i < 2000; ++i) {
      const bool is_long = i / 200 % 2 == 1;
      const std::size_t bytes = random.in(std::size_t{1}, is_long ? 20 * page_bytes : page_bytes);
      offset += bytes + (random.in(0, 3) == 0 ? page_bytes : 0);
      disk.pass(offset, bytes);
      if (kind == 0) cache.after_read(-1, offset, bytes);
      if (kind == 1) cache.after_write(-1, offset, bytes);
      if (kind == 2) cache.after_partial_write(-1, offset, bytes);
      ASSERT_LE(disk.bytes(), window) << kind << " at " << i;
    }
    cache.set_keep(true);
    disk.pass(0, page_bytes);
    cache.after_read(-1, 0, page_bytes);
    EXPECT_GT(disk.bytes(), 0u);
  }
}

}  // namespace
}  // namespace xorder::io
