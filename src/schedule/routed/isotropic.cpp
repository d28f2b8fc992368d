#include "schedule/routed/isotropic.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/bits.hpp"
#include "schedule/bounds.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {
namespace {

using gf2::Word;
using std::size_t;
using Table = std::vector<std::vector<int>>;

constexpr int none = -1;

// Colours the ones of the task matrix with as many colours as its critical sum. colour_[r · dimension + j] is
// the colour of the one in row r and column j, row_[j][c] the row that column j meets in colour c. Rows are
// many and short, columns few and long.
class Colouring {
 public:
  Colouring(const std::vector<Word>& tags, int dimension, size_t colours)
      : dimension_(static_cast<size_t>(dimension)),
        colour_(tags.size() * dimension_, none),
        row_(dimension_, std::vector<int>(colours, none)),
        lowest_free_(dimension_, 0) {
    for (size_t r = 0; r < tags.size(); ++r) {
      for (Word tag = tags[r]; tag != 0; tag &= tag - 1) add(r, static_cast<size_t>(std::countr_zero(tag)));
    }
  }

  Table by_colour() const {
    Table table(row_.empty() ? 0 : row_[0].size());
    for (size_t c = 0; c < table.size(); ++c) {
      for (const auto& column : row_) table[c].push_back(column[c]);
    }
    return table;
  }

 private:
  // Colour a is free in the row, b in the column. If they differ, both colours are exchanged on the path from
  // the column along edges of colours a, b, a .., which frees a in the column. The path cannot end in the
  // row: it enters rows by a, which this row does not have.
  void add(size_t row, size_t column) {
    while (row_[column][lowest_free_[column]] != none) ++lowest_free_[column];
    const size_t b = lowest_free_[column];
    size_t a = b;
    if (column_of(row, b) != none) {
      for (a = 0; column_of(row, a) != none;) ++a;
      exchange_colours(column, a, b);
    }
    set(row, column, a);
  }

  // The column that a row meets in a colour.
  int column_of(size_t row, size_t colour) const {
    for (size_t j = 0; j < dimension_; ++j) {
      if (colour_[row * dimension_ + j] == static_cast<int>(colour)) return static_cast<int>(j);
    }
    return none;
  }

  void set(size_t row, size_t column, size_t colour) {
    colour_[row * dimension_ + column] = static_cast<int>(colour);
    row_[column][colour] = static_cast<int>(row);
  }

  void exchange_colours(size_t column, size_t a, size_t b) {
    std::vector<std::pair<size_t, size_t>> path;  // (row, column) of edges, coloured a, b, a, b ..
    for (int j = static_cast<int>(column); j != none;) {
      const int r = row_[static_cast<size_t>(j)][a];
      if (r == none) break;
      path.emplace_back(static_cast<size_t>(r), static_cast<size_t>(j));
      j = column_of(static_cast<size_t>(r), b);
      if (j != none) path.emplace_back(static_cast<size_t>(r), static_cast<size_t>(j));
    }
    for (size_t i = 0; i < path.size(); ++i) {
      const size_t old = i % 2 == 0 ? a : b, j = path[i].second;
      row_[j][old] = none;
      lowest_free_[j] = std::min(lowest_free_[j], old);
    }
    for (size_t i = 0; i < path.size(); ++i) set(path[i].first, path[i].second, i % 2 == 0 ? b : a);
  }

  size_t dimension_;
  std::vector<int> colour_;
  Table row_;
  std::vector<size_t> lowest_free_;  // by column: no lower colour is free
};

// The largest row or column sum. This number of colours is needed, and suffices.
std::uint64_t critical_sum(const std::vector<Word>& tags, int dimension) {
  std::vector<int> columns(static_cast<size_t>(dimension), 0);
  int sum = 0;
  for (size_t r = 0; r < tags.size(); ++r) {
    if (tags[r] & ~gf2::low_mask(dimension)) {
      throw InputError(fmt::format("tag {} has a 1 beyond dimension {}", r, dimension - 1));
    }
    sum = std::max(sum, std::popcount(tags[r]));
    for (Word tag = tags[r]; tag != 0; tag &= tag - 1) ++columns[static_cast<size_t>(std::countr_zero(tag))];
  }
  for (const int column : columns) sum = std::max(sum, column);
  return static_cast<std::uint64_t>(sum);
}

}  // namespace

Isotropic::Isotropic(std::vector<Word> tags, int dimension)
    : Isotropic(Network::hypercube(dimension), std::move(tags)) {}

Isotropic::Isotropic(const Network& hypercube, std::vector<Word> tags)
    : Schedule(hypercube, tags.size(), critical_sum(tags, hypercube.dimension()),
               isotropic_bound(tags, hypercube.dimension())),
      tags_(std::move(tags)),
      table_(Colouring(tags_, hypercube.dimension(), static_cast<size_t>(steps())).by_colour()) {}

void Isotropic::messages(std::uint64_t step, std::vector<Message>& out) const {
  out.clear();
  for (int j = 0; j < network().dimension(); ++j) {
    if (packet(step, j) == none) continue;
    const auto slot = static_cast<std::uint64_t>(packet(step, j));
    for (Node v = 0; v < network().nodes(); ++v) {
      out.push_back({{v, slot}, {v ^ pow2(j), slot}, v ^ pow2(j)});
    }
  }
}

std::optional<Place> Isotropic::goal(Place start) const {
  return Place{start.node ^ tags_[static_cast<size_t>(start.slot)], start.slot};
}

Schedule::Load Isotropic::load(std::uint64_t step) const {
  const auto& row = table_[static_cast<size_t>(step)];
  const auto used = row.size() - static_cast<size_t>(std::ranges::count(row, none));
  return {used * network().nodes(), used * network().nodes()};
}

}  // namespace xorder::schedule
