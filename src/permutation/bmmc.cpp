#include "xorder/permutation/bmmc.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "text/count_text.hpp"
#include "xorder/error.hpp"

namespace xorder::bmmc {
namespace {

using gf2::BitMatrix;
using gf2::Word;

void check_bits(std::int64_t n) {
  if (n < 0 || n > max_bits) {
    throw InputError(fmt::format("an index has 0 to {} bits, not {}", max_bits, n));
  }
}

// Source bit i goes to target bit target_of(i).
template <class TargetOf>
AffineMap permute_bits(int n, TargetOf target_of) {
  check_bits(n);
  std::vector<int> target;
  for (int i = 0; i < n; ++i) target.push_back(target_of(i));
  return {BitMatrix::bit_permutation(target), 0};
}

}  // namespace

AffineMap identity(int n) {
  check_bits(n);
  return AffineMap::identity(n);
}

// The index is r·2^lg_cols + c. In c·2^lg_rows + r every bit has moved up by lg_rows, and those of r have
// wrapped around.
AffineMap transpose(int lg_rows, int lg_cols) {
  check_bits(lg_rows);
  check_bits(lg_cols);
  return rotate(lg_rows + lg_cols, lg_rows);
}

AffineMap bit_reverse(int n) {
  return permute_bits(n, [n](int i) { return n - 1 - i; });
}

AffineMap reverse(int n) {
  check_bits(n);
  return exclusive_or(n, gf2::low_mask(n));
}

AffineMap gray(int n) {
  check_bits(n);
  std::vector<Word> columns;
  for (int i = 0; i < n; ++i) columns.push_back(gf2::unit(i) ^ (gf2::unit(i) >> 1));
  return {BitMatrix(n, std::move(columns)), 0};
}

AffineMap shuffle(int n) { return rotate(n, 1); }

AffineMap rotate(int n, int k) {
  check_bits(n);
  const int shift = n == 0 ? 0 : (k % n + n) % n;
  return permute_bits(n, [=](int i) { return (i + shift) % n; });
}

// Row-major, bit i of the k-th dimension from the end is bit k·(n/d) + i of the index; in Z order it is bit
// i·d + k.
AffineMap morton(int n, int dimensions) {
  check_bits(n);
  if (dimensions < 1) throw InputError(fmt::format("morton needs at least 1 dimension, not {}", dimensions));
  if (n % dimensions != 0) {
    throw InputError(
        fmt::format("morton({}) needs {} dimensions of equally many bits: the index has {}, "
                    "which is not a multiple of {}",
                    dimensions, dimensions, count_text(n, "bit"), dimensions));
  }
  const int each = n / dimensions;
  return permute_bits(n, [=](int bit) { return bit % each * dimensions + bit / each; });
}

AffineMap bits(std::span<const int> sources) {
  check_bits(static_cast<std::int64_t>(sources.size()));
  const int n = static_cast<int>(sources.size());
  std::vector<int> target(sources.size(), -1);
  for (int i = 0; i < n; ++i) {
    const int source = sources[i];
    if (source < 0 || source >= n) {
      throw InputError(fmt::format("there is no bit {} among {} bits (0 to {})", source, n, n - 1));
    }
    if (target[source] >= 0) {
      throw InputError(
          fmt::format("bit {} is named twice; each of the bits 0 to {} must be named once", source, n - 1));
    }
    target[source] = i;
  }
  return {BitMatrix::bit_permutation(target), 0};
}

AffineMap exclusive_or(int n, Word c) {
  check_bits(n);
  if (c & ~gf2::low_mask(n))
    throw InputError(fmt::format("{:#x} has more than the {} bits of the index", c, n));
  return {BitMatrix::identity(n), c};
}

}  // namespace xorder::bmmc
