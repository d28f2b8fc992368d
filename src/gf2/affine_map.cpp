#include "xorder/gf2/affine_map.hpp"

#include <fmt/format.h>

#include "xorder/error.hpp"

namespace xorder::gf2 {

AffineMap AffineMap::inverse() const {
  const auto a = matrix.inverse();
  if (!a) {
    throw InputError(
        fmt::format("the matrix is singular: its rank is {}, not {}", matrix.rank(), matrix.cols()));
  }
  return {*a, (*a)(complement)};
}

AffineMap operator*(const AffineMap& a, const AffineMap& b) { return {a.matrix * b.matrix, a(b.complement)}; }

int rank_gamma(const BitMatrix& a, int b) { return a.block(b, 0, a.rows() - b, b).rank(); }

}  // namespace xorder::gf2
