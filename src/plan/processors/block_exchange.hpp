// How virtual processors transpose a matrix of K × K blocks, by total exchange on a hypercube
// (schedule/exchange.hpp) or on a mesh or torus (schedule/mesh/mesh.hpp, torus.hpp). First each
// block is reordered within its processor, from the input to the scratch file. Then the blocks trade
// places, in stripes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "plan/processors/stripes.hpp"
#include "schedule/mesh/mesh.hpp"
#include "xorder/permutation/reordering.hpp"
#include "xorder/schedule/exchange_array.hpp"

namespace xorder::plan {

/// K × K blocks of a matrix of any shape, as equal as possible: block (i, j) has the rows
/// [row(i), row(i + 1)) and the columns [column(j), column(j + 1)).
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

/// The matrix, as a single block, that a reordering transposes; nothing if it is no transposition.
std::optional<BlockMatrix> transposed_matrix(const Reordering& what);

/// The exchange of 2^d × 2^d blocks. A bit reversal is one too: block (r, c) has the elements whose indices
/// have r in their top d bits and c in their lowest d bits.
struct ExchangePlan {
  Reordering within;  ///< the first pass: collects what goes into a slot, its rows in the output's order
  StripePlan stripes;
};
/// By the closed form, or by an array of 2^d processors. Throws InputError unless it is a transposition or a
/// bit reversal of powers of two, for a number of processors that does not fit, and if the memory is too
/// small; Error if the array does not do it.
ExchangePlan plan_exchange(const Reordering& what, const ProcessorSetting& setting,
                           const std::optional<schedule::ExchangeArray>& array = {});

/// The exchange of N × N blocks of any matrix.
struct MeshPlan {
  BlockMatrix within;  ///< the first pass transposes each of its blocks, contiguous in the scratch file
  StripePlan stripes;
};
/// Throws InputError unless it is a transposition, for a number of processors that is not a square or does
/// not fit, and if the memory is too small.
MeshPlan plan_mesh(const Reordering& what, schedule::Mesh::Routing routing, bool torus,
                   const ProcessorSetting& setting);

}  // namespace xorder::plan
