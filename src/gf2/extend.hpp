// Maps that also leave further bits where they are.
#pragma once

#include <vector>

#include "xorder/gf2/affine_map.hpp"

namespace xorder::gf2 {

/// With `bits` more bits at the lower end.
inline BitMatrix with_low_bits(const BitMatrix& a, int bits) {
  std::vector<Word> columns = BitMatrix::identity(bits).columns();
  for (const Word column : a.columns()) columns.push_back(column << bits);
  return BitMatrix(a.rows() + bits, std::move(columns));
}
inline AffineMap with_low_bits(const AffineMap& map, int bits) {
  return {with_low_bits(map.matrix, bits), map.complement << bits};
}

/// With `bits` more bits at the upper end. Requires a square matrix.
inline AffineMap with_high_bits(const AffineMap& map, int bits) {
  std::vector<Word> columns = map.matrix.columns();
  for (int i = 0; i < bits; ++i) columns.push_back(unit(map.bits() + i));
  return {BitMatrix(map.bits() + bits, std::move(columns)), map.complement};
}

}  // namespace xorder::gf2
