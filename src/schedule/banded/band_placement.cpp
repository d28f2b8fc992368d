#include "schedule/banded/band_placement.hpp"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "schedule/banded/band_packets.hpp"
#include "schedule/banded/band_task.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {
namespace {

using std::uint64_t;

struct Row {
  int dimension, beta, matrices;
  uint64_t steps;
  /// "5012:13 .." for each matrix: the order, and the constant.
  std::string_view placements;
};

constexpr Row found[] = {
#include "schedule/banded/found_placements.inc"
};

}  // namespace

gf2::AffineMap placed(int dimension, int beta, const Placement& placement) {
  const gf2::AffineMap assignment = binary_gray_assignment(dimension, beta);
  return {gf2::BitMatrix::bit_permutation(placement.order) * assignment.matrix, placement.constant};
}

gf2::AffineMap rotated_assignment(int dimension, int beta, int rotation) {
  Placement rotated;
  for (int j = 0; j < dimension; ++j) rotated.order.push_back((j + rotation) % dimension);
  return placed(dimension, beta, rotated);
}

std::vector<gf2::AffineMap> rotated_placement(int dimension, int beta, int matrices) {
  require_matrices(dimension, beta, matrices);
  std::vector<gf2::AffineMap> maps;
  for (int m = 0; m < matrices; ++m)
    maps.push_back(rotated_assignment(dimension, beta, m * beta % dimension));
  return maps;
}

std::optional<FoundPlacement> found_placement(int dimension, int beta, int matrices) {
  for (const Row& row : found) {
    if (row.dimension != dimension || row.beta != beta || row.matrices != matrices) continue;
    FoundPlacement result;
    result.steps = row.steps;
    for (std::string_view text = row.placements; !text.empty();) {
      Placement& p = result.matrices.emplace_back();
      for (; text.front() != ':'; text.remove_prefix(1)) p.order.push_back(text.front() - '0');
      text.remove_prefix(1);
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), p.constant);
      text.remove_prefix(static_cast<std::size_t>(end - text.data()));
      if (!text.empty()) text.remove_prefix(1);
    }
    return result;
  }
  return std::nullopt;
}

}  // namespace xorder::schedule
