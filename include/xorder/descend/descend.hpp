// ±2^b-descend and -ascend computations, in memory. job.hpp has them from file to file.
//
//   for b = lg M − 1 down to 0:  a[i] = f_b(a[i], a[i + 2^b], a[i − 2^b])  for all i at once, indices mod M
//
// (ascend: b from 0 up.) M is a power of two. Cyclic shift, prefix sums, odd-even merge and cyclic reduction
// are of this form (computations.hpp). The user gives f_b, as a function of one element:
//
//   std::vector<double> a(1024);                          // prefix sums, in lg M additions for each element
//   xorder::descend::ascend(std::span(a), [](int b, std::uint64_t i, double x, double plus, double minus) {
//     return i >> b == 0 ? x : minus + x;                 // nothing is 2^b before the first 2^b elements
//   });
//
// This is an interface for computations of this class, on arrays of 2^n elements, with the same result to the
// last bit however they are cut into pieces. It is not the fastest way to compute any one of them. A prefix
// sum by itself needs one pass over a file and one addition per element; here it takes two passes and lg M
// additions.
//
// Source: Hu, "Optimal all-to-some personalized communication on hypercubes", IPPS/SPDP 1998, where M
// elements lie on the nodes of a hypercube, see src/schedule/descend/descend.hpp.
//
// How it is cut. In iterations low ≤ b < high a row of 2^low elements meets only rows at most 2^high − 2^low
// elements away, column by column. So such a *group* of iterations is done on *patches* that fit in the
// cache: some columns of some rows, and of as many rows above and below as they depend on.
//
//          columns (index mod 2^low)
//          +-----+-----+-----+---
//     rows | : : |           |        the halo: 2^(high−low) − 1 rows above and as many below, computed for
//          |-----|           |        as long as the rows between them need them; if high = lg M, then all
//          |patch|           |        rows are in the patch, and there is none
//          |-----|           |
//          | : : |           |
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "xorder/plan/sweep_sizes.hpp"

namespace xorder::descend {

/// Whether b goes down from lg M − 1 or up from 0.
enum class Direction { descend, ascend };

/// A computation on records of record_bytes() bytes that are contiguous in memory. All functions but check()
/// are called by several threads at once, and step() and load() may be called several times for the same
/// records.
class Computation {
 public:
  virtual ~Computation() = default;
  Computation(const Computation&) = delete;
  Computation& operator=(const Computation&) = delete;

  Direction direction() const { return direction_; }
  std::size_t record_bytes() const { return record_bytes_; }
  /// What it computes: a text that is the same only for computations that make the same of the same inputs.
  /// Empty if nobody has said it. Then a run cannot be resumable, as nothing tells whether the next one goes
  /// on with the same computation.
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

  /// Iteration b for `count` consecutive records from index `first` on (first + count ≤ M). Writes to `out`
  /// f_b of each record of `x` and those at the same place of `plus` (2^b further) and `minus` (2^b before).
  /// `out` overlaps none of them; they may overlap each other.
  virtual void step(int b, std::uint64_t first, std::size_t count, const std::byte* x, const std::byte* plus,
                    const std::byte* minus, std::byte* out) = 0;

  /// Whether iteration b reads the records at `plus`, and those at `minus`. Those that it does not read need
  /// not be sent from processor to processor, and the pointer may be x instead. An iteration that reads
  /// neither must leave all records as they are.
  struct Reads {
    bool plus = true, minus = true;
  };
  virtual Reads reads(int /*b*/) const { return {}; }

  /// Whether no record depends on later ones. Then the arrays of a DescendJob may have any number of
  /// elements. M is the next power of two, and the records behind the arrays hold anything.
  virtual bool is_causal() const { return false; }

  /// Makes records from arrays of elements, one from each input file. If there is one file and its elements
  /// are as large as records, `records` is that array already, and the default leaves it as it is.
  virtual void load(std::uint64_t first, std::size_t count, std::span<const std::byte* const> inputs,
                    std::byte* records);
  /// Makes elements of the output from records, which may be changed. If both have the same size, `output` is
  /// `records`, and the default leaves it as it is.
  virtual void store(std::uint64_t first, std::size_t count, std::byte* records, std::byte* output);

  /// Called after every sweep over all records, and after every part of one in a resumable run. May throw
  /// InputError for what load(), step() and store() have seen; then there is no output.
  virtual void check() {}
  /// Whether check() may need to see all that load() has seen at once. A resumable run then does the sweep
  /// that loads as a whole.
  virtual bool checks_whole_input() const { return false; }

 protected:
  Computation(Direction direction, std::size_t record_bytes)
      : direction_(direction), record_bytes_(record_bytes) {}

 private:
  Direction direction_;
  std::size_t record_bytes_;
  std::string name_;
};

/// A function f_b of one element: makes its new record from b, its index, and the records x, plus and minus.
template <typename F, typename T>
concept ElementFunction = std::is_trivially_copyable_v<T> &&
    std::convertible_to<std::invoke_result_t<const F&, int, std::uint64_t, const T&, const T&, const T&>, T>;

/// A Computation by a function of one element. The function is called for runs of consecutive elements in a
/// loop that the compiler can vectorise. It must be safe to call from several threads.
template <typename T, ElementFunction<T> F>
class Elementwise : public Computation {
 public:
  Elementwise(Direction direction, F f) : Computation(direction, sizeof(T)), f_(std::move(f)) {}

  void step(int b, std::uint64_t first, std::size_t count, const std::byte* x, const std::byte* plus,
            const std::byte* minus, std::byte* out) override {
    const T* const self = reinterpret_cast<const T*>(x);
    const T* const after = reinterpret_cast<const T*>(plus);
    const T* const before = reinterpret_cast<const T*>(minus);
    T* __restrict const result = reinterpret_cast<T*>(out);
    for (std::size_t k = 0; k < count; ++k) result[k] = f_(b, first + k, self[k], after[k], before[k]);
  }

 private:
  F f_;
};

template <typename T, ElementFunction<T> F>
std::unique_ptr<Computation> elementwise(Direction direction, F f) {
  return std::make_unique<Elementwise<T, F>>(direction, std::move(f));
}

/// Performs the computation on `count` records in memory, in place; load(), store() and check() are not
/// called. Needs as much memory again. `threads` 0 means all processors, or the calling thread alone for less
/// than 256 KiB. Of `sizes`, only cache_bytes is used. Throws InputError unless count is a power of two, and
/// std::bad_alloc.
void compute(Computation& what, std::byte* records, std::uint64_t count, unsigned threads = 0,
             const plan::SweepSizes& sizes = {});

/// The same for an array of any trivially copyable type and a function of one element.
template <typename T, ElementFunction<T> F>
void descend(std::span<T> a, F f, unsigned threads = 0) {
  Elementwise<T, F> what(Direction::descend, std::move(f));
  compute(what, reinterpret_cast<std::byte*>(a.data()), a.size(), threads);
}
template <typename T, ElementFunction<T> F>
void ascend(std::span<T> a, F f, unsigned threads = 0) {
  Elementwise<T, F> what(Direction::ascend, std::move(f));
  compute(what, reinterpret_cast<std::byte*>(a.data()), a.size(), threads);
}

}  // namespace xorder::descend
