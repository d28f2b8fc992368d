// How an array that is distributed over ranks is permuted. A plan is made once, on each rank, without
// communication. It can be performed with any size of element, on any data, in any communicator of its number
// of ranks.
//
// A rank first permutes what it holds, from `data` to `temp`, so that what it sends to a rank lies together
// in the order in which the receiver wants it. Then the ranks exchange, from `temp` to `data`: long pieces
// are received in their places, others are put there from a buffer, and those that interleave with the pieces
// of other ranks are merged. If none of this suits, elements are exchanged within `temp`, and permuted once
// more, from `temp` to `data`.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>

#include "mpi/transfer.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::mpi {

/// What one rank does. A missing reordering means that nothing is to be done.
struct Steps {
  std::optional<Reordering> before;    ///< from data to temp
  std::unique_ptr<Transfer> transfer;  ///< from temp to data, or, if `after` follows, within temp
  std::optional<Reordering> after;     ///< from temp to data
};

/// Immutable: several threads and several runs may use one.
class Plan {
 public:
  virtual ~Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  int ranks() const { return ranks_; }
  /// A hash of the permutation and its distribution. Those of different ones are equal with a probability of
  /// about 2^-64.
  std::uint64_t digest() const { return digest_; }
  /// Whether no element changes its place.
  virtual bool does_nothing() const = 0;
  /// The elements that a rank holds before and after, rank < ranks(). data and temp have room for the larger
  /// number.
  virtual std::uint64_t elements_before(int rank) const = 0;
  virtual std::uint64_t elements_after(int rank) const = 0;
  /// Allocates what the steps need, except for a few KiB. Requires that a rank's elements have less than 2^63
  /// bytes, and 1 ≤ slice_bytes ≤ INT_MAX. The plan must outlive the steps. O(ranks) time.
  virtual Steps steps(int rank, std::uint64_t element_bytes, std::uint64_t slice_bytes) const = 0;

 protected:
  explicit Plan(int ranks) : ranks_(ranks) {}
  /// Call these for everything that distinguishes the permutation from others.
  void add_to_digest(std::uint64_t word);
  void add_to_digest(std::span<const std::uint64_t> words);

 private:
  int ranks_;
  std::uint64_t digest_ = 0xcbf29ce484222325;
};

/// y = A x ⊕ c of 2^n elements over 2^p ranks, the rank in bits `lowest_rank_bit` .. +p−1 of an index, in
/// rounds (schedule/rounds.hpp). Throws InputError if the matrix is singular, if there are more ranks than
/// elements, if their number is not a power of two or more than 2^20, or if the bits do not fit. O(n³) word
/// operations.
std::unique_ptr<const Plan> plan_rounds(const gf2::AffineMap& map, int ranks, int lowest_rank_bit);

/// numpy.transpose(array, axes) of an array in C order. Before and after, each rank holds a slab along the
/// slowest axis: if that has extent E, rank k has the coordinates slab_begin(E, ranks, k) ..
/// slab_begin(E, ranks, k+1)−1. Throws InputError as transposition() does, and unless ranks ≥ 1.
std::unique_ptr<const Plan> plan_slabs(std::span<const std::uint64_t> shape, std::span<const int> axes,
                                       int ranks);

/// ⌊extent · rank / ranks⌋.
std::uint64_t slab_begin(std::uint64_t extent, int ranks, int rank);

}  // namespace xorder::mpi
