// How iterations of a ±2^b computation are grouped for the cache.
//
// In iterations low ≤ b < high a row of 2^low records meets only rows at most 2^high − 2^low records away,
// column by column. So a *group* of iterations is done on *patches* that fit in the cache: some columns of
// some rows, with as many rows above and below as they depend on (descend/descend.hpp has the picture). Each
// group goes through memory once.
#pragma once

#include <cstdint>
#include <vector>

namespace xorder::plan {

/// Iterations b with low ≤ b < high. Rows are 2^low records.
struct Iterations {
  int low = 0, high = 0;

  int count() const { return high - low; }
  std::uint64_t stride() const { return std::uint64_t{1} << low; }
  /// Rows above, and as many below, that a row depends on.
  std::uint64_t halo_rows() const { return (std::uint64_t{1} << count()) - 1; }
  bool operator==(const Iterations&) const = default;
};

/// Pure; everything here takes a few steps.
struct Cache {
  std::uint64_t record_bytes = 1;
  std::uint64_t bytes = usual_bytes;  ///< of a patch; two of them should fit

  /// Two patches fit in a level-two cache of 1 MiB, with room for other data.
  static constexpr std::uint64_t usual_bytes = std::uint64_t{256} << 10;

  /// Whether records are too large for patches. Each iteration is then a group of its own, which goes from
  /// one array to another without a patch.
  bool record_by_record() const { return 8 * record_bytes > bytes; }

  /// Splits iterations into groups, in the direction's order.
  std::vector<Iterations> groups(Iterations all, bool ascend) const;

  struct Patch {
    std::uint64_t rows, width;
  };
  /// The patch of a group that computes `rows` rows. Another `halo` rows lie on either side of a patch.
  Patch patch(Iterations group, std::uint64_t rows, std::uint64_t halo) const;

  /// Bytes of the two buffers that a thread needs: for `count` records with halos on either side, or for all
  /// rows, which wrap around.
  std::uint64_t halo_scratch(Iterations group, std::uint64_t count) const;
  std::uint64_t cyclic_scratch(Iterations group) const;
};

}  // namespace xorder::plan
