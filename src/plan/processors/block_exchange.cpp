#include "plan/processors/block_exchange.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <utility>

#include "schedule/exchange.hpp"
#include "schedule/mesh/torus.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/bmmc.hpp"
#include "xorder/schedule/check.hpp"

namespace xorder::plan {
namespace {

using schedule::Exchange;
using schedule::Place;
using std::uint64_t;

// Throws if nothing has to move. The file of a Fortran-ordered array, for example, already is that of its
// transposition.
void require_motion(const BlockMatrix& matrix, const ProcessorSetting& setting) {
  if ((matrix.rows != 1 && matrix.columns != 1) || setting.processors.value_or(1) == 1) return;
  throw InputError(
      "the elements are already in the order of the result, so virtual processors have nothing to exchange; "
      "the tile engine copies them");
}

using Block = std::pair<uint64_t, uint64_t>;

// The stripes of a matrix of blocks. `origin`(i, j) is the block of the input that becomes block (j, i) of
// the output: (i, j) itself for a transposition, with both numbers reversed for a bit reversal. `place` says
// where a block begins.
template <typename Origin, typename PlaceOf>
StripePlan block_stripes(std::string name, std::shared_ptr<const schedule::Schedule> schedule,
                         const BlockMatrix& m, const ProcessorSetting& setting, const Origin& origin,
                         const PlaceOf& place) {
  const uint64_t memory = stripe_memory(*schedule, setting);  // before a part is made for every slot
  std::vector<StripeGeometry::Panel> panels;
  for (uint64_t j = 0; j < m.blocks; ++j) {
    StripeGeometry::Panel panel{m.column(j) * m.rows * m.element_bytes, m.column(j + 1) - m.column(j), {}};
    for (uint64_t i = 0; i < m.blocks; ++i) {
      const Block from = origin(i, j);
      panel.parts.push_back(
          {place(from), m.scratch(from.first, from.second), m.row(i), m.row(i + 1) - m.row(i), m.column(j)});
    }
    panels.push_back(std::move(panel));
  }
  auto geometry = std::make_shared<BlockGeometry>(std::move(panels), m.rows, m.element_bytes, memory);
  return plan_stripes(std::move(name), std::move(schedule), std::move(geometry),
                      m.rows * m.columns * m.element_bytes, setting);
}

// d, for 2^d blocks of at most `most` rows or columns.
int choose_dimension(uint64_t most, const char* of_what, const ProcessorSetting& setting) {
  return wanted_lg(setting.processors, most, of_what)
      .value_or(std::countr_zero(std::min(default_processors, most)));
}

uint64_t choose_side(uint64_t most, const ProcessorSetting& setting) {
  const uint64_t processors = setting.processors.value_or(default_processors);
  const auto side = static_cast<uint64_t>(std::llround(std::sqrt(static_cast<double>(processors))));
  if (side * side != processors || side == 0) {
    const uint64_t below = side * side > processors ? side - 1 : std::max<uint64_t>(side, 1);
    throw InputError(fmt::format("{} virtual processors: a mesh needs a square number, such as {} or {}",
                                 processors, below * below, (below + 1) * (below + 1)));
  }
  if (setting.processors && side > most) {
    throw InputError(fmt::format("a {} x {} mesh of virtual processors is too large for {} rows or columns",
                                 side, side, most));
  }
  return std::min(side, most);
}

using Array = std::optional<schedule::ExchangeArray>;

std::shared_ptr<const Exchange> exchange_on(int d, Exchange::Kind kind, const Array& array) {
  if (!array) return std::make_shared<Exchange>(d, kind);
  auto own = std::make_shared<Exchange>(*array, kind);
  schedule::require_correct(*own);
  return own;
}

ExchangePlan exchange_of(const BlockMatrix& matrix, const ProcessorSetting& setting, const Array& array) {
  require_motion(matrix, setting);
  const int d = choose_dimension(std::min(matrix.rows, matrix.columns), "rows or columns", setting);
  const uint64_t blocks = uint64_t{1} << d;
  BlockMatrix cut = matrix;
  cut.blocks = blocks;
  Reordering within{.element_bytes = matrix.element_bytes,
                    .extents = {blocks, matrix.rows / blocks, blocks, matrix.columns / blocks},
                    .order = {0, 2, 3, 1},
                    .mapped = {},
                    .map = {}};
  StripePlan stripes = block_stripes(
      "exchange", exchange_on(d, Exchange::Kind::transposition, array), cut, setting,
      [](uint64_t i, uint64_t j) {
        return Block{i, j};
      },
      [](const Block& block) {
        return Place{block.first, block.second};
      });
  return {std::move(within), std::move(stripes)};
}

ExchangePlan reversing_exchange(int n, uint64_t element_bytes, const ProcessorSetting& setting,
                                const Array& array) {
  const int d = choose_dimension(uint64_t{1} << (n / 2), "rows of a square that the elements fill", setting);
  const uint64_t blocks = uint64_t{1} << d;
  const int middle = n - 2 * d;
  const gf2::AffineMap reversed = bmmc::bit_reverse(d);
  Reordering within{.element_bytes = element_bytes,
                    .extents = {blocks, uint64_t{1} << middle, blocks},
                    .order = {0, 2, 1},
                    .mapped = 1,
                    .map = bmmc::bit_reverse(middle)};
  StripePlan stripes = block_stripes(
      "exchange", exchange_on(d, Exchange::Kind::bit_reversal, array),
      {blocks, uint64_t{1} << (n - d), blocks, element_bytes}, setting,
      [&](uint64_t i, uint64_t j) {
        return Block{reversed(i), reversed(j)};
      },
      [](const Block& block) {
        return Place{block.first, block.second};
      });
  return {std::move(within), std::move(stripes)};
}

}  // namespace

std::optional<BlockMatrix> transposed_matrix(const Reordering& what) {
  if (const auto map = flat_map(what)) {
    const int n = map->bits();
    for (int r = 0; r <= n; ++r) {
      if (*map == bmmc::transpose(r, n - r))
        return BlockMatrix{uint64_t{1} << r, uint64_t{1} << (n - r), 1, what.element_bytes};
    }
    return std::nullopt;
  }
  const Reordering simple = canonical(what);
  if (simple.mapped) return std::nullopt;
  if (simple.extents.size() == 1) return BlockMatrix{1, simple.extents[0], 1, simple.element_bytes};
  if (simple.extents.size() != 2 || simple.order != std::vector<int>{1, 0}) return std::nullopt;
  return BlockMatrix{simple.extents[0], simple.extents[1], 1, simple.element_bytes};
}

ExchangePlan plan_exchange(const Reordering& what, const ProcessorSetting& given, const Array& array) {
  ProcessorSetting setting = given;
  if (array) {
    const uint64_t processors = schedule::Network::hypercube(array->dimension).nodes();
    if (setting.processors.value_or(processors) != processors) {
      throw InputError(fmt::format("an array of {} columns is for {} virtual processors, not for {}",
                                   array->dimension, processors, *setting.processors));
    }
    setting.processors = processors;
  }
  const auto map = flat_map(what);
  if (!map) {
    throw InputError(
        "schedule exchange needs extents that are powers of two; mesh transposes any matrix, the tile "
        "engine does everything");
  }
  if (*map == bmmc::bit_reverse(map->bits())) {
    return reversing_exchange(map->bits(), what.element_bytes, setting, array);
  }
  if (const auto matrix = transposed_matrix(what)) return exchange_of(*matrix, setting, array);
  throw InputError(
      "schedule exchange does transposition and bit reversal of a whole array only, not of a batch; rounds "
      "does every permutation of this kind");
}

MeshPlan plan_mesh(const Reordering& what, schedule::Mesh::Routing routing, bool torus,
                   const ProcessorSetting& setting) {
  const auto matrix = transposed_matrix(what);
  if (!matrix) {
    throw InputError(
        "schedule mesh transposes whole matrices and does nothing else; rounds does every permutation of 2^n "
        "elements, the tile engine everything");
  }
  require_motion(*matrix, setting);
  BlockMatrix blocks = *matrix;
  blocks.blocks = choose_side(std::min(matrix->rows, matrix->columns), setting);
  StripePlan stripes = block_stripes(
      "mesh", schedule::mesh_schedule(blocks.blocks, routing, torus), blocks, setting,
      [](uint64_t i, uint64_t j) {
        return Block{i, j};
      },
      [&](const Block& block) {
        return Place{block.first * blocks.blocks + block.second, 0};
      });
  return {blocks, std::move(stripes)};
}

}  // namespace xorder::plan
