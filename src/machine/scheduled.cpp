#include "xorder/machine/scheduled.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "band/input.hpp"
#include "machine/band_stage.hpp"
#include "machine/rounds_stage.hpp"
#include "machine/stage.hpp"
#include "machine/stripe_stage.hpp"
#include "machine/transpose_stage.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/bmmc.hpp"
#include "xorder/schedule/banded.hpp"
#include "xorder/schedule/exchange.hpp"
#include "xorder/schedule/mesh.hpp"
#include "xorder/schedule/rounds.hpp"

namespace xorder::machine {
namespace {

using std::uint64_t;
using Stages = std::vector<std::unique_ptr<Stage>>;

constexpr uint64_t default_processors = 16;
// Input, scratch and output, for the page cache to hold all of them.
constexpr uint64_t files_in_memory = 3;

/// Everything that a schedule's stages are made from.
struct Setting {
  const work::Frame& frame;
  const Reordering& what;
  const ScheduleChoice& choice;

  uint64_t bytes() const { return what.bytes(); }
  uint64_t memory() const { return frame.memory(); }
};

/// Of a stage that reads the input if it is the first one, and else a scratch file, and writes in the same way.
work::Circumstances circumstances(const Setting& s, bool first, bool last) {
  work::Circumstances c = s.frame.circumstances;
  if (!first) {
    c.source = c.target;
    c.source_offset = 0;
    c.read_alignment = c.target == io::Access::direct ? 4096 : 1;
  }
  if (!last) c.target_offset = 0;
  return c;
}

TileStage tiles(const Setting& s, const Reordering& what, bool first, bool last, std::string name) {
  return TileStage(tiles::TileEngine(what, circumstances(s, first, last), s.frame.options.device),
                   std::move(name));
}

Reordering flat(const Setting& s, const gf2::AffineMap& map) {
  return mapping_of_all({{uint64_t{1} << map.bits()}, s.what.element_bytes, Order::c}, map);
}

/// lg of the number of processors that was asked for.
std::optional<int> wanted_lg(const ScheduleChoice& choice, uint64_t most, const char* of_what) {
  if (!choice.processors) return std::nullopt;
  const uint64_t p = *choice.processors;
  if (!std::has_single_bit(p)) {
    throw InputError(fmt::format("{} virtual processors: a power of two is needed, such as {} or {}", p,
                                 std::bit_floor(std::max<uint64_t>(p, 1)),
                                 std::bit_floor(std::max<uint64_t>(p, 1)) * 2));
  }
  if (p > most)
    throw InputError(fmt::format("{} virtual processors are too many for {} {}", p, most, of_what));
  const int lg = std::countr_zero(p);
  if (lg > schedule::Network::max_dimension) {
    throw InputError(
        fmt::format("{} virtual processors: at most 2^{} are possible", p, schedule::Network::max_dimension));
  }
  return lg;
}

gf2::AffineMap required_map(const Setting& s, const char* schedule) {
  auto map = flat_map(s.what);
  if (!map) {
    throw InputError(
        fmt::format("schedule {} needs extents that are powers of two; --schedule mesh transposes any "
                    "matrix, tiles does everything",
                    schedule));
  }
  return *std::move(map);
}

Stages rounds_stages(const Setting& s) {
  const gf2::AffineMap map = required_map(s, "rounds");
  const int n = map.bits();
  int p = std::min(n, std::countr_zero(default_processors));
  if (const auto wanted = wanted_lg(s.choice, s.what.elements(), "elements")) {
    p = *wanted;
  } else {
    while (p < std::min(n, schedule::Network::max_dimension) &&
           !RoundsStage::fits(s.bytes(), p, s.memory())) {
      ++p;
    }
  }
  const schedule::Rounds rounds(map, p, s.choice.layout.value_or(n - p));
  const gf2::BitMatrix back = rounds.layout().inverse().value();
  const bool in_place = rounds.layout() == gf2::BitMatrix::identity(n);
  auto exchange = std::make_unique<RoundsStage>(rounds, s.what.element_bytes, s.memory());
  const gf2::AffineMap before = exchange->before();

  Stages stages;
  if (!before.is_identity()) {
    stages.push_back(
        std::make_unique<TileStage>(tiles(s, flat(s, before), true, false, "within processors")));
  }
  stages.push_back(std::move(exchange));
  if (!in_place) {
    stages.push_back(
        std::make_unique<TileStage>(tiles(s, flat(s, {back, 0}), false, true, "back to the layout")));
  }
  return stages;
}

// Extents of the matrix if it is a transposition.
struct Matrix {
  uint64_t rows = 0, columns = 0, element_bytes = 1;
};
std::optional<Matrix> transposed_matrix(const Reordering& what) {
  if (const auto map = flat_map(what)) {
    const int n = map->bits();
    for (int r = 0; r <= n; ++r) {
      if (*map == bmmc::transpose(r, n - r))
        return Matrix{uint64_t{1} << r, uint64_t{1} << (n - r), what.element_bytes};
    }
    return std::nullopt;
  }
  const Reordering simple = canonical(what);
  if (simple.extents.size() == 1 && !simple.mapped) return Matrix{1, simple.extents[0], simple.element_bytes};
  if (simple.extents.size() != 2 || simple.mapped || simple.order != std::vector<int>{1, 0})
    return std::nullopt;
  return Matrix{simple.extents[0], simple.extents[1], simple.element_bytes};
}

// A Fortran-ordered array's transposition, for example, lies in its file already.
void require_motion(const Setting& s, const Matrix& matrix) {
  if ((matrix.rows != 1 && matrix.columns != 1) || s.choice.processors.value_or(1) == 1) return;
  throw InputError(
      fmt::format("{}: its elements lie in the order of the result already, so that virtual processors "
                  "have nothing to exchange; --schedule tiles copies them",
                  s.frame.input().path.string()));
}

using BlockIndex = std::pair<uint64_t, uint64_t>;

// The stripes of a matrix of K × K blocks. Block (i, j) of the input is block (j, i) of the output in the
// end; if the blocks' numbers are reversed on the way, another one is there. `origin` says which, `place`
// where a block begins.
template <typename Origin, typename PlaceOf>
std::unique_ptr<BlockGeometry> block_geometry(const BlockMatrix& m, uint64_t stripe_memory,
                                              const Origin& origin, const PlaceOf& place) {
  std::vector<StripeGeometry::Panel> panels;
  for (uint64_t j = 0; j < m.blocks; ++j) {
    StripeGeometry::Panel panel{m.column(j) * m.rows * m.element_bytes, m.column(j + 1) - m.column(j), {}};
    for (uint64_t i = 0; i < m.blocks; ++i) {
      const BlockIndex from = origin(i, j);
      panel.parts.push_back(
          {place(from), m.scratch(from.first, from.second), m.row(i), m.row(i + 1) - m.row(i)});
    }
    panels.push_back(std::move(panel));
  }
  return std::make_unique<BlockGeometry>(std::move(panels), m.rows, m.element_bytes, stripe_memory);
}

BlockIndex same(uint64_t i, uint64_t j) { return {i, j}; }

Stages exchange_stages(const Setting& s) {
  const gf2::AffineMap map = required_map(s, "exchange");
  const int n = map.bits();
  using Kind = schedule::Exchange::Kind;
  const bool reversal = map == bmmc::bit_reverse(n);
  const auto matrix = reversal ? std::nullopt : transposed_matrix(s.what);
  if (!matrix && !reversal) {
    throw InputError(
        "schedule exchange does transposition and bit reversal only; --schedule rounds does every "
        "permutation of this kind");
  }
  if (matrix) require_motion(s, *matrix);
  // A bit reversal is a transposition of 2^d rows and 2^d columns, of which everything else is in the middle.
  const uint64_t most = matrix ? std::min(matrix->rows, matrix->columns) : uint64_t{1} << (n / 2);
  const int wanted = std::countr_zero(std::min(default_processors, most));
  const int d =
      wanted_lg(s.choice, most, matrix ? "rows or columns" : "rows of a square that the elements fill")
          .value_or(wanted);
  const uint64_t processors = uint64_t{1} << d;

  // Within a processor: what goes into slot l lies together, its rows in the order of the output's.
  Reordering within{
      .element_bytes = s.what.element_bytes, .extents = {}, .order = {}, .mapped = {}, .map = {}};
  BlockMatrix blocks{processors, processors, processors, s.what.element_bytes};
  if (matrix) {
    within.extents = {processors, matrix->rows / processors, processors, matrix->columns / processors};
    within.order = {0, 2, 3, 1};
    blocks.rows = matrix->rows;
    blocks.columns = matrix->columns;
  } else {
    const int middle = n - 2 * d;
    within.extents = {processors, uint64_t{1} << middle, processors};
    within.order = {0, 2, 1};
    within.mapped = 1;
    within.map = bmmc::bit_reverse(middle);
    blocks.columns = uint64_t{1} << (n - d);
  }
  Stages stages;
  auto exchange =
      std::make_unique<schedule::Exchange>(d, reversal ? Kind::bit_reversal : Kind::transposition);
  const uint64_t stripe_memory = StripeStage::stripe_memory(*exchange, s.memory());
  stages.push_back(std::make_unique<TileStage>(tiles(s, within, true, false, "within processors")));
  const gf2::AffineMap reversed = reversal ? bmmc::bit_reverse(d) : gf2::AffineMap::identity(d);
  auto geometry = block_geometry(
      blocks, stripe_memory,
      [&](uint64_t i, uint64_t j) {
        return BlockIndex{reversed(i), reversed(j)};
      },
      [](const BlockIndex& block) {
        return schedule::Place{block.first, block.second};
      });
  stages.push_back(std::make_unique<StripeStage>("exchange", std::move(exchange), std::move(geometry),
                                                 s.bytes(), s.memory()));
  return stages;
}

Stages mesh_stages(const Setting& s) {
  const auto matrix = transposed_matrix(s.what);
  if (!matrix) {
    throw InputError(
        "schedule mesh transposes matrices only; --schedule rounds does every permutation of 2^n "
        "elements, tiles everything");
  }
  require_motion(s, *matrix);
  const uint64_t most = std::min(matrix->rows, matrix->columns);
  const uint64_t processors = s.choice.processors.value_or(default_processors);
  auto side = static_cast<uint64_t>(std::llround(std::sqrt(static_cast<double>(processors))));
  if (side * side != processors || side == 0) {
    const uint64_t below = side * side > processors ? side - 1 : std::max<uint64_t>(side, 1);
    throw InputError(fmt::format("{} virtual processors: a mesh needs a square number, such as {} or {}",
                                 processors, below * below, (below + 1) * (below + 1)));
  }
  if (s.choice.processors && side > most) {
    throw InputError(fmt::format("a {} x {} mesh of virtual processors is too large for {} rows or columns",
                                 side, side, most));
  }
  side = std::min(side, most);
  const BlockMatrix blocks{matrix->rows, matrix->columns, side, matrix->element_bytes};
  auto exchange = std::make_unique<schedule::Mesh>(side, schedule::Mesh::Routing::any);
  const uint64_t stripe_memory = StripeStage::stripe_memory(*exchange, s.memory());
  Stages stages;
  stages.push_back(
      std::make_unique<TransposeStage>(blocks, circumstances(s, true, false), s.frame.options.device));
  auto geometry = block_geometry(blocks, stripe_memory, same, [&](const BlockIndex& block) {
    return schedule::Place{block.first * side + block.second, 0};
  });
  stages.push_back(
      std::make_unique<StripeStage>("mesh", std::move(exchange), std::move(geometry), s.bytes(), s.memory()));
  return stages;
}

}  // namespace

std::unique_ptr<work::Work> scheduled(io::ArrayFile input, const Reordering& what,
                                      std::vector<uint64_t> extents, std::filesystem::path output,
                                      work::Options options, const ScheduleChoice& choice) {
  if (what.elements() == 0) {
    throw InputError(input.path.string() +
                     ": there are no elements to share among virtual processors; use --schedule tiles");
  }
  if (choice.layout && choice.kind != ScheduleChoice::Kind::rounds) {
    throw InputError("a layout is for schedule rounds only");
  }
  const io::DType dtype = input.description.dtype;
  work::Frame frame = work::settle({std::move(input)}, std::move(output), dtype, extents, std::move(options),
                                   files_in_memory * what.bytes());
  const Setting setting{frame, what, choice};
  Stages stages = choice.kind == ScheduleChoice::Kind::rounds     ? rounds_stages(setting)
                  : choice.kind == ScheduleChoice::Kind::exchange ? exchange_stages(setting)
                                                                  : mesh_stages(setting);
  return std::make_unique<StagedWork>(std::move(frame), std::move(stages));
}

std::unique_ptr<work::Work> scheduled_band(io::ArrayFile input, const Band& band,
                                           std::filesystem::path output, work::Options options,
                                           std::optional<uint64_t> processors) {
  band::check_input(input, band);
  if (band.order != BandOrder::columns) {
    throw InputError(
        "schedule banded gives each virtual processor columns, and needs --band-order columns; "
        "tiles does both orders");
  }
  const io::DType dtype = input.description.dtype;
  const uint64_t element_bytes = dtype.bytes;
  work::Frame frame = work::settle({std::move(input)}, std::move(output), dtype, band.transposed().extents(),
                                   std::move(options), files_in_memory * band.places() * element_bytes);
  const uint64_t memory = frame.memory();
  const int most = std::min(static_cast<int>(std::bit_width(band.n)) - 1, schedule::Network::max_dimension);
  int d = std::min(most, std::countr_zero(default_processors));
  if (const auto wanted = wanted_lg({.processors = processors}, band.n, "columns")) {
    d = *wanted;
  } else {
    while (d < most && !BandStage::fits(band, d, element_bytes, memory)) ++d;
  }
  // How many blocks of columns away elements go, and the next power of two of it.
  const uint64_t columns = band.n >> d;
  const uint64_t half = (std::max(band.lower, band.upper) + columns - 1) / columns;
  const int beta = half < 2 ? 0 : std::min(static_cast<int>(std::bit_width(half - 1)), d);
  auto exchange = std::make_unique<schedule::Banded>(d, beta);
  StripeStage::stripe_memory(*exchange, memory);  // before a part is made for every slot
  auto geometry = std::make_unique<BandGeometry>(band, exchange->layout(), element_bytes);

  Stages stages;
  stages.push_back(std::make_unique<BandStage>(band, exchange->layout(), element_bytes, memory));
  stages.push_back(std::make_unique<StripeStage>("banded", std::move(exchange), std::move(geometry),
                                                 band.places() * element_bytes, memory));
  return std::make_unique<StagedWork>(std::move(frame), std::move(stages));
}

}  // namespace xorder::machine
