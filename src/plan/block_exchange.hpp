// How a matrix of K × K blocks is transposed by virtual processors, by total exchange on a hypercube
// (schedule/exchange.hpp) or on a mesh (schedule/mesh.hpp): what stays within processors is done first, from
// the input to the scratch file, and then the blocks trade places, in stripes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "plan/stripes.hpp"
#include "xorder/permutation/reordering.hpp"
#include "xorder/schedule/mesh.hpp"

namespace xorder::plan {

/// K × K blocks of a matrix of any shape, as equal as can be: block (i, j) has the rows [row(i), row(i + 1))
/// and the columns [column(j), column(j + 1)).
struct BlockMatrix {
  std::uint64_t rows = 0, columns = 0, blocks = 1;
  std::uint64_t element_bytes = 1;

  std::uint64_t row(std::uint64_t i) const { return begin(rows, i); }
  std::uint64_t column(std::uint64_t j) const { return begin(columns, j); }
  /// Where block (i, j) begins in the scratch file: block row by block row.
  std::uint64_t scratch(std::uint64_t i, std::uint64_t j) const {
    return (row(i) * columns + (row(i + 1) - row(i)) * column(j)) * element_bytes;
  }

 private:
  std::uint64_t begin(std::uint64_t extent, std::uint64_t k) const {
    return extent / blocks * k + std::min(k, extent % blocks);
  }
};

/// The matrix, of one block, whose transposition a reordering is; nothing if it is none.
std::optional<BlockMatrix> transposed_matrix(const Reordering& what);

/// Of 2^d × 2^d blocks. A bit reversal is one, too: of 2^d rows and 2^d columns, of which everything else is
/// in the middle.
struct ExchangePlan {
  Reordering within;  ///< first: what goes into a slot lies together, its rows in the order of the output's
  StripePlan stripes;
};
/// Throws InputError unless it is a transposition or a bit reversal of powers of two, for a number of
/// processors that does not fit, and if the memory is too small.
ExchangePlan plan_exchange(const Reordering& what, const ProcessorConditions& conditions);

/// Of N × N blocks of any matrix.
struct MeshPlan {
  BlockMatrix within;  ///< first: each of its blocks is transposed, and lies together in the scratch file
  StripePlan stripes;
};
/// Throws InputError unless it is a transposition, for a number of processors that is no square or does not
/// fit, and if the memory is too small.
MeshPlan plan_mesh(const Reordering& what, schedule::Mesh::Routing routing,
                   const ProcessorConditions& conditions);

}  // namespace xorder::plan
