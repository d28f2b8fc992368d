// Groups of iterations on arrays in memory, patch by patch through the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stop_token>
#include <utility>
#include <vector>

#include "descend/patch.hpp"
#include "descend/strip.hpp"
#include "plan/descend/cache_groups.hpp"
#include "task/parallel.hpp"
#include "xorder/descend/descend.hpp"

namespace xorder::descend {

/// Records in memory: consecutive pieces of 2^lg_piece records from place `first` of a strip on. After the
/// last piece comes the first one again, which matters if there is one piece, the whole strip.
struct Pieces {
  std::vector<const std::byte*> pieces;
  int lg_piece = 0;
  std::uint64_t first = 0;
};

/// Performs groups of iterations on strips of an array of 2^lg_size records. A group's iterations are
/// numbered by the strip's places (strip.hpp). May be used by several threads at once. All functions throw
/// what the computation throws, and Cancelled soon after a stop is requested.
class Groups {
 public:
  Groups(Computation& what, int lg_size, const plan::Cache& cache, std::stop_token stop = {})
      : what_(what), lg_size_(lg_size), cache_(cache), stop_(std::move(stop)) {}

  std::uint64_t record_bytes() const { return what_.record_bytes(); }

  /// Computes `count` records from place `first` on, both multiples of 2^low, into `out`. The pieces must
  /// reach far enough to either side, and `out` must be none of them.
  void with_halo(const Strip& strip, Iterations group, const Pieces& from, std::uint64_t first,
                 std::uint64_t count, std::byte* out);

  /// Does all groups on the whole strip, which is in `array`. `other` is as large; it is not used if there is
  /// one group of all iterations, on patches. Returns the one of the two that holds the result.
  std::byte* all(const Strip& strip, std::span<const Iterations> groups, std::byte* array, std::byte* other);

 private:
  std::uint64_t bytes(std::uint64_t records) const { return records * what_.record_bytes(); }
  void check_stop() const;
  /// The computation as a strip sees it.
  struct View;
  void cyclic(View& view, Iterations group, std::byte* data);
  void halo_patch(View& view, Iterations group, const Pieces& from, const Patch& patch, std::uint64_t first,
                  std::byte* out);
  void record_by_record(View& view, Iterations group, const Pieces& from, std::uint64_t first,
                        std::uint64_t count, std::byte* out);

  Computation& what_;
  int lg_size_;
  plan::Cache cache_;
  std::stop_token stop_;
  task::BufferPool scratch_;  // each buffer has two patches
};

}  // namespace xorder::descend
