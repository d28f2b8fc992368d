// Compares an array with what a reordering should give, without putting anything in order: by sums to which
// every element contributes with its place.
//
// The target is a sequence of words w(0), w(1), .. of 8 bytes. Each has a weight b(i): a pseudo-random odd
// number of 64 bits. The sum of b(i) w(i), modulo 2^128, can be taken in any order and in parts: byte j of
// word i counts b(i) 256^j times. So the target's words are added in their order, and the source's elements
// are subtracted in theirs, each where it should be in the target. Of equal arrays nothing is left.
//
// If words i, .. differ by d(i), not all 0, the sum of b(i) d(i) is left. It is never 0 if a single word
// differs. For any other difference, as long as it was not made with knowledge of the weights, it is 0 with a
// probability of at most 2^-62: whatever the other weights are, at most two of the 2^63 values of the last
// one can make it 0, because |b d| < 2^128. So nothing depends on what the data look like: swapped, repeated
// or missing blocks are found in zeros and ramps as well as in noise, as long as they change a byte.
//
// There is a sum for each region of the target, which tells where the arrays differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "xorder/permutation/reordering.hpp"

namespace xorder::verify {

/// Bytes of the target's data.
struct Stretch {
  std::uint64_t begin = 0, end = 0;
  bool operator==(const Stretch&) const = default;
};

class Comparison {
 public:
  static constexpr std::uint64_t most_regions = 4096, least_region_bytes = 4096;

  /// Throws InputError as canonical() does.
  explicit Comparison(const Reordering& what);
  ~Comparison();
  Comparison(const Comparison&) = delete;
  Comparison& operator=(const Comparison&) = delete;

  // Take each byte of the array once, in any order, from any number of threads. Each of these needs up to 64
  // KiB of memory for as long as the comparison lives. `at` counts bytes of elements that follow each other.

  /// Bytes of the source, in its order.
  void subtract_source(std::uint64_t at, const std::byte* data, std::uint64_t bytes);
  /// Bytes of the target, in its order.
  void add_target(std::uint64_t at, const std::byte* data, std::uint64_t bytes);

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t region_bytes() const { return std::uint64_t{1} << region_bits_; }
  /// Where regions differ; neighbours are one stretch. To be called when all has been taken.
  std::vector<Stretch> differences() const;

 private:
  struct Axis {
    std::uint64_t extent = 1, step = 0;  // in bytes of the target
    bool mapped = false;
  };
  class Sums;
  class Loan;
  struct Row;

  std::uint64_t place(std::size_t axis, std::uint64_t coordinate) const;
  void subtract_elements(Sums& sums, std::uint64_t first, const std::byte* data, std::uint64_t count) const;
  void subtract_row(Sums& sums, const Row& row, std::uint64_t count) const;

  std::uint64_t element_, bytes_;
  int region_bits_;
  std::vector<Axis> axes_;  // of the source, slowest first
  gf2::AffineMap map_;
  std::vector<std::uint64_t>
      flips_;  // what changes in the map's value from x − 1 to x, by the lowest set bit of x

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Sums>> all_;
  std::vector<Sums*> free_;
};

}  // namespace xorder::verify
