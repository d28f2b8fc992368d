#include "xorder/gf2/bit_matrix.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "xorder/error.hpp"

namespace xorder::gf2 {
namespace {

void check_size(std::int64_t rows, std::int64_t columns) {
  if (rows < 0 || rows > 64 || columns < 0 || columns > 64) {
    throw InputError(fmt::format("a bit matrix has at most 64 rows and columns, not {} × {}", rows, columns));
  }
}

}  // namespace

BitMatrix::BitMatrix(int rows, std::vector<Word> columns) : rows_(rows), columns_(std::move(columns)) {
  check_size(rows, static_cast<std::int64_t>(columns_.size()));
  for (const Word c : columns_) {
    if (c & ~low_mask(rows)) throw InputError(fmt::format("a column has bits beyond the {} rows", rows));
  }
}

BitMatrix BitMatrix::identity(int n) {
  BitMatrix m = zero(n, n);
  for (int i = 0; i < n; ++i) m.columns_[static_cast<std::size_t>(i)] = unit(i);
  return m;
}

BitMatrix BitMatrix::zero(int rows, int columns) {
  check_size(rows, columns);
  return BitMatrix(rows, std::vector<Word>(static_cast<std::size_t>(columns), 0));
}

BitMatrix BitMatrix::bit_permutation(std::span<const int> target) {
  const int n = static_cast<int>(target.size());
  check_size(n, n);
  std::vector<Word> columns;
  Word seen = 0;
  for (const int t : target) {
    if (t < 0 || t >= n || (seen & unit(t))) {
      throw InputError(fmt::format(
          "a permutation of {} bits must name each of 0 to {} once; {} is out of range or repeated", n, n - 1,
          t));
    }
    seen |= unit(t);
    columns.push_back(unit(t));
  }
  return BitMatrix(n, std::move(columns));
}

Word BitMatrix::operator()(Word x) const {
  Word y = 0;
  for (; x != 0; x &= x - 1) y ^= columns_[static_cast<std::size_t>(std::countr_zero(x))];
  return y;
}

BitMatrix BitMatrix::operator*(const BitMatrix& b) const {
  if (cols() != b.rows()) throw InputError(fmt::format("cannot compose {} bits with {}", cols(), b.rows()));
  std::vector<Word> product;
  for (const Word c : b.columns_) product.push_back((*this)(c));
  return BitMatrix(rows_, std::move(product));
}

BitMatrix BitMatrix::block(int row, int col, int rows, int cols) const {
  std::vector<Word> part;
  for (int j = 0; j < cols; ++j) part.push_back(row >= 64 ? 0 : (column(col + j) >> row) & low_mask(rows));
  return BitMatrix(rows, std::move(part));
}

int BitMatrix::rank() const {
  std::vector<Word> pivots(64, 0);
  int rank = 0;
  for (Word c : columns_) {
    while (c != 0) {
      Word& pivot = pivots[static_cast<std::size_t>(std::countr_zero(c))];
      if (pivot == 0) {
        pivot = c;
        ++rank;
        break;
      }
      c ^= pivot;
    }
  }
  return rank;
}

namespace {

// Column echelon form of A: each entry is a combination A·from = image with a lowest bit no other entry has.
struct Echelon {
  std::vector<std::pair<Word, Word>> by_pivot = std::vector<std::pair<Word, Word>>(64);  // (image, from)
  std::vector<Word> kernel;

  explicit Echelon(const BitMatrix& a) {
    for (int j = 0; j < a.cols(); ++j) {
      const auto [image, from] = reduce(a.column(j), unit(j));
      if (image == 0) {
        kernel.push_back(from);
      } else {
        by_pivot[static_cast<std::size_t>(std::countr_zero(image))] = {image, from};
      }
    }
  }
  // Adds entries to the image until it is 0 or no entry has its lowest bit.
  std::pair<Word, Word> reduce(Word image, Word from) const {
    for (Word left = image; left != 0;) {
      const auto& [pivot, source] = by_pivot[static_cast<std::size_t>(std::countr_zero(left))];
      if (pivot == 0) return {image, from};
      image ^= pivot;
      from ^= source;
      left = image;
    }
    return {image, from};
  }
};

}  // namespace

std::optional<Word> BitMatrix::solve(Word y) const {
  const auto [image, from] = Echelon(*this).reduce(y, 0);
  if (image != 0) return std::nullopt;
  return from;
}

std::optional<BitMatrix> BitMatrix::inverse() const {
  if (rows_ != cols()) return std::nullopt;
  const Echelon echelon(*this);
  if (!echelon.kernel.empty()) return std::nullopt;
  std::vector<Word> columns;
  for (int i = 0; i < rows_; ++i) columns.push_back(echelon.reduce(unit(i), 0).second);
  return BitMatrix(rows_, std::move(columns));
}

bool BitMatrix::is_bit_permutation() const {
  Word seen = 0;
  for (const Word c : columns_) {
    if (!std::has_single_bit(c) || (seen & c)) return false;
    seen |= c;
  }
  return rows_ == cols();
}

}  // namespace xorder::gf2
