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
#include "plan/cache_groups.hpp"
#include "task/parallel.hpp"
#include "xorder/descend/descend.hpp"

namespace xorder::descend {

/// Records in memory, in pieces of 2^lg_piece that follow each other from place `first` of a strip on. Beyond
/// the last one the first one follows, which matters where there is one piece: the whole strip.
struct Pieces {
  std::vector<const std::byte*> pieces;
  int lg_piece = 0;
  std::uint64_t first = 0;
};

/// On the strips of an array of 2^lg_size records; groups are numbered as the strip's places are. May be used
/// by several threads at once. All throw what the computation throws, and Cancelled soon after the token asks
/// for it.
class Groups {
 public:
  Groups(Computation& what, int lg_size, const plan::Cache& cache, std::stop_token stop = {})
      : what_(what), lg_size_(lg_size), cache_(cache), stop_(std::move(stop)) {}

  std::uint64_t record_bytes() const { return what_.record_bytes(); }

  /// Computes `count` records from place `first` on, both multiples of 2^low, from the pieces, which reach
  /// far enough to either side, into `out`, which is none of them.
  void with_halo(const Strip& strip, Iterations group, const Pieces& from, std::uint64_t first,
                 std::uint64_t count, std::byte* out);

  /// All groups on the whole strip; `other` is as large, and not used if there is one group, on
  /// patches. Returns the one of the two with the result.
  std::byte* all(const Strip& strip, std::span<const Iterations> groups, std::byte* array, std::byte* other);

 private:
  std::uint64_t bytes(std::uint64_t records) const { return records * what_.record_bytes(); }
  void check_stop() const;
  /// What is computed, as a strip sees it.
  struct View;
  void cyclic(View& view, Iterations group, std::byte* data);
  void halo_patch(View& view, Iterations group, const Pieces& from, const Patch& patch, std::uint64_t first,
                  std::byte* out);
  void with_halo(View& view, Iterations group, const Pieces& from, std::uint64_t first, std::uint64_t count,
                 std::byte* out);
  void record_by_record(View& view, Iterations group, const Pieces& from, std::uint64_t first,
                        std::uint64_t count, std::byte* out);

  Computation& what_;
  int lg_size_;
  plan::Cache cache_;
  std::stop_token stop_;
  task::BufferPool scratch_;  // of two patches each
};

}  // namespace xorder::descend
