#include "plan/band_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "xorder/error.hpp"

namespace xorder::plan {
namespace {

using std::int64_t;
using std::uint64_t;

// Two blocks on their way, before and after.
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
bool fits(const Band& band, int lg_processors, uint64_t element_bytes,
          const ProcessorConditions& conditions) {
  const uint64_t columns = (band.n >> lg_processors) + 1;  // at most
  uint64_t room = (conditions.memory - transfer_memory(conditions)) / blocks_in_memory;
  if (conditions.mapped) room -= room / 9;  // block_memory() is at most an eighth more
  return columns <= room / (band.width() * element_bytes);
}

int choose_lg_processors(const Band& band, uint64_t element_bytes, const ProcessorConditions& conditions) {
  if (const auto wanted = wanted_lg(conditions.processors, band.n, "columns")) return *wanted;
  const int most = std::min(static_cast<int>(std::bit_width(band.n)) - 1, schedule::Network::max_dimension);
  int d = std::min(most, std::countr_zero(default_processors));
  while (d < most && !fits(band, d, element_bytes, conditions)) ++d;
  return d;
}

// The exchange as far as blocks of columns have elements for each other, so that hardly a message has nothing to carry.
std::shared_ptr<const schedule::Banded> exchange_of(const Band& band, int d) {
  const uint64_t columns = band.n >> d;
  const auto blocks = [&](uint64_t diagonals) { return (diagonals + columns - 1) / columns; };
  const schedule::Diagonals away{blocks(band.upper), blocks(band.lower)};
  const uint64_t half = std::max(away.back, away.ahead);
  const int beta = half < 2 ? 0 : std::min(static_cast<int>(std::bit_width(half - 1)), d);
  if (beta == d) return std::make_shared<schedule::Banded>(d, beta);
  return std::make_shared<schedule::Banded>(d, beta, away);
}

}  // namespace

BandGeometry::BandGeometry(const Band& band, const schedule::BandLayout& layout, uint64_t element_bytes)
    : band_(band), layout_(layout), element_bytes_(element_bytes) {
  row_bytes_ = band.width() * element_bytes;
  for (uint64_t t = 0; t < processors(); ++t) panels_.push_back({begin(t), column(t + 1) - column(t), {}});
  for (uint64_t c = 0; c < processors(); ++c) {
    for (const Sent& sent : sent_by(c)) panels_[sent.target].parts.push_back(sent.part);
  }
}

uint64_t BandGeometry::column(uint64_t block) const {
  return band_.n / processors() * block + std::min(block, band_.n % processors());
}

std::vector<BandGeometry::Sent> BandGeometry::sent_by(uint64_t block) const {
  std::vector<Sent> all;
  uint64_t scratch = begin(block);
  for (uint64_t slot = 0; slot < layout_.width(); ++slot) {
    const uint64_t t = (block + layout_.offset(slot)) & (processors() - 1);
    const Part part{
        {layout_.node(block), slot}, scratch, column(block), column(block + 1) - column(block), column(t)};
    const uint64_t rows = column(t + 1) - column(t), bytes = before(part, rows);
    if (bytes == 0) continue;
    all.push_back({part, t, rows, bytes});
    scratch += bytes;
  }
  return all;
}

uint64_t BandGeometry::before(const Part& part, uint64_t row) const {
  const auto n = static_cast<int64_t>(band_.n);
  const auto first = static_cast<int64_t>(part.first_row), last = static_cast<int64_t>(part.first_row + row);
  uint64_t elements = 0;
  for (int64_t around = band_.cyclic ? -1 : 0; around <= (band_.cyclic ? 1 : 0); ++around) {
    const int64_t begin = static_cast<int64_t>(part.first_column) + around * n;
    const int64_t end = begin + static_cast<int64_t>(part.columns);
    const auto up_to = [&](int64_t r) {
      return columns_below(r, static_cast<int64_t>(band_.upper) + 1, begin, end) -
             columns_below(r, -static_cast<int64_t>(band_.lower), begin, end);
    };
    elements += up_to(last) - up_to(first);
  }
  return elements * element_bytes_;
}

std::span<const BandGeometry::Columns> BandGeometry::columns(const Part& part, uint64_t row,
                                                             std::array<Columns, 3>& out) const {
  const auto n = static_cast<int64_t>(band_.n), i = static_cast<int64_t>(part.first_row + row);
  std::size_t count = 0;
  for (int64_t around = band_.cyclic ? -1 : 0; around <= (band_.cyclic ? 1 : 0); ++around) {
    const int64_t begin = static_cast<int64_t>(part.first_column) + around * n;
    const int64_t end = begin + static_cast<int64_t>(part.columns);
    const int64_t from = std::max(begin, i - static_cast<int64_t>(band_.lower));
    const int64_t to = std::min(end, i + static_cast<int64_t>(band_.upper) + 1);
    if (from < to)
      out[count++] = {static_cast<uint64_t>(from - around * n), static_cast<uint64_t>(to - from)};
  }
  return std::span(out).first(count);
}

void BandGeometry::runs(const Part& part, uint64_t first, uint64_t end, std::vector<Runs>& out) const {
  out.clear();
  std::array<Columns, 3> space;
  for (uint64_t row = first; row < end; ++row) {
    for (const auto& [column, count] : columns(part, row, space)) {
      // a[i, j] is at j − i + KL of record i, modulo N.
      const uint64_t i = part.first_row + row;
      const uint64_t place = (column + band_.lower + (column + band_.lower < i ? band_.n : 0) - i) % band_.n;
      out.push_back({row * row_bytes_ + place * element_bytes_, count * element_bytes_});
    }
  }
}

std::span<const BandGeometry::Diagonal> BandGeometry::diagonals(const Part& part, uint64_t row,
                                                                std::array<Diagonal, 3>& out) const {
  std::array<Columns, 3> space;
  std::size_t pieces = 0;
  for (const auto& [column, count] : columns(part, row, space)) {
    // a[i, j] is at i − j + KU of record j, modulo N; the next column has it one place earlier.
    const uint64_t i = part.first_row + row;
    const uint64_t place = (i + band_.upper + (i + band_.upper < column ? band_.n : 0) - column) % band_.n;
    out[pieces++] = {column * row_bytes_ + place * element_bytes_, count};
  }
  return std::span(out).first(pieces);
}

BandExchangePlan plan_band_exchange(const Band& stored, uint64_t element_bytes,
                                    const ProcessorConditions& conditions) {
  if (stored.of_diagonals()) {
    throw InputError(
        "schedule banded gives each virtual processor columns or rows, and needs a band in the order of "
        "columns or of rows; tiles does diagonals too");
  }
  const Band band = stored.by_columns();
  const int d = choose_lg_processors(band, element_bytes, conditions);
  auto exchange = exchange_of(band, d);
  stripe_memory(*exchange, conditions);  // before a part is made for every slot
  auto geometry = std::make_shared<BandGeometry>(band, exchange->layout(), element_bytes);
  const uint64_t block = geometry->block_bytes(), bytes = band.places() * element_bytes;
  if (!fits(band, d, element_bytes, conditions)) {
    throw InputError(
        fmt::format("a block of {} bytes for each of {} virtual processors is too much for {} bytes of "
                    "memory, which have to hold {} of them; take more processors or more memory",
                    block, geometry->processors(), conditions.memory, blocks_in_memory));
  }
  const PassSummary within = timed(
      {.tiles = geometry->processors(),
       .tile_bytes = block,
       .source_block_bytes = block,
       .target_block_bytes = block,
       .memory = blocks_in_memory * block_memory(block, 1, conditions.mapped) + transfer_memory(conditions),
       .bytes_read = bytes,
       .bytes_written = bytes},
      conditions.device);
  return {geometry, within, plan_stripes("banded", std::move(exchange), geometry, bytes, conditions)};
}

std::string BandExchangePlan::describe() const {
  return fmt::format("{} virtual processors put their {} bytes in the order of the receivers\n",
                     geometry->processors(), geometry->block_bytes());
}

}  // namespace xorder::plan
