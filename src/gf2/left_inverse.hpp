// Undoes an injective map.
#pragma once

#include <vector>

#include "gf2/subspace.hpp"
#include "xorder/gf2/bit_matrix.hpp"

namespace xorder::gf2 {

/// B with B A x = x. What B does outside the image of A is unspecified. Requires an injective A.
inline BitMatrix left_inverse(const BitMatrix& a) {
  if (a.rows() == a.cols()) return *a.inverse();
  std::vector<Word> columns = a.columns();
  Subspace image = Subspace::span(columns);
  for (int i = 0; i < a.rows(); ++i) {
    if (image.add(unit(i))) columns.push_back(unit(i));
  }
  return BitMatrix(a.rows(), columns).inverse()->block(0, 0, a.cols(), a.rows());
}

}  // namespace xorder::gf2
