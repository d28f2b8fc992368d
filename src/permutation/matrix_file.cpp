#include <fmt/format.h>

#include <optional>
#include <vector>

#include "text/count_text.hpp"
#include "permutation/quote.hpp"
#include "text/utf8.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/bmmc.hpp"
#include "xorder/permutation/expression.hpp"

namespace xorder {
namespace {

using gf2::Word;

bool separates_digits(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// One row of digits, least significant first.
struct Digits {
  Word bits = 0;
  int count = 0;
};

class MatrixParser {
 public:
  MatrixParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  gf2::AffineMap parse() {
    while (!text_.empty()) {
      next_line();
      parse_line();
    }
    return finish();
  }

 private:
  void next_line() {
    const std::size_t end = text_.find('\n');
    line_ = text_.substr(0, end);
    text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
    ++line_number_;
  }

  void parse_line() {
    const std::size_t first = skip_blanks(0);
    if (first == line_.size() || line_[first] == '#') return;
    if (complement_) fail(first, "expected nothing after the complement");
    if (line_[first] == 'c') {
      if (rows_.empty()) fail(first, "expected the first row of the matrix before the complement");
      complement_ = digits(skip_blanks(first + 1)).bits;
    } else {
      rows_.push_back(digits(first).bits);
      if (rows_.size() > static_cast<std::size_t>(columns_)) {
        fail(first,
             fmt::format("expected {0} rows, as the rows have {0} columns, and found one more", columns_));
      }
    }
  }

  // The rest of the line from `at` on. The first row says how many digits each line has.
  Digits digits(std::size_t at) {
    Digits row;
    for (; at < line_.size(); at = skip_blanks(at + 1)) {
      if (line_[at] != '0' && line_[at] != '1') {
        fail(at, fmt::format("expected 0 or 1, found {}", quoted_character(line_, at)));
      }
      if (row.count == bmmc::max_bits) fail(at, fmt::format("expected at most {} digits", bmmc::max_bits));
      if (line_[at] == '1') row.bits |= gf2::unit(row.count);
      ++row.count;
    }
    if (rows_.empty()) columns_ = row.count;
    if (row.count != columns_) {
      fail(line_.size(),
           fmt::format("expected {} digits, as in the first row, found {}", columns_, row.count));
    }
    return row;
  }

  gf2::AffineMap finish() const {
    if (rows_.empty()) throw InputError(fmt::format("{}: expected rows of 0 and 1, found none", name_));
    const int n = static_cast<int>(rows_.size());
    if (n != columns_) {
      throw InputError(fmt::format("{}: the matrix has {} and {}; it must be square", name_,
                                   count_text(rows_.size(), "row"), count_text(columns_, "column")));
    }
    std::vector<Word> columns(rows_.size(), 0);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) columns[j] |= (rows_[i] >> j & 1) << i;
    }
    const gf2::BitMatrix matrix(n, columns);
    if (const int rank = matrix.rank(); rank != n) {
      throw InputError(fmt::format("{}: the matrix is singular: its rank is {}, not {}", name_, rank, n));
    }
    return {matrix, complement_.value_or(0)};
  }

  std::size_t skip_blanks(std::size_t at) const {
    while (at < line_.size() && separates_digits(line_[at])) ++at;
    return at;
  }

  [[noreturn]] void fail(std::size_t at, const std::string& what) const {
    throw InputError(
        fmt::format("{}: line {}, column {}: {}", name_, line_number_, character_number(line_, at), what));
  }

  std::string_view text_;  // what follows line_
  const std::string& name_;
  std::string_view line_;
  int line_number_ = 0;
  int columns_ = 0;
  std::vector<Word> rows_;
  std::optional<Word> complement_;
};

}  // namespace

gf2::AffineMap parse_matrix(std::string_view text, const std::string& name) {
  return MatrixParser(without_byte_order_mark(text), name).parse();
}

}  // namespace xorder
