// Reorders arrays in memory, almost as fast as memcpy copies them.
//
// Make a plan once and execute it any number of times:
//
//     const InMemoryPlan plan(transposition({{rows, columns}, 8, Order::c}, {}));
//     plan.execute(source, target);  // std::vector<double>, std::span, std::array, or pointers
//
// Either array may be a part of a larger one, or lie backwards: a plan can be made with strides, as NumPy has
// them.
//
// An array is divided into tiles that fit in a cache and consist of whole cache lines on both
// sides: cosets for BMMC permutations, boxes for axis permutations. Each tile is read once, permuted in
// registers and written once, past the cache if the array is larger than the cache. No alignment is required,
// but arrays on huge pages (madvise) and at multiples of 64 bytes are faster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "xorder/permutation/reordering.hpp"

namespace xorder::memory {

class Engine;
struct StridedCopy;

/// Types that are moved by copying their bytes.
template <typename T>
concept Element = std::is_trivially_copyable_v<T>;
/// Arrays that know their size: std::vector, std::span, std::array.
template <typename Array>
concept Elements = std::ranges::contiguous_range<Array> && std::ranges::sized_range<Array> &&
    Element<std::ranges::range_value_t<Array>>;
/// Both of elements of one type.
template <typename Source, typename Target>
concept Alike = Elements<Source> && Elements<Target> &&
    std::is_same_v<std::ranges::range_value_t<Source>, std::ranges::range_value_t<Target>>;

/// A plan for arrays of one shape. Immutable: several threads may execute one plan at once, on different
/// arrays.
class InMemoryPlan {
 public:
  /// Takes some microseconds and starts no thread. Throws InputError if the reordering is not well formed.
  explicit InMemoryPlan(const Reordering& what);
  /// numpy.transpose(a, axes) between arrays that may be parts of larger ones, or lie backwards. A step along
  /// an axis goes on by its stride, in bytes: source.strides has one for each axis of the source, and
  /// `target_strides` one for each axis of the target. None at all mean an array without gaps, a target in C
  /// order. Takes some microseconds. Throws InputError for `axes` and the size as transposition() does, and
  /// unless strides are such that no elements overlap and axes are nested: one step along an axis passes by
  /// all that the axes with shorter steps reach.
  InMemoryPlan(const ArrayShape& source, std::span<const int> axes,
               const std::vector<std::int64_t>& target_strides);
  InMemoryPlan(InMemoryPlan&&) noexcept;
  InMemoryPlan& operator=(InMemoryPlan&&) noexcept;
  ~InMemoryPlan();

  /// Copies bytes() bytes from `source` to `target`, every element to its place: element x of the source
  /// becomes element what.target_index(x) of the target. The two must not overlap. `threads` 0 means all
  /// processors. The calling thread permutes small arrays alone. Reads and writes every byte about once.
  /// Allocates at most about the size of a second-level cache for each thread, of which a thread keeps up to
  /// 1 MiB until it ends; throws std::bad_alloc, with an unfinished target, if there is not so much.
  ///
  /// With strides, both pointers are to the element with all indices 0. What lies between elements of the
  /// target is not written, so another thread may write it meanwhile; what lies between those of the source
  /// may be read. Long rows of the source, and long runs of the target, are as fast as without gaps.
  void execute(const std::byte* source, std::byte* target, unsigned threads = 0) const;
  /// The same for elements of any type that is moved by copying bytes.
  template <Element T>
  void execute(const T* source, T* target, unsigned threads = 0) const {
    execute(reinterpret_cast<const std::byte*>(source), reinterpret_cast<std::byte*>(target), threads);
  }
  /// The same for arrays that know their size. Throws InputError unless each has bytes() bytes, if they
  /// overlap, and if the plan was made with strides.
  template <typename Source, typename Target>
  requires Alike<Source, Target>
  void execute(const Source& source, Target&& target, unsigned threads = 0) const {
    execute_checked(std::as_bytes(std::span(source)), std::as_writable_bytes(std::span(target)), threads);
  }

  /// The same in place: element x becomes element what.target_index(x) of the same array.
  ///
  /// Some reorderings read and write it once: the exchange of two axes of one extent (a square
  /// transposition); maps that permute tiles, as those do that are their own inverse (bit reversal) and Gray
  /// code; and batches, in which the slowest axis stays, of parts of up to 2 MiB, or 4 MiB if the third-level
  /// cache has 32 MiB. Other maps of at least 64 bytes, of elements of 1, 2, 4, 8, 16, 32 .. bytes, read and
  /// write it twice, and so do two such exchanges (three equal axes rotated). All these need up to about 4
  /// MiB for each thread and 2 MiB for all. A matrix of any other shape is read and written twice as well,
  /// and needs mostly 1/64 of its size, up to 1/20 for small ones of small elements, and up to 4 MiB for each
  /// thread (more if its shorter side has many thousand elements: at most 192 bytes for each, or its own
  /// size); three axes reversed are two such matrices. Everything else, and small arrays that would be
  /// written twice, are permuted into a second array and copied back, batches part by part.
  ///
  /// This memory is allocated first: throws std::bad_alloc with nothing done. Batches also allocate the
  /// buffers of execute(); without memory for these they are finished element by element. With several
  /// threads and at least 2 MiB, some KiB are allocated later; if that fails, throws std::bad_alloc with the
  /// array partly permuted. The first call of this or of describe_in_place() plans the work in place. Both
  /// throw InputError if the plan was made with strides.
  void execute_in_place(std::byte* array, unsigned threads = 0) const;
  template <Elements Array>
  void execute_in_place(Array&& array, unsigned threads = 0) const {
    const auto bytes = std::as_writable_bytes(std::span(array));
    check(bytes);
    execute_in_place(bytes.data(), threads);
  }

  /// The size of all elements.
  std::uint64_t bytes() const;
  /// Whether a source and a target at these places have bytes in common, so that execute() would not do. They
  /// may interleave, as two parts of one matrix do; but if their strides are such that the parts of one do
  /// not lie in the gaps of the other alike, the answer is yes although there may be none.
  bool overlap(const std::byte* source, const std::byte* target) const;

  /// The kind of tiles and their sizes, as one line of text for people.
  std::string describe() const;
  /// The same for execute_in_place().
  std::string describe_in_place() const;

 private:
  struct InPlace;
  InPlace& in_place() const;
  void check(std::span<const std::byte> array) const;
  void execute_checked(std::span<const std::byte> source, std::span<std::byte> target,
                       unsigned threads) const;

  Reordering what_;                             // canonical
  std::unique_ptr<const StridedCopy> strided_;  // null if there are no strides
  std::unique_ptr<const Engine> engine_;
  std::unique_ptr<InPlace> in_place_;
};

/// These make a plan and execute it. They throw InputError and std::bad_alloc as the plan does.
void permute(const Reordering& what, const std::byte* source, std::byte* target, unsigned threads = 0);
void permute_in_place(const Reordering& what, std::byte* array, unsigned threads = 0);
template <typename Source, typename Target>
requires Alike<Source, Target>
void permute(const Reordering& what, const Source& source, Target&& target, unsigned threads = 0) {
  InMemoryPlan(what).execute(source, target, threads);
}
template <Elements Array>
void permute_in_place(const Reordering& what, Array&& array, unsigned threads = 0) {
  InMemoryPlan(what).execute_in_place(array, threads);
}

}  // namespace xorder::memory
