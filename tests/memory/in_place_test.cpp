#include "memory/in_place/in_place.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <string>

#include "gf2/coset.hpp"
#include "memory/expect_permuted.hpp"
#include "memory/make_engine.hpp"
#include "memory/small_caches.hpp"
#include "plan/reference.hpp"
#include "sanitized.hpp"
#include "xorder/memory/permute.hpp"

namespace xorder::memory {
namespace {

using gf2::AffineMap;
using test::random_bytes;

// Between guards. The array begins `before` bytes after a line.
void expect_permuted_in_place(const Reordering& what, test::Random& random, unsigned threads,
                              std::size_t before) {
  const auto data = random_bytes(random, what.bytes());
  test::Guarded array(data.size(), before);
  std::ranges::copy(data, array.data());
  auto expected = array.memory();
  std::ranges::copy(test::performed(what, data),
                    expected.begin() + static_cast<std::ptrdiff_t>(array.offset()));
  const InMemoryPlan plan(what);
  plan.execute_in_place(array.data(), threads);
  ASSERT_TRUE(array.memory() == expected)
      << plan.describe_in_place() << "; threads " << threads << ", misaligned by " << before;
}

// From the beginning of a line or from anywhere.
void expect_permuted_in_place(const Reordering& what, test::Random& random, unsigned threads) {
  expect_permuted_in_place(what, random, threads,
                           random.in(0, 1) == 0 ? 0 : random.in(std::size_t{0}, std::size_t{63}));
}

// Maps that permute tiles, most of them two by two.
AffineMap any_map_of_tiles(test::Random& random, int n) {
  const int still = random.in(0, n);
  std::vector<gf2::Word> columns;
  for (int j = 0; j < still; ++j) columns.push_back(gf2::unit(j));
  const AffineMap above = test::random_map(random, n - still);
  for (const gf2::Word c : above.matrix.columns()) columns.push_back(c << still);
  const std::vector<AffineMap> maps = {bmmc::bit_reverse(n),
                                       bmmc::reverse(n),
                                       bmmc::transpose(n / 2, n / 2),
                                       bmmc::exclusive_or(n, random() & gf2::low_mask(n)),
                                       bmmc::gray(n),
                                       {gf2::BitMatrix(n, columns), random() & gf2::low_mask(n)}};
  const AffineMap& map = maps[random.in(std::size_t{0}, maps.size() - 1)];
  const AffineMap other = test::random_map(random, map.bits());
  return random.in(0, 1) == 0 ? map : other.inverse() * map * other;
}

Reordering batch_of(test::Random& random, const AffineMap& map) {
  return {std::uint64_t{1} << random.in(0, 5),
          {random.in(std::uint64_t{1}, std::uint64_t{3}), std::uint64_t{1} << map.bits()},
          {0, 1},
          1,
          map};
}

TEST(InPlace, IsTheSame) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 300; ++i) {
    SCOPED_TRACE(i);
    const auto caches = test::any_caches(random);
    const int n = random.in(0, 16);
    const Reordering what = i % 3 == 0   ? test::random_reordering(random, 3)
                            : i % 3 == 1 ? batch_of(random, any_map_of_tiles(random, n))
                                         : batch_of(random, test::any_map(random, n));
    expect_permuted_in_place(what, random, random.in(1u, 3u));
    if (HasFatalFailure()) return;
  }
}

// Parts that are small, fill a cache, or do not; some of them at the end.
TEST(InPlace, Parts) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < (test::sanitized ? 60 : 200); ++i) {
    SCOPED_TRACE(i);
    const auto caches = test::any_caches(random);
    const std::uint64_t w = random.in(std::uint64_t{1}, std::uint64_t{20}), bytes = 1 << random.in(4, 19);
    const std::uint64_t rows = random.in(std::uint64_t{2}, std::max<std::uint64_t>(2, bytes / w / 2));
    const std::uint64_t columns = std::max<std::uint64_t>(2, bytes / w / rows);
    const std::uint64_t parts = random.in(std::uint64_t{1}, std::max<std::uint64_t>(3, 400'000 / bytes));
    const ArrayShape shape{{parts, rows, columns, 3}, w, Order::c};
    const std::vector<std::vector<int>> orders = {{0, 2, 1, 3}, {0, 3, 2, 1}, {0, 1, 3, 2}, {0, 3, 1, 2}};
    const Reordering what = transposition(shape, orders[random.in(std::size_t{0}, orders.size() - 1)]);
    expect_permuted_in_place(what, random, random.in(1u, 3u));
    if (HasFatalFailure()) return;
  }
}

// Rows abc and def become columns.
TEST(InPlace, InOneCall) {
  std::string array = "abcdef";
  permute_in_place(transposition({{2, 3}, 1, Order::c}, {}), reinterpret_cast<std::byte*>(array.data()), 1);
  EXPECT_EQ(array, "adbecf");
}

// Two axes of one extent exchanged, or three rotated, among others that stay; elements of any size.
TEST(InPlace, Squares) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 200; ++i) {
    SCOPED_TRACE(i);
    const std::uint64_t w = i % 3 == 0   ? std::uint64_t{1} << random.in(0, 4)
                            : i % 3 == 1 ? random.in(std::uint64_t{1}, std::uint64_t{50})
                                         : random.in(std::uint64_t{400}, std::uint64_t{70000});
    const std::uint64_t side = random.in(std::uint64_t{1}, std::max<std::uint64_t>(4, 300 / w));
    const auto few = [&] {
      return random.in(0, 1) == 0 ? std::uint64_t{1} : random.in(std::uint64_t{1}, std::uint64_t{3});
    };
    const ArrayShape shape{{few(), side, few(), side, few()}, w, Order::c};
    const std::uint64_t cube = std::min<std::uint64_t>(side, 12);
    const ArrayShape cubes{{few(), cube, cube, cube, few()}, w, Order::c};
    const Reordering what = i % 2 == 0 ? transposition(shape, std::vector<int>{0, 3, 2, 1, 4})
                                       : transposition(cubes, std::vector<int>{0, 2, 3, 1, 4});
    expect_permuted_in_place(what, random, random.in(1u, 3u));
    if (HasFatalFailure()) return;
  }
}

// Large enough for several threads.
TEST(InPlace, LargeOnes) {
  test::Random random;
  SEED_TRACE(random);
  const auto map = [](std::uint64_t w, const AffineMap& m) {
    return mapping_of_all({{std::uint64_t{1} << m.bits()}, w, Order::c}, m);
  };
  for (const Reordering& what :
       {transposition({{1024, 1024}, 8, Order::c}, {}), transposition({{1500, 701}, 4, Order::c}, {}),
        transposition({{1021, 1021}, 3, Order::c}, {}),
        transposition({{5, 701, 701}, 1, Order::c}, std::vector<int>{0, 2, 1}),
        transposition({{31, 3, 31, 1009}, 2, Order::c}, std::vector<int>{2, 1, 0, 3}), map(4, bmmc::gray(20)),
        map(2, bmmc::bit_reverse(22)), map(8, bmmc::shuffle(20)), map(1, test::random_map(random, 22)),
        map(16, test::random_map(random, 18)),
        transposition({{3, 512, 1024}, 8, Order::c}, std::vector<int>{0, 2, 1}),
        transposition({{1503, 50, 61}, 1, Order::c}, std::vector<int>{0, 2, 1}),
        transposition({{2, 1501, 1409}, 3, Order::c}, std::vector<int>{0, 2, 1}),
        mapping_along({{65536, 17}, 4, Order::fortran}, 0, test::random_map(random, 16))}) {
    if (test::sanitized && random.in(0, 3) != 0) continue;
    expect_permuted_in_place(what, random, 3);
    if (HasFatalFailure()) return;
  }
}

// The runs of a tile all begin at the same sets of the caches. Some with a complement, some in a batch.
TEST(InPlace, TilesWhoseRunsShareSets) {
  test::Random random;
  SEED_TRACE(random);
  const test::SmallCaches caches;
  for (const std::uint64_t w : {1, 2, 4, 8, 16}) {
    const int bits = 20 - std::countr_zero(w);
    AffineMap map = bmmc::bit_reverse(bits);
    if (random.in(0, 1) == 0) map.complement = random() & gf2::low_mask(bits);
    const std::uint64_t maps = random.in(std::uint64_t{1}, std::uint64_t{3});
    const Reordering what = mapping_along({{maps, std::uint64_t{1} << bits}, w, Order::c}, 1, map);
    const std::string plan = InMemoryPlan(what).describe_in_place();
    EXPECT_NE(plan.find("cycles of"), std::string::npos) << plan;
    EXPECT_NE(plan.find("bytes, streamed"), std::string::npos) << plan;
    for (const unsigned threads : {1, 2, 3}) {
      for (const std::size_t before : {0, 24}) expect_permuted_in_place(what, random, threads, before);
    }
    if (HasFatalFailure()) return;
  }
}

// A = C B. B permutes the elements of each coset of T = E_s + A⁻¹E_s, C moves runs, and T fits.
TEST(InPlace, FactorsStayWithinTilesAndMoveRuns) {
  test::Random random;
  SEED_TRACE(random);
  for (int i = 0; i < 300; ++i) {
    SCOPED_TRACE(i);
    const int n = random.in(6, 24);
    AffineMap map = test::any_map(random, n);
    map.complement = random() & gf2::low_mask(n);
    const std::uint64_t w = std::uint64_t{1} << random.in(0, 4);
    constexpr std::uint64_t tile_bytes = 32768;
    const auto [within, of_runs, bits] = factored_in_place(map, w, tile_bytes);
    EXPECT_EQ(of_runs * within, map);
    EXPECT_LE(w << gf2::tile_bits(map, bits, bits), tile_bytes);
    const gf2::BitMatrix inverse = map.inverse().matrix;
    gf2::Subspace tile = gf2::Subspace::low_bits(bits);
    for (int j = 0; j < bits; ++j) {
      EXPECT_EQ(of_runs.matrix.column(j), gf2::unit(j));
      tile.add(inverse.column(j));
    }
    EXPECT_EQ(within.complement, 0u);
    for (int j = 0; j < n; ++j) EXPECT_TRUE(tile.contains(within.matrix.column(j) ^ gf2::unit(j)));
  }
}

// What users expect to need no second array.
TEST(InPlace, TakesNoSecondArray) {
  const test::SmallCaches caches;
  const auto needs = [](const Reordering& what) { return make_in_place_engine(canonical(what))->needs(); };
  const auto expect_none = [&](const Reordering& what) {
    EXPECT_LE(needs(what).shared, 2 << 20);  // as permute.hpp says
    EXPECT_LE(needs(what).for_each_thread, 4 << 20);
  };
  expect_none(transposition({{3, 512, 2048}, 8, Order::c}, std::vector<int>{0, 2, 1}));
  expect_none(transposition({{1000, 1000}, 12, Order::c}, {}));
  expect_none(transposition({{50, 50, 50, 50}, 4, Order::c}, {}));
  expect_none(transposition({{512, 2048}, 8, Order::c}, {}));
  expect_none(mapping_of_all({{1 << 20}, 16, Order::c}, bmmc::shuffle(20)));
  for (const std::uint64_t rows : {7, 700}) {  // of batches
    for (const std::uint64_t w : {1, 3, 8})
      expect_none(transposition({{100, rows, 30}, w, Order::c}, std::vector<int>{0, 2, 1}));
  }
  // Matrices of any shape; only the first has small parts.
  for (const Reordering& what :
       {transposition({{3, 1501, 1409}, 2, Order::c}, std::vector<int>{0, 2, 1}),
        transposition({{1000, 1001}, 8, Order::c}, {}), transposition({{100'000, 3}, 16, Order::c}, {}),
        transposition({{700, 1101}, 509, Order::c}, {}), transposition({{40, 50, 60}, 100, Order::c}, {})}) {
    EXPECT_LE(needs(what).shared, what.bytes() / 64);
    EXPECT_LE(needs(what).for_each_thread, 4 << 20);
  }
  // The rest takes a second array.
  const Reordering other = transposition({{21, 22, 23, 24}, 8, Order::c}, {});
  EXPECT_EQ(needs(other).shared, other.bytes());
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
std::uint64_t address_space() {  // of this process, in bytes
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// In a process of its own: with more and more memory, everything is done or nothing.
bool is_done_or_refused(const Reordering& what, const std::vector<std::byte>& data) {
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  const auto expected = test::performed(what, data);
  const InMemoryPlan plan(what);
  plan.describe_in_place();  // makes the plan for it
  int done = 0, refused = 0;
  for (std::uint64_t mib = 0; mib <= 20; ++mib) {
    auto array = data;
    const rlimit some{address_space() + (mib << 20), RLIM_INFINITY}, all{RLIM_INFINITY, RLIM_INFINITY};
    if (setrlimit(RLIMIT_AS, &some) != 0) return false;
    bool has_memory = true;
    try {
      plan.execute_in_place(array.data(), 1);
    } catch (const std::bad_alloc&) {
      has_memory = false;
    }
    setrlimit(RLIMIT_AS, &all);
    if (array != (has_memory ? expected : data)) return false;
    ++(has_memory ? done : refused);
  }
  return done != 0 && refused != 0;
}

TEST(InPlace, WithoutMemoryNothingIsDone) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a new program, which has not freed anything yet
  unsetenv("GLIBC_TUNABLES");                      // and which returns what it frees
  test::Random random;
  SEED_TRACE(random);
  const AffineMap map = test::random_map(random, 20);
  for (const Reordering& what :
       {mapping_of_all({{1 << 20}, 8, Order::c}, map),   // two steps
        mapping_of_all({{1 << 20}, 12, Order::c}, map),  // a second array, and a second part
        transposition({{2, 1501, 1009}, 3, Order::c}, std::vector<int>{0, 2, 1})}) {
    const auto data = random_bytes(random, what.bytes());
    EXPECT_EXIT(_exit(is_done_or_refused(what, data) ? 0 : 1), testing::ExitedWithCode(0), "");
  }
}

void take_all_memory() {
  const rlimit no_more{address_space(), RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &no_more);
  for (std::size_t bytes = 1 << 20; bytes >= 16; bytes /= 2) {
    static void* volatile kept;  // or else the compiler may leave the allocation out
    do {
      kept = std::malloc(bytes);
    } while (kept != nullptr);
  }
}

// In a process of its own: there is memory for the parts, but none for what permutes them.
bool is_done_with_no_more(const Reordering& what, std::vector<std::byte> array) {
  const test::SmallCaches caches;  // parts take buffers
  const auto expected = test::performed(what, array);
  const auto engine = make_through_buffer(what, std::uint64_t{4} << 20);
  const Reordering part = transposition({{701, 1009}, 2, Order::c}, {});
  const auto direct = make_engine(part);
  Workspace workspace(engine->needs(), 1);
  std::vector<std::byte> target(array.size());
  take_all_memory();
  try {
    perform(*direct, part.bytes(), 1, array.data(), target.data());
    return false;  // then this proves nothing
  } catch (const std::bad_alloc&) {
  }
  engine->perform(array.data(), 1, workspace);
  return std::memcmp(array.data(), expected.data(), expected.size()) == 0;
}

TEST(InPlace, PartsAreFinishedWithoutMemory) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  test::Random random;
  const Reordering what = transposition({{3, 701, 1009}, 2, Order::c}, std::vector<int>{0, 2, 1});
  const auto data = random_bytes(random, what.bytes());
  EXPECT_EXIT(_exit(is_done_with_no_more(what, data) ? 0 : 1), testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace xorder::memory
