#include "plan/bands/band_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "text/count_text.hpp"
#include "plan/price.hpp"
#include "rounding.hpp"
#include "xorder/error.hpp"

namespace xorder::plan {
namespace {

using std::int64_t;
using std::uint64_t;

// Two blocks in progress, each before and after.
constexpr uint64_t blocks_in_memory = 4;

// 1 + 2 + .. + m, or 0. Modulo 2^64, as only differences matter.
uint64_t triangle(int64_t m) {
  if (m <= 0) return 0;
  const auto u = static_cast<uint64_t>(m);
  return u % 2 == 0 ? u / 2 * (u + 1) : u * ((u + 1) / 2);
}

// The columns j of [begin, end) with j < i + shift, for all rows i < row.
uint64_t columns_below(int64_t row, int64_t shift, int64_t begin, int64_t end) {
  return triangle(row - 1 + shift - begin) - triangle(row - 1 + shift - end);
}

// Whether the blocks of 2^lg_processors processors fit.
bool fits(const Band& band, int lg_processors, uint64_t element_bytes, const Setting& setting) {
  const uint64_t columns = (band.n >> lg_processors) + 1;  // of the largest block, at most
  const uint64_t transfers = transfer_memory(setting);
  if (setting.memory < transfers) return false;
  const uint64_t room =
      (setting.memory - transfers) / blocks_in_memory / block_thousandths(setting.mapped) * 1000;
  return columns <= room / (band.width() * element_bytes);
}

// A schedule for exactly the blocks of columns that have elements for each other, so that hardly any message
// is empty.
schedule::BandsAtOnce exchange_of(const std::vector<Band>& bands, int d) {
  constexpr uint64_t search_limit = uint64_t{1} << 16;  // less than a second
  std::vector<schedule::Diagonals> away;
  for (const Band& band : bands) {
    const uint64_t columns = band.n >> d;
    const auto blocks = [&](uint64_t diagonals) { return ceil_div(diagonals, columns); };
    away.push_back({blocks(band.upper), blocks(band.lower)});
  }
  return schedule::bands_at_once(d, away, search_limit);
}

}  // namespace

BandGeometry::BandGeometry(const std::vector<Band>& bands, const std::vector<schedule::PlacedBand>& placed,
                           int dimension, uint64_t element_bytes)
    : dimension_(dimension), columns_(bands.front().n), element_bytes_(element_bytes) {
  uint64_t bytes = 0;
  for (std::size_t m = 0; m < bands.size(); ++m) {
    matrices_.push_back({bands[m], placed[m], bands[m].width() * element_bytes, bytes});
    bytes += bands[m].places() * element_bytes;
    for (uint64_t t = 0; t < processors(); ++t) {
      panels_.push_back(
          {begin(m * processors() + t), column(t + 1) - column(t), {}, matrices_.back().row_bytes});
    }
  }
  for (uint64_t block = 0; block < blocks(); ++block) {
    for (const Sent& sent : sent_by(block)) panels_[sent.target].parts.push_back(sent.part);
  }
}

bool BandGeometry::dense() const {
  return std::ranges::all_of(matrices_, [](const Matrix& matrix) { return matrix.band.cyclic; });
}

uint64_t BandGeometry::column(uint64_t c) const {
  return columns_ / processors() * c + std::min(c, columns_ % processors());
}

uint64_t BandGeometry::begin(uint64_t block) const {
  const uint64_t m = std::min<uint64_t>(block / processors(), matrices_.size() - 1);
  return matrices_[m].begin + column(block - m * processors()) * matrices_[m].row_bytes;
}

uint64_t BandGeometry::block_bytes() const {
  uint64_t most = 0;
  for (const Matrix& matrix : matrices_) most = std::max(most, column(1) * matrix.row_bytes);
  return most;
}

std::vector<BandGeometry::Sent> BandGeometry::sent_by(uint64_t block) const {
  std::vector<Sent> all;
  const std::size_t m = block / processors();
  const uint64_t c = block % processors();
  const schedule::PlacedBand& placed = matrices_[m].placed;
  const schedule::Node node = placed.node(c);
  uint64_t scratch = begin(block);
  for (uint64_t slot = placed.first_slot; slot < placed.first_slot + placed.width; ++slot) {
    const uint64_t t = (c + placed.offset(slot)) & (processors() - 1);
    const Part part{{node, slot}, scratch, column(c), column(c + 1) - column(c), column(t), m};
    const uint64_t rows = column(t + 1) - column(t), bytes = before(part, rows);
    if (bytes == 0) continue;
    all.push_back({part, m * processors() + t, rows, bytes});
    scratch += bytes;
  }
  return all;
}

uint64_t BandGeometry::before(const Part& part, uint64_t row) const {
  const Band& band = matrices_[part.matrix].band;
  const auto n = static_cast<int64_t>(band.n);
  const auto first = static_cast<int64_t>(part.first_row), last = static_cast<int64_t>(part.first_row + row);
  uint64_t elements = 0;
  for (int64_t around = band.cyclic ? -1 : 0; around <= (band.cyclic ? 1 : 0); ++around) {
    const int64_t begin = static_cast<int64_t>(part.first_column) + around * n;
    const int64_t end = begin + static_cast<int64_t>(part.columns);
    const auto up_to = [&](int64_t r) {
      return columns_below(r, static_cast<int64_t>(band.upper) + 1, begin, end) -
             columns_below(r, -static_cast<int64_t>(band.lower), begin, end);
    };
    elements += up_to(last) - up_to(first);
  }
  return elements * element_bytes_;
}

std::span<const BandGeometry::Columns> BandGeometry::columns(const Part& part, uint64_t row,
                                                             std::array<Columns, 3>& out) const {
  const Band& band = matrices_[part.matrix].band;
  const auto n = static_cast<int64_t>(band.n), i = static_cast<int64_t>(part.first_row + row);
  std::size_t count = 0;
  for (int64_t around = band.cyclic ? -1 : 0; around <= (band.cyclic ? 1 : 0); ++around) {
    const int64_t begin = static_cast<int64_t>(part.first_column) + around * n;
    const int64_t end = begin + static_cast<int64_t>(part.columns);
    const int64_t from = std::max(begin, i - static_cast<int64_t>(band.lower));
    const int64_t to = std::min(end, i + static_cast<int64_t>(band.upper) + 1);
    if (from < to)
      out[count++] = {static_cast<uint64_t>(from - around * n), static_cast<uint64_t>(to - from)};
  }
  return std::span(out).first(count);
}

void BandGeometry::runs(const Part& part, uint64_t first, uint64_t end, std::vector<Runs>& out) const {
  out.clear();
  const auto& [band, placed, row_bytes, begin] = matrices_[part.matrix];
  std::array<Columns, 3> space;
  for (uint64_t row = first; row < end; ++row) {
    for (const auto& [column, count] : columns(part, row, space)) {
      // a[i, j] is at j − i + KL of record i, modulo N.
      const uint64_t i = part.first_row + row;
      const uint64_t place = (column + band.lower + (column + band.lower < i ? band.n : 0) - i) % band.n;
      out.push_back({row * row_bytes + place * element_bytes_, count * element_bytes_});
    }
  }
}

std::span<const BandGeometry::Diagonal> BandGeometry::diagonals(const Part& part, uint64_t row,
                                                                std::array<Diagonal, 3>& out) const {
  const auto& [band, placed, row_bytes, begin] = matrices_[part.matrix];
  std::array<Columns, 3> space;
  std::size_t pieces = 0;
  for (const auto& [column, count] : columns(part, row, space)) {
    // a[i, j] is at i − j + KU of record j, modulo N; the next column has it one place earlier.
    const uint64_t i = part.first_row + row;
    const uint64_t place = (i + band.upper + (i + band.upper < column ? band.n : 0) - column) % band.n;
    out[pieces++] = {begin + column * row_bytes + place * element_bytes_, count};
  }
  return std::span(out).first(pieces);
}

BandExchangePlan plan_band_exchange(const std::vector<Band>& stored, uint64_t element_bytes,
                                    const ProcessorSetting& setting) {
  std::vector<Band> bands;
  uint64_t bytes = 0;
  for (const Band& band : stored) {
    if (band.of_diagonals()) {
      throw InputError(
          "schedule banded gives each virtual processor columns or rows, so the band must be in the order of "
          "columns or of rows; schedule tiles also takes diagonals");
    }
    bands.push_back(band.by_columns());
    bytes += band.places() * element_bytes;
  }
  const Band& widest = *std::ranges::max_element(bands, {}, &Band::width);
  const int d = choose_lg_processors(setting.processors, widest.n, "columns",
                                     [&](int lg) { return fits(widest, lg, element_bytes, setting); });
  schedule::BandsAtOnce at_once = exchange_of(bands, d);
  stripe_memory(*at_once.schedule, setting);  // before a part is made for every slot
  auto geometry = std::make_shared<BandGeometry>(bands, at_once.bands, d, element_bytes);
  const uint64_t block = geometry->block_bytes();
  if (!fits(widest, d, element_bytes, setting)) {
    const auto fit = [&](uint64_t memory) {
      return fits(widest, d, element_bytes, setting.with_memory(memory));
    };
    throw block_too_large(block, geometry->processors(), setting.memory, blocks_in_memory, fit);
  }
  const PassSummary within =
      priced({.tiles = geometry->blocks(),
              .tile_bytes = block,
              .source_block_bytes = block,
              .target_block_bytes = block,
              .memory = blocks_in_memory * block_memory(block, 1, setting.mapped) + transfer_memory(setting),
              .bytes_read = bytes,
              .bytes_written = bytes},
             setting.pass(true, false), transfer_bytes);
  StripePlan stripes = plan_stripes("banded", at_once.schedule, geometry, bytes, setting);
  return {std::move(geometry), std::move(at_once), within, std::move(stripes)};
}

std::string BandExchangePlan::describe() const {
  if (at_once.bands.size() == 1) {
    return fmt::format("{} virtual processors put their {} bytes in the order of the receivers\n",
                       geometry->processors(), geometry->block_bytes());
  }
  return fmt::format(
      "{} virtual processors put their {} bytes of each of {} matrices in the order of the receivers\n"
      "schedule for all at once: {}, {} (one after another: {})\n",
      geometry->processors(), geometry->block_bytes(), at_once.bands.size(), at_once.way,
      count_text(at_once.schedule->steps(), "step"), at_once.steps_in_turn);
}

}  // namespace xorder::plan
