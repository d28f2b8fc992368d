// Besides data and temp nothing grows with the array.
#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>

#include "arrays.hpp"
#include "xorder/permutation/bmmc.hpp"

namespace xorder::test {
namespace {

std::uint64_t status(const char* key) {  // bytes
  std::uint64_t kib = 0;
  if (std::FILE* const file = std::fopen("/proc/self/status", "r")) {
    char line[256];
    while (std::fgets(line, sizeof line, file)) {
      if (std::strncmp(line, key, std::strlen(key)) == 0) std::sscanf(line + std::strlen(key), ": %lu", &kib);
    }
    std::fclose(file);
  }
  return kib << 10;
}

// From now on VmHWM counts anew.
bool forget_peak() {
  std::FILE* const file = std::fopen("/proc/self/clear_refs", "w");
  if (!file) return false;
  const bool done = std::fputs("5", file) >= 0;
  return std::fclose(file) == 0 && done;
}

TEST(MpiMemory, OnlyBuffersComeOnTop) {
  const int ranks = ranks_in(MPI_COMM_WORLD);
  if (ranks != 2 && ranks != 4) GTEST_SKIP() << "two numbers of ranks will do";
  const int p = ranks / 2, n = p + 22;
  std::vector<std::byte> data(std::size_t{32} << 20, std::byte{1}), temp = data;
  struct Case {
    const char* name;
    MpiPlan plan;
    std::uint64_t slice_bytes;
  };
  // Bits of the rank go to a place's bits 0 and 20: short pieces, and chunks that do not make stretches.
  std::vector<int> bits(static_cast<std::size_t>(n));
  std::iota(bits.begin(), bits.end(), 0);
  std::swap(bits[0], bits[static_cast<std::size_t>(n - 1)]);
  std::swap(bits[20], bits[static_cast<std::size_t>(n - 2)]);
  const gf2::AffineMap reversal = bmmc::bit_reverse(n);
  const std::uint64_t rows = std::uint64_t{1} << 12;
  Case cases[] = {{"long pieces", bmmc_plan(bmmc::reverse(n), ranks, n - p), 0},
                  {"short pieces", axes_plan({rows, (std::uint64_t{1} << n) / rows}, {1, 0}, ranks), 0},
                  {"merged", bmmc_plan(reversal, ranks, n - p), 0},
                  {"swapped over 4 ranks", bmmc_plan(bmmc::bits(bits), ranks, n - p), 0}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const xorder_mpi_options options = sliced(c.slice_bytes);
    // What MPI allocates once is not ours.
    EXPECT_EQ(xorder_mpi_perform(c.plan.get(), MPI_COMM_WORLD, 8, data.data(), temp.data(), &options),
              XORDER_OK);
    const bool forgotten = forget_peak();
    const std::uint64_t before = status("VmRSS");
    EXPECT_EQ(xorder_mpi_perform(c.plan.get(), MPI_COMM_WORLD, 8, data.data(), temp.data(), &options),
              XORDER_OK);
    if (forgotten) {
      EXPECT_LE(status("VmHWM"), before + (std::uint64_t{16} << 20));
    }
  }
}

}  // namespace
}  // namespace xorder::test
