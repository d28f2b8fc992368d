#include "gf2/subspace.hpp"

#include <algorithm>
#include <bit>

namespace xorder::gf2 {
namespace {

Word top_bit(Word x) { return std::bit_floor(x); }

}  // namespace

Subspace Subspace::span(std::span<const Word> vectors) {
  Subspace s;
  for (const Word v : vectors) s.add(v);
  return s;
}

Subspace Subspace::low_bits(int b) {
  Subspace s;
  for (int i = 0; i < b; ++i) s.basis_.push_back(unit(i));
  return s;
}

bool Subspace::contains(const Subspace& other) const {
  return std::ranges::all_of(other.basis_, [this](Word v) { return contains(v); });
}

bool Subspace::add(Word x) {
  x = reduce(x);
  if (x == 0) return false;
  const Word pivot = top_bit(x);
  for (Word& v : basis_) {
    if (v & pivot) v ^= x;
  }
  basis_.insert(std::ranges::upper_bound(basis_, pivot, {}, top_bit), x);
  return true;
}

Word Subspace::reduce(Word x) const {
  for (const Word v : basis_) {
    if (x & top_bit(v)) x ^= v;
  }
  return x;
}

Word Subspace::pivots() const {
  Word bits = 0;
  for (const Word v : basis_) bits |= top_bit(v);
  return bits;
}

Subspace Subspace::image(const BitMatrix& a) const {
  Subspace s;
  for (const Word v : basis_) s.add(a(v));
  return s;
}

Subspace operator+(Subspace a, const Subspace& b) {
  for (const Word v : b.basis_) a.add(v);
  return a;
}

// Zassenhaus, with the two halves in two words: run (v, v) for v in a and (v, 0) for v in b through one
// elimination on the first half; where the first half vanishes, the second is in both.
Subspace intersection(const Subspace& a, const Subspace& b) {
  std::vector<std::pair<Word, Word>> rows;
  Subspace common;
  const auto insert = [&](Word first, Word second) {
    for (const auto& [pivot, tail] : rows) {
      if (first & top_bit(pivot)) {
        first ^= pivot;
        second ^= tail;
      }
    }
    if (first == 0) {
      common.add(second);
    } else {
      rows.emplace_back(first, second);
      std::ranges::sort(rows, std::greater{}, [](const auto& row) { return top_bit(row.first); });
    }
  };
  for (const Word v : a.basis_) insert(v, v);
  for (const Word v : b.basis_) insert(v, 0);
  return common;
}

}  // namespace xorder::gf2
