#include "xorder/permutation/band.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "seed.hpp"
#include "xorder/error.hpp"

namespace xorder {
namespace {

using std::uint64_t;

constexpr BandOrder all_orders[] = {BandOrder::columns, BandOrder::rows, BandOrder::diagonals,
                                    BandOrder::row_diagonals};

// All bands of small matrices: every shape that there is, with both corners larger and smaller than half.
template <class Function>
void for_all_bands(uint64_t largest, Function&& function) {
  for (uint64_t n = 1; n <= largest; ++n) {
    for (uint64_t lower = 0; lower < n; ++lower) {
      for (uint64_t upper = 0; lower + upper < n; ++upper) {
        for (const bool cyclic : {false, true}) {
          for (const auto order : all_orders) {
            const Band band{n, lower, upper, cyclic, order};
            SCOPED_TRACE(testing::Message() << n << ": " << lower << ',' << upper << (cyclic ? " cyclic" : "")
                                            << " order " << static_cast<int>(order));
            function(band);
          }
        }
      }
    }
  }
}

// Whether a[i, j] is in the band, by its definition.
bool holds(const Band& band, int64_t i, int64_t j) {
  const auto n = static_cast<int64_t>(band.n);
  for (const int64_t difference : {i - j, i - j - n, i - j + n}) {
    if (difference != i - j && !band.cyclic) continue;
    if (-static_cast<int64_t>(band.upper) <= difference && difference <= static_cast<int64_t>(band.lower))
      return true;
  }
  return false;
}

TEST(Band, TheExampleOfTheHeader) {
  const std::vector<int> columns{-1, -1, 00, 10, -1, 1, 11, 21, 2, 12, 22, 32, 13, 23, 33, -1};
  const std::vector<int> diagonals{-1, -1, 2, 13, -1, 1, 12, 23, 0, 11, 22, 33, 10, 21, 32, -1};
  const std::vector<int> rows{-1, 0, 1, 2, 10, 11, 12, 13, 21, 22, 23, -1, 32, 33, -1, -1};
  const std::vector<int> row_diagonals{-1, 10, 21, 32, 0, 11, 22, 33, 1, 12, 23, -1, 2, 13, -1, -1};
  for (const auto order : all_orders) {
    const Band band{4, 1, 2, false, order};
    std::vector<int> found;
    for (uint64_t place = 0; place < band.places(); ++place) {
      const auto entry = band.entry(place);
      found.push_back(entry ? static_cast<int>(10 * entry->row + entry->column) : -1);
    }
    EXPECT_EQ(found, order == BandOrder::columns     ? columns
                     : order == BandOrder::rows      ? rows
                     : order == BandOrder::diagonals ? diagonals
                                                     : row_diagonals);
  }
}

TEST(Band, IsSciPys) {
  for_all_bands(8, [](const Band& band) {
    if (band.cyclic || band.order != BandOrder::diagonals) return;
    for (uint64_t i = 0; i < band.n; ++i) {
      for (uint64_t j = 0; j < band.n; ++j) {
        const auto place = band.place({i, j});
        ASSERT_EQ(place.has_value(), holds(band, static_cast<int64_t>(i), static_cast<int64_t>(j)));
        if (place) {
          EXPECT_EQ(*place, (band.upper + i - j) * band.n + j);
        }
      }
    }
  });
}

// CBLAS with CblasRowMajor and lda = B: a[i, j] at i·lda + KL + j − i; SPARSKIT: diag(i, k) with offset k −
// KL.
TEST(Band, ByRowIsThatOfCblasAndSparskit) {
  for_all_bands(8, [](const Band& band) {
    if (band.cyclic || !band.by_row()) return;
    for (uint64_t i = 0; i < band.n; ++i) {
      for (uint64_t j = 0; j < band.n; ++j) {
        const auto place = band.place({i, j});
        ASSERT_EQ(place.has_value(), holds(band, static_cast<int64_t>(i), static_cast<int64_t>(j)));
        if (place) {
          const uint64_t k = band.lower + j - i;
          EXPECT_EQ(*place, band.of_diagonals() ? k * band.n + i : i * band.width() + k);
        }
      }
    }
  });
}

TEST(Band, ByRowLiesAsTheTransposedMatrixByColumn) {
  for_all_bands(6, [](const Band& band) {
    const Band same = band.by_columns();
    EXPECT_FALSE(same.by_row());
    EXPECT_EQ(same.extents(), band.extents());
    for (uint64_t place = 0; place < band.places(); ++place) {
      EXPECT_EQ(same.target(place), band.target(place));
      auto entry = band.entry(place);
      if (entry && band.by_row()) std::swap(entry->row, entry->column);
      EXPECT_EQ(same.entry(place), entry);
    }
  });
}

TEST(Band, PlacesAndEntriesAreInverse) {
  for_all_bands(8, [](const Band& band) {
    uint64_t used = 0, held = 0;
    for (uint64_t place = 0; place < band.places(); ++place) {
      const auto entry = band.entry(place);
      if (!entry) continue;
      ++used;
      ASSERT_EQ(band.place(*entry), place);
    }
    for (uint64_t i = 0; i < band.n; ++i) {
      for (uint64_t j = 0; j < band.n; ++j) {
        const bool held_here = holds(band, static_cast<int64_t>(i), static_cast<int64_t>(j));
        ASSERT_EQ(band.place({i, j}).has_value(), held_here);
        held += held_here ? 1 : 0;
      }
    }
    EXPECT_EQ(used, held);
    if (band.cyclic) {
      EXPECT_EQ(used, band.places());
    }
  });
}

TEST(Band, TranspositionIsThatOfTheDenseMatrix) {
  for_all_bands(8, [](const Band& band) {
    const Band after = band.transposed();
    std::vector<int> hit(after.places());
    for (uint64_t place = 0; place < band.places(); ++place) {
      const auto target = band.target(place);
      const auto entry = band.entry(place);
      ASSERT_EQ(target.has_value(), entry.has_value());
      if (!target) continue;
      ++hit[*target];
      EXPECT_EQ(after.entry(*target), (Band::Entry{entry->column, entry->row}));
      EXPECT_EQ(band.source(*target), place);
      EXPECT_EQ(after.target(*target), place);  // twice is the identity
    }
    for (uint64_t place = 0; place < after.places(); ++place) {
      EXPECT_EQ(hit[place], after.entry(place) ? 1 : 0);
      EXPECT_EQ(band.source(place).has_value(), after.entry(place).has_value());
    }
  });
}

// (j, k) goes to (j + k − KU, B − 1 − k).
TEST(Band, TranspositionIsAShear) {
  test::Random random;
  SEED_TRACE(random);
  for (int repeat = 0; repeat < 1000; ++repeat) {
    const uint64_t n = random.in(1, uint64_t{1} << 31);
    const uint64_t width = random.in(1, std::min(n, uint64_t{1} << 31));
    const uint64_t upper = random.in(0, width - 1);
    const Band band{n, width - 1 - upper, upper, random.in(0, 1) == 1, BandOrder::columns};
    const uint64_t j = random.in(0, n - 1), k = random.in(0, width - 1);
    const auto i = static_cast<int64_t>(j + k) - static_cast<int64_t>(upper);
    const auto target = band.target(j * width + k);
    if (!band.cyclic && (i < 0 || i >= static_cast<int64_t>(n))) {
      EXPECT_EQ(target, std::nullopt);
    } else {
      const uint64_t row = (static_cast<uint64_t>(i + static_cast<int64_t>(n))) % n;
      EXPECT_EQ(target, row * width + (width - 1 - k));
    }
  }
}

TEST(Band, TooWideIsRefused) {
  EXPECT_NO_THROW(check(Band{1, 0, 0}));
  EXPECT_NO_THROW(check(Band{5, 4, 0}));
  EXPECT_NO_THROW(check(Band{5, 2, 2}));
  for (const Band& band : {Band{0, 0, 0}, Band{1, 1, 0}, Band{1, 0, 1}, Band{5, 5, 0}, Band{5, 2, 3},
                           Band{5, 0, 5}, Band{5, ~uint64_t{0}, 1}, Band{5, 1, ~uint64_t{0}}}) {
    EXPECT_THAT([&] { check(band); },
                testing::ThrowsMessage<InputError>(testing::HasSubstr("wider than its matrix")));
  }
}

}  // namespace
}  // namespace xorder
