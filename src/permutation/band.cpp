#include "xorder/permutation/band.hpp"

#include <fmt/format.h>

#include "xorder/error.hpp"

namespace xorder {

using std::uint64_t;

std::vector<uint64_t> Band::extents() const {
  if (of_diagonals()) return {width(), n};
  return {n, width()};
}

Band Band::by_columns() const {
  if (!by_row()) return *this;
  return {n, upper, lower, cyclic, of_diagonals() ? BandOrder::diagonals : BandOrder::columns};
}

std::optional<Band::Entry> Band::entry(uint64_t place) const {
  if (by_row()) {
    const auto found = by_columns().entry(place);
    if (!found) return {};
    return Entry{found->column, found->row};
  }
  const uint64_t column = of_diagonals() ? place % n : place / width();
  const uint64_t k = of_diagonals() ? place / n : place % width();
  uint64_t row = column + k;  // KU too large
  if (row < upper) {
    if (!cyclic) return {};
    row += n;
  }
  row -= upper;
  if (row >= n) {
    if (!cyclic) return {};
    row -= n;
  }
  return Entry{row, column};
}

std::optional<uint64_t> Band::place(Entry entry) const {
  if (by_row()) return by_columns().place({entry.column, entry.row});
  uint64_t k = upper + entry.row;  // the column too large
  if (cyclic) {
    k = (k + n - entry.column) % n;  // one of k, k ± N, and B ≤ N
  } else {
    if (k < entry.column) return {};
    k -= entry.column;
  }
  if (k >= width()) return {};
  return of_diagonals() ? k * n + entry.column : entry.column * width() + k;
}

std::optional<uint64_t> Band::target(uint64_t source) const {
  const auto found = entry(source);
  if (!found) return {};
  return transposed().place({found->column, found->row});
}

void check(const Band& band) {
  // Without computing a width that may not fit.
  if (band.lower >= band.n || band.upper >= band.n - band.lower) {
    throw InputError(fmt::format("a band of {} + {} + 1 diagonals is wider than its matrix, {} x {}",
                                 band.lower, band.upper, band.n, band.n));
  }
}

}  // namespace xorder
