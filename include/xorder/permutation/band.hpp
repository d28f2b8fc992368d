// Band storage of a square matrix, and what its transposition does to the file.
//
// Only the diagonals −KU ≤ i − j ≤ KL of the N × N matrix a are stored, B = KL + KU + 1 of them, in one of
// four orders. By column, diagonals are numbered from the uppermost one, k = KU + i − j:
//
//   columns         an array (N, B): record j is column j, element [j, k] is a[j − KU + k, j]
//   diagonals       an array (B, N): record k is a diagonal, element [k, j] is a[j − KU + k, j]; this is the
//                   `ab` of LAPACK and SciPy (solve_banded), ab[KU + i − j, j] = a[i, j]
//
// By row, they are numbered from the lowest one, k = KL + j − i:
//
//   rows            an array (N, B): record i is row i, element [i, k] is a[i, i − KL + k]; this is the band
//                   of CBLAS with CblasRowMajor
//   row_diagonals   an array (B, N): element [k, i] is a[i, i − KL + k]; this is the DIA format of Saad's
//                   SPARSKIT with all diagonals from −KL to KU
//
// Example: N = 4, KL = 1, KU = 2, written ij for a[i, j], and * for a place that is *unused*:
//
//   00 01 02  0          columns            diagonals          rows               row_diagonals
//   10 11 12 13          *  *  00 10        *  *  02 13        *  00 01 02        *  10 21 32
//    0 21 22 23          *  01 11 21        *  01 12 23        10 11 12 13        00 11 22 33
//    0  0 32 33          02 12 22 32        00 11 22 33        21 22 23 *         01 12 23 *
//                        13 23 33 *         10 21 32 *         32 33 *  *         02 13 *  *
//
// A matrix stored by row and its transposition stored by column are the same array. So code for storage by
// column serves storage by row too (by_columns()). And to transpose a matrix stored by column is to store it
// by row.
//
// In a *cyclic* band i − j is taken modulo N: the band continues in the matrix's corners, and no place is
// unused.
//
// The transposed matrix has KL and KU exchanged. In the numbers (i, k') of its storage by column,
//
//   (j, k)  goes to  (i, k') = (j + k − KU, B − 1 − k),
//
// where the first number is taken modulo N if the band is cyclic. This is a shear and a reflection. In the
// order `diagonals` it exchanges whole records and shifts each. Where i (or j, seen from the target) is
// outside the matrix, the place is unused: the source's content there is ignored, and the target holds zeros.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace xorder {

enum class BandOrder { columns, rows, diagonals, row_diagonals };

/// The storage of a band.
struct Band {
  std::uint64_t n = 1;      ///< N
  std::uint64_t lower = 0;  ///< KL: diagonals below the main one
  std::uint64_t upper = 0;  ///< KU: diagonals above it
  bool cyclic = false;
  BandOrder order = BandOrder::columns;

  bool operator==(const Band&) const = default;

  /// B: how many diagonals are stored.
  std::uint64_t width() const { return lower + upper + 1; }
  std::uint64_t places() const { return n * width(); }
  /// (N, B) or (B, N).
  std::vector<std::uint64_t> extents() const;
  /// Whether the records are diagonals.
  bool of_diagonals() const { return order == BandOrder::diagonals || order == BandOrder::row_diagonals; }
  bool by_row() const { return order == BandOrder::rows || order == BandOrder::row_diagonals; }
  /// The storage of the transposed matrix.
  Band transposed() const { return {n, upper, lower, cyclic, order}; }
  /// The same array, taken as storage in `columns` or `diagonals`: of this matrix or, if this storage is by
  /// row, of its transposition. Transposing does the same to the file either way.
  Band by_columns() const;

  /// An element of the matrix.
  struct Entry {
    std::uint64_t row = 0, column = 0;
    bool operator==(const Entry&) const = default;
  };
  /// What lies at a place, a linear index < places() into the storage; nothing if that place is unused.
  std::optional<Entry> entry(std::uint64_t place) const;
  /// Where an element of the matrix lies; nothing if it is not in the band. Requires row, column < n.
  std::optional<std::uint64_t> place(Entry entry) const;

  /// Where the transposition puts what lies at the place `source` of this storage: a place of transposed().
  /// Nothing if the place is unused.
  std::optional<std::uint64_t> target(std::uint64_t source) const;
  /// Its inverse: the place whose content goes to the place `target` of transposed(). If there is none, the
  /// target holds zero.
  std::optional<std::uint64_t> source(std::uint64_t target) const { return transposed().target(target); }
};

/// Throws InputError, which names both numbers, unless B ≤ N. So N = 0 throws too.
void check(const Band& band);

/// Checks several matrices whose storages lie one after the other in an array. Throws InputError unless there
/// is at least one, each passes check(), and all have the same N and order.
void check(std::span<const Band> bands);
std::uint64_t places(std::span<const Band> bands);
/// The shape of that array. For one matrix it is the shape of its storage. For several it is their number
/// followed by the shape of one, if all have the same width, and a single axis otherwise.
std::vector<std::uint64_t> extents(std::span<const Band> bands);

}  // namespace xorder
