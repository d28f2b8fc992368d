// `xorder show` for a terminal.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "show.hpp"
#include "text/count_text.hpp"
#include "text/text_width.hpp"

namespace xorder::cli {
namespace {

using gf2::AffineMap;
using Lines = std::vector<std::string>;

std::size_t widest_of(const Lines& lines) {
  std::size_t width = 0;
  for (const std::string& line : lines) width = std::max(width, width_of(line));
  return width;
}

// Side by side if that fits in 110 columns, otherwise one below the other.
Lines beside(Lines left, const Lines& right) {
  const std::size_t width = widest_of(left) + 6;
  if (width + widest_of(right) > 110) {
    left.emplace_back();
    left.insert(left.end(), right.begin(), right.end());
    return left;
  }
  left.resize(std::max(left.size(), right.size()));
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (!right[i].empty()) left[i] += std::string(width - width_of(left[i]), ' ') + right[i];
  }
  return left;
}

// A table of rows with labels and equally many values, in pieces of 21 columns.
struct Row {
  std::string label;
  std::vector<std::string> values;
};
Lines wide_table(const std::string& heading, const std::vector<Row>& rows) {
  Lines lines = {heading};
  constexpr std::size_t piece = 21;
  const std::size_t columns = rows.front().values.size();
  for (std::size_t from = 0; from < columns; from += piece) {
    lines.emplace_back();
    for (const Row& row : rows) {
      std::string line = "  " + row.label + std::string(12 - width_of(row.label), ' ');
      for (std::size_t i = from; i < std::min(from + piece, columns); ++i)
        line += fmt::format(" {:>3}", row.values[i]);
      lines.push_back(line);
    }
  }
  return lines;
}

// The width of a row label, "target bit 61".
constexpr std::size_t label_width = 13;

// One row of a matrix, with a bar where the γ block ends. Up to 32 columns are separated by blanks; more are
// in groups of 8, so that 62 fit.
std::string row_of(const std::string& label, int n, std::optional<int> bar, auto cell) {
  std::string row = fmt::format("{:>{}} ", label, label_width);
  for (int j = 0; j < n; ++j) {
    if (bar == j) {
      row += n > 32 ? " | " : " |";
    } else if (n > 32 && j > 0 && j % 8 == 0) {
      row += ' ';
    }
    if (n <= 32) row += ' ';
    row += cell(j);
  }
  return row;
}

char tens(int i) { return i < 10 ? ' ' : static_cast<char>('0' + i / 10); }
char units(int i) { return static_cast<char>('0' + i % 10); }

// Rows are target bits, columns source bits, least significant first; 0 is a dot.
Lines matrix_table(const std::string& heading, const AffineMap& map, std::optional<int> block) {
  const int n = map.bits();
  const std::optional<int> bar = block && *block > 0 && *block < n ? block : std::nullopt;
  Lines lines = {heading, "", row_of("source bit", n, bar, tens), row_of("", n, bar, units) + "   c"};
  if (n <= 10)
    lines.erase(lines.begin() + 2),
        lines.back().replace(0, label_width, fmt::format("{:>{}}", "source bit", label_width));
  for (int i = 0; i < n; ++i) {
    if (bar == i) {
      std::string rule(lines.back().size(), '-');
      std::fill_n(rule.begin(), label_width + 1, ' ');
      lines.push_back(rule);
    }
    const std::string label = i == 0 ? fmt::format("target bit {:2}", i) : fmt::format("{:2}", i);
    lines.push_back(row_of(label, n, bar, [&](int j) { return map.matrix.at(i, j) ? '1' : '.'; }) + "   " +
                    (map.complement >> i & 1 ? '1' : '.'));
  }
  return lines;
}

// "bits(2,0,1)", with "xor(0x5) * " before it if there is a complement.
std::string as_expression(const AffineMap& map) {
  std::vector<int> sources(static_cast<std::size_t>(map.bits()));
  for (int j = 0; j < map.bits(); ++j)
    sources[static_cast<std::size_t>(std::countr_zero(map.matrix.column(j)))] = j;
  return fmt::format("{}bits({})", map.complement ? fmt::format("xor({:#x}) * ", map.complement) : "",
                     fmt::join(sources, ","));
}

std::string what_it_is(const AffineMap& map) {
  if (map.is_identity()) return "the identity";
  if (map.matrix == gf2::BitMatrix::identity(map.bits()))
    return fmt::format("an exclusive or: xor({:#x})", map.complement);
  if (map.matrix.is_bit_permutation()) {
    const bool short_enough = map.bits() <= 20;
    return "a permutation of the index bits" + (short_enough ? ": " + as_expression(map) : "");
  }
  return "a map that adds index bits together";
}

Lines rank_table(const std::vector<int>& rank_gamma) {
  Row block{"lg block b", {}}, rank{"rank γ", {}}, tile{"lg tile", {}};
  for (int b = 0; b < static_cast<int>(rank_gamma.size()); ++b) {
    const int r = rank_gamma[static_cast<std::size_t>(b)];
    block.values.push_back(std::to_string(b));
    rank.values.push_back(std::to_string(r));
    tile.values.push_back(std::to_string(b + r));
  }
  return wide_table(
      "rank γ by block size: a tile of 2^(b + rank γ) elements fills whole blocks in both source and target",
      {block, rank, tile});
}

Lines passes_table(const Passes& passes, int rank) {
  int m = passes.lg_block + rank;
  Row memory{"lg memory", {fmt::format("{}+", m)}}, count{"passes", {"1"}};
  for (const int below : passes.passes_below) {
    memory.values.push_back(std::to_string(--m));
    count.values.push_back(std::to_string(below));
  }
  return wide_table(
      fmt::format("passes with blocks of 2^{} elements, by the elements that memory holds", passes.lg_block),
      {memory, count});
}

Lines factor_tables(const Passes& passes) {
  Lines lines;
  for (std::size_t i = 0; i < passes.factors.size(); ++i) {
    const AffineMap& factor = passes.factors[i];
    const int rank = gf2::rank_gamma(factor.matrix, passes.lg_block);
    const Lines table =
        matrix_table(fmt::format("pass {} of {}, rank γ = {}", i + 1, passes.factors.size(), rank), factor,
                     passes.lg_block);
    lines = lines.empty() ? table : beside(lines, table);
  }
  return lines;
}

// The factors are for indices whose top bits are the processor's number.
Lines round_tables(const ProcessorRounds& rounds) {
  Lines matrices;
  for (const auto& [name, matrix] : rounds.factors) {
    const Lines table = as_lines(name, matrix);
    matrices = matrices.empty() ? table : beside(matrices, table);
  }
  const int n = rounds.factors.front().second.rows(), p = std::countr_zero(rounds.processors);
  const char* a = rounds.f == n - p ? "A" : "Q A Q^-1";  // Q moves the processor's bits to the top
  Lines lines = {fmt::format("{}, whose numbers begin at index bit {}: {}; {} = V W, V = "
                             "{} T R Π",
                             count_text(rounds.processors, "processor"), rounds.f,
                             count_text(rounds.rounds, "round"), a, a),
                 ""};
  lines.insert(lines.end(), matrices.begin(), matrices.end());
  return lines;
}

}  // namespace

std::string show_as_text(const Shown& shown) {
  const int n = shown.bits();
  Lines lines = {shown.title,
                 fmt::format("y = A x ^ c on 2^{} = {} element{}; {}", n, std::uint64_t{1} << n,
                             n == 0 ? "" : "s", what_it_is(shown.map)),
                 ""};
  const auto append = [&lines](const Lines& more) {
    lines.insert(lines.end(), more.begin(), more.end());
    lines.emplace_back();
  };
  const std::optional<int> block = shown.passes ? std::optional(shown.passes->lg_block) : std::nullopt;
  if (n > 0)
    append(beside(matrix_table("matrix A, complement c", shown.map, block),
                  matrix_table("inverse", shown.inverse, block)));
  append(rank_table(shown.rank_gamma));
  if (shown.passes) {
    append(passes_table(*shown.passes, shown.rank_gamma[static_cast<std::size_t>(shown.passes->lg_block)]));
    if (shown.passes->factors.size() > 1) append(factor_tables(*shown.passes));
  }
  if (shown.rounds) append(round_tables(*shown.rounds));
  lines.pop_back();
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

}  // namespace xorder::cli
