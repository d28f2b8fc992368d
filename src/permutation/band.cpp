#include "xorder/permutation/band.hpp"

#include <fmt/format.h>

#include <algorithm>

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
  uint64_t row = column + k;  // too large by KU
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
  uint64_t k = upper + entry.row;  // too large by the column
  if (cyclic) {
    k = (k + n - entry.column) % n;  // the only candidate, as B ≤ N
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
  // The width itself might overflow.
  if (band.lower >= band.n || band.upper >= band.n - band.lower) {
    throw InputError(fmt::format("a band of {} + {} + 1 diagonals is wider than its matrix, {} x {}",
                                 band.lower, band.upper, band.n, band.n));
  }
}

void check(std::span<const Band> bands) {
  if (bands.empty()) throw InputError("no banded matrix: at least one is needed");
  for (const Band& band : bands) {
    check(band);
    if (band.n != bands[0].n || band.order != bands[0].order) {
      throw InputError(
          fmt::format("a matrix {0} x {0} after one {1} x {1}: all matrices in one array must have the same "
                      "size and order",
                      band.n, bands[0].n));
    }
  }
}

uint64_t places(std::span<const Band> bands) {
  uint64_t sum = 0;
  for (const Band& band : bands) sum += band.places();
  return sum;
}

std::vector<uint64_t> extents(std::span<const Band> bands) {
  const Band& first = bands.front();
  if (!std::ranges::all_of(bands, [&](const Band& band) { return band.width() == first.width(); }))
    return {places(bands)};
  std::vector<uint64_t> shape = first.extents();
  if (bands.size() > 1) shape.insert(shape.begin(), bands.size());
  return shape;
}

}  // namespace xorder
