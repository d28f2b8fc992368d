// Reordering arrays in memory, at a speed near that of copying them.
//
// A plan is made once from what is to be done, and executed as often as one likes:
//
//     const InMemoryPlan plan(transposition({{rows, columns}, 8, Order::c}, {}));
//     plan.execute(source, target);
//
// An array is cut into tiles that fit in the first-level cache and consist of whole cache lines on both
// sides: cosets for BMMC permutations, boxes for axis permutations. Each is read once, permuted in registers
// and written once, past the cache if the array is larger than that. Arrays on huge pages (madvise) and at
// addresses that are multiples of 64 go faster; no alignment is required.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "xorder/permutation/reordering.hpp"

namespace xorder::memory {

class Engine;

/// How to reorder arrays of one shape. Immutable: several threads may execute one plan at once, on different
/// arrays.
class InMemoryPlan {
 public:
  /// Costs some microseconds, and no thread. Throws InputError for a reordering that is not well formed.
  explicit InMemoryPlan(const Reordering& what);
  InMemoryPlan(InMemoryPlan&&) noexcept;
  InMemoryPlan& operator=(InMemoryPlan&&) noexcept;
  ~InMemoryPlan();

  /// Copies what.bytes() bytes from `source` to `target`, every element to its place: element x of the source
  /// becomes element what.target_index(x) of the target. The two do not overlap. `threads` 0: all processors;
  /// a small array is permuted by the calling thread alone. Reads and writes every byte about once; allocates
  /// a first-level cache's worth for each thread.
  void execute(const std::byte* source, std::byte* target, unsigned threads = 0) const;

  /// The same where the array lies: element x becomes element what.target_index(x) of the same array. Maps
  /// that permute tiles (those that are their own inverse: a square transposition of powers of two, bit
  /// reversal, reversal; Gray code; ..) move tiles of elements of 1, 2, 4, 8, 16, 32 .. bytes along their
  /// cycles and need no more memory than execute(); the first call makes the plan for that. All others are
  /// permuted into an array of what.bytes(), which is allocated here, and copied back; throws std::bad_alloc,
  /// with nothing done, if there is no room for it.
  void execute_in_place(std::byte* array, unsigned threads = 0) const;

  /// One line for people: the kind of tiles and their sizes.
  std::string describe() const;

 private:
  Reordering what_;  // canonical
  std::unique_ptr<const Engine> engine_;
  struct InPlace;
  std::unique_ptr<InPlace> in_place_;
};

/// These make a plan and execute it.
void permute(const Reordering& what, const std::byte* source, std::byte* target, unsigned threads = 0);
void permute_in_place(const Reordering& what, std::byte* array, unsigned threads = 0);

}  // namespace xorder::memory
