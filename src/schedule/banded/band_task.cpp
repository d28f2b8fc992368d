#include "schedule/banded/band_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gf2/subspace.hpp"
#include "rounding.hpp"
#include "schedule/bits.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {

using gf2::Word;
using std::size_t;
using std::uint64_t;

namespace {

void check_band(int dimension, const Diagonals& band) {
  const uint64_t columns = Network::hypercube(dimension).nodes();
  if (band.back >= columns || band.ahead >= columns || band.width() > columns) {
    throw InputError(fmt::format("a band of offsets -{} to {}: a matrix of {} columns has fewer diagonals",
                                 band.back, band.ahead, columns));
  }
}

void require_width(int dimension, uint64_t width) {
  const uint64_t nodes = Network::hypercube(dimension).nodes();
  if (width < 1 || width > nodes)
    throw InputError(fmt::format("{} diagonals: from 1 to {} are possible", width, nodes));
}

}  // namespace

gf2::AffineMap binary_assignment(int dimension) { return gf2::AffineMap::identity(dimension); }

gf2::AffineMap binary_gray_assignment(int dimension, int beta) {
  std::vector<Word> columns;
  const int ring = dimension - beta;
  for (int bit = 0; bit < dimension; ++bit) {
    columns.push_back(bit < beta ? gf2::unit(ring + bit) : gray(gf2::unit(bit - beta)));
  }
  return {gf2::BitMatrix(dimension, std::move(columns)), 0};
}

AffineAssignment best_affine_assignment(int dimension, const Diagonals& band) {
  if (dimension > max_affine_dimension) {
    throw InputError(fmt::format("the best affine assignment of 2^{} columns: at most 2^{} are possible",
                                 dimension, max_affine_dimension));
  }
  check_band(dimension, band);
  const uint64_t n = pow2(dimension);
  // First how often each c ⊕ i occurs, then its Walsh-Hadamard transform: at r, the number of even parities
  // minus that of odd ones.
  std::vector<std::int64_t> even(n, 0);
  for (uint64_t c = 0; c < n; ++c) {
    for (uint64_t s = 0; s < band.width(); ++s) ++even[c ^ modulo(c + s - band.back, dimension)];
  }
  for (uint64_t half = 1; half < n; half *= 2) {
    for (uint64_t r = 0; r < n; ++r) {
      if (r & half) continue;
      const std::int64_t a = even[r], b = even[r | half];
      even[r] = a + b;
      even[r | half] = a - b;
    }
  }
  std::vector<uint64_t> rows(n);
  std::iota(rows.begin(), rows.end(), uint64_t{0});
  std::ranges::stable_sort(rows, std::ranges::greater{}, [&](uint64_t r) { return even[r]; });
  gf2::Subspace chosen;
  std::int64_t fewest_even = static_cast<std::int64_t>(n * band.width());
  std::vector<Word> columns(static_cast<size_t>(dimension), 0);
  for (const uint64_t r : rows) {
    const int j = chosen.dimension();
    if (!chosen.add(r)) continue;
    fewest_even = even[r];
    for (Word bits = r; bits != 0; bits &= bits - 1) {
      columns[static_cast<size_t>(std::countr_zero(bits))] |= gf2::unit(j);
    }
  }
  const uint64_t largest = (n * band.width() - static_cast<uint64_t>(fewest_even)) / 2;
  return {{gf2::BitMatrix(dimension, std::move(columns)), 0}, ceil_div(largest, n)};
}

std::vector<Packet> band_task(int dimension, const Diagonals& band,
                              const std::vector<gf2::AffineMap>& assignments) {
  check_band(dimension, band);
  const uint64_t n = pow2(dimension), width = band.width();
  if (width * assignments.size() > Routed::max_places / n) {
    throw InputError(fmt::format("{} matrices with {} diagonals on 2^{} nodes are too many to search",
                                 assignments.size(), width, dimension));
  }
  std::vector<Packet> task;
  task.reserve(n * width * assignments.size());
  for (size_t m = 0; m < assignments.size(); ++m) {
    std::vector<Node> node(n);
    for (uint64_t c = 0; c < n; ++c) node[c] = assignments[m](c);
    for (uint64_t c = 0; c < n; ++c) {
      for (uint64_t s = 0; s < width; ++s) {
        const uint64_t i = modulo(c + s - band.back, dimension);
        // The offset is now the negative one. The main diagonal stays, and needs no packet.
        if (i == c) continue;
        task.push_back({{node[c], m * width + s}, {node[i], m * width + (width - 1 - s)}});
      }
    }
  }
  return task;
}

// Bit j of the node is bit `bit` of column + shift. So with m = offset mod 2^(bit+1), it differs between
// columns c and c + offset for 2·min(m, 2^(bit+1) − m) of each 2^(bit+1) columns c.
std::vector<uint64_t> band_column_sums(int dimension, int beta, const Diagonals& band) {
  check_band(dimension, band);
  std::vector<uint64_t> sums(static_cast<size_t>(dimension), 0);
  const int ring = dimension - beta;
  for (int j = 0; j < dimension; ++j) {
    // Bit j of the Gray code of c2 is bit j + 1 of c2 + 2^j; its top bit is that of c2.
    const int bit = j >= ring ? j - ring : std::min(beta + j + 1, dimension - 1);
    const uint64_t period = pow2(bit + 1);
    for (uint64_t s = 0; s < band.width(); ++s) {
      const uint64_t m = (s - band.back) & (period - 1);
      sums[static_cast<size_t>(j)] += std::min(m, period - m) << (dimension - bit);
    }
  }
  return sums;
}

uint64_t band_bound(int dimension, int beta, const Diagonals& band) {
  uint64_t bound = 0;
  for (const uint64_t sum : band_column_sums(dimension, beta, band)) {
    bound = std::max(bound, ceil_div(sum, pow2(dimension)));
  }
  // If a carry runs through all of c1, all of its bits change, and one of the Gray code.
  const uint64_t farthest = static_cast<uint64_t>(std::min(beta + 1, dimension));
  return band.width() == 1 ? 0 : std::max(bound, farthest);
}

uint64_t band_crossings(int dimension, int beta, const Diagonals& band) {
  const auto sums = band_column_sums(dimension, beta, band);
  return std::accumulate(sums.begin(), sums.end(), uint64_t{0});
}

uint64_t universal_band_bound(int dimension, uint64_t width, int matrices) {
  require_width(dimension, width);
  uint64_t left = width - 1, sum = 0, at_distance = 1;  // a binomial coefficient
  const auto d = static_cast<uint64_t>(dimension);
  uint64_t farthest = 0;
  while (left > 0) {
    ++farthest;
    at_distance = at_distance * (d - farthest + 1) / farthest;
    const uint64_t taken = std::min(left, at_distance);
    sum += taken * farthest;
    left -= taken;
  }
  // Columns c, c + 1 and c + 2 are partners of each other, but a hypercube has no triangle.
  if (width >= 4) farthest = std::max<uint64_t>(farthest, 2);
  return d == 0 ? 0 : std::max(ceil_div(sum * static_cast<uint64_t>(matrices), d), farthest);
}

double binary_entropy(double fraction) {
  const auto term = [](double part) { return part > 0 ? -part * std::log2(part) : 0; };
  return term(fraction) + term(1 - fraction);
}

double inverse_binary_entropy(double entropy) {
  double below = 0, above = 0.5;
  for (;;) {
    const double middle = (below + above) / 2;
    if (middle <= below || middle >= above) return below;
    (binary_entropy(middle) <= entropy ? below : above) = middle;
  }
}

double closed_band_bound(int dimension, uint64_t width) {
  require_width(dimension, width);
  if (width == 1) return 0;
  const double count = static_cast<double>(width);
  return count * inverse_binary_entropy(std::min(std::log2(count) / dimension, 1.0));
}

}  // namespace xorder::schedule
