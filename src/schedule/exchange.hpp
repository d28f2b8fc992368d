// Total exchange on a hypercube with all links busy in every step, in place: matrix transposition and bit
// reversal by neighbour exchanges only (Edelman, "Optimal matrix transposition and bit reversal on
// hypercubes: all-to-all personalized communication", J. Parallel Distrib. Comput., 1991).
//
// There are 2^d nodes of 2^d slots each. For a transposition, what lies in slot l of node v must go to slot v
// of node l, over the dimensions in which v and l differ, w = v ⊕ l. If node v and its neighbour over
// dimension j both send each other the word in the slot (w ⊕ own number), both words keep their w. So w alone
// describes a word, which must cross each dimension of w once. In step i, dimension j is crossed by the words
// with
//
//   w(i, j): start from 2i + 1; if j < d−1 flip bit j + 1; swap bits 0 and j.
//
// Bit j of w(i, j) is 1. A row's entries differ (no word is sent twice in a step). A column's entries differ,
// so each w occurs once for each of its bits. The 2^(d−1) steps of d entries use every link in every step.
//
//   d = 3       j = 0  1  2
//     step 0        3  6  4
//     step 1        1  7  6
//     step 2        7  2  5
//     step 3        5  3  7
//
// Bit reversal of the index (node, slot), of 2d bits, has the same words, but in slot Rev(w ⊕ v) of node v.
// (The paper's footnote has another rule for it, which fails as printed for d ≥ 2.)
#pragma once

#include <string>

#include "xorder/schedule/exchange_array.hpp"
#include "xorder/schedule/schedule.hpp"

namespace xorder::schedule {

/// 2^(d−1), and 0 for d = 0.
std::uint64_t exchange_steps(int d);
/// w(step, j) for dimension d. Requires 0 ≤ j < d ≤ 63 and step < 2^(d−1).
std::uint64_t exchanged_word(std::uint64_t step, int j, int d);

/// The theorem's conditions. Each is empty if the array meets it, and otherwise says where it first fails.
/// conditions() requires whole rows.
struct ArrayConditions {
  std::string links;    ///< w(i, j) is below 2^d, and its bit j is 1
  std::string rows;     ///< the words of a row differ
  std::string columns;  ///< the words of a column differ, and every word with bit j is in column j
  bool hold() const { return links.empty() && rows.empty() && columns.empty(); }
};
ArrayConditions conditions(const ExchangeArray& array);

class Exchange final : public Schedule {
 public:
  enum class Kind { transposition, bit_reversal };
  /// 0 ≤ dimension ≤ 20 (InputError otherwise). No steps if it is 0.
  Exchange(int dimension, Kind kind);
  /// By another array, whether or not it meets the conditions: one step for each row. Throws InputError if
  /// words.size() is not a multiple of the dimension, or a word has bits beyond it.
  Exchange(ExchangeArray array, Kind kind);

  /// w(step, j), of this array.
  std::uint64_t word(std::uint64_t step, int j) const;
  Kind kind() const { return kind_; }
  void messages(std::uint64_t step, std::vector<Message>& out) const override;
  std::optional<Place> goal(Place start) const override;
  Load load(std::uint64_t step) const override;
  Load total() const override;

 private:
  Exchange(const Network& hypercube, Kind kind, std::uint64_t steps, ExchangeArray array);

  Kind kind_;
  ExchangeArray array_;  // its dimension is 0 for the closed form
};

}  // namespace xorder::schedule
