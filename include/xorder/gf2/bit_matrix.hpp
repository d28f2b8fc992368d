// Matrices over GF(2), the two-element field in which + is xor and · is and.
//
// An index x of an array of 2^n elements is read as a vector of n bits, bit 0 the least significant. A matrix
// is kept as columns, each packed in a word, so that A x is the xor of the columns that x's set bits select:
//
//          source bit  0 1 2
//   A = target bit 0 [ 0 1 0 ]     columns: 0b010, 0b101, 0b100 (row 0 is the lowest bit)
//                  1 [ 1 0 0 ]
//                  2 [ 0 1 1 ]     A·0b011 = column 0 ^ column 1 = 0b111
//
// Moving an index bit elsewhere is a permutation matrix; Gray code, Morton order and every other reordering
// that xors index bits together is a denser one. Composition is the matrix product and undoing is the
// inverse: that is all the algebra the rest of xorder needs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace xorder::gf2 {

/// A vector of up to 64 bits.
using Word = std::uint64_t;

/// The word with the low `bits` bits set; bits ≤ 64.
constexpr Word low_mask(int bits) { return bits >= 64 ? ~Word{0} : (Word{1} << bits) - 1; }
/// The unit vector e_i.
constexpr Word unit(int i) { return Word{1} << i; }
/// The sum over GF(2) of the bits of x: 0 or 1.
inline Word parity(Word x) { return static_cast<Word>(__builtin_parityll(x)); }

/// A rows × columns matrix, at most 64 each way. Every operation costs at most O(64²) word operations.
class BitMatrix {
 public:
  BitMatrix() = default;
  /// `columns[j]` holds column j; bits at `rows` and above must be 0. Throws InputError otherwise.
  BitMatrix(int rows, std::vector<Word> columns);
  static BitMatrix identity(int n);
  static BitMatrix zero(int rows, int columns);
  /// The matrix that sends source bit i to target bit `target[i]`; `target` must be a permutation of 0..n−1.
  static BitMatrix bit_permutation(std::span<const int> target);

  int rows() const { return rows_; }
  int cols() const { return static_cast<int>(columns_.size()); }
  Word column(int j) const { return columns_[static_cast<std::size_t>(j)]; }
  const std::vector<Word>& columns() const { return columns_; }
  bool at(int row, int col) const { return (column(col) >> row) & 1; }

  /// A x.
  Word operator()(Word x) const;
  /// The product: first b, then *this. Requires cols() = b.rows().
  BitMatrix operator*(const BitMatrix& b) const;
  bool operator==(const BitMatrix&) const = default;

  /// The rows × cols part whose top left corner is (row, col).
  BitMatrix block(int row, int col, int rows, int cols) const;
  int rank() const;
  /// Nothing if the matrix is singular or not square.
  std::optional<BitMatrix> inverse() const;
  /// Some x with A x = y, or nothing if y is not in the image.
  std::optional<Word> solve(Word y) const;
  /// Every row and every column has exactly one 1.
  bool is_bit_permutation() const;

 private:
  int rows_ = 0;
  std::vector<Word> columns_;
};

}  // namespace xorder::gf2
