// How an array whose blocks lie in files of many ranks is permuted: by common tiles (common_tiling.hpp), in
// one pass over each rank's file or, if runs would be too short, in two. The first of two only brings a
// rank's part of each tile together, within its file. The second reads it at once, so that all of the memory
// serves to write long runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "plan/setting.hpp"
#include "plan/tiles/common_tiling.hpp"
#include "xorder/plan/summary.hpp"

namespace xorder::plan {

class PartsPlan {
 public:
  /// The cheapest way to move 2^map.bits() elements among 2^lg_ranks ranks; the setting is each rank's. The
  /// same arguments give the same plan on every rank. Throws InputError if there are more ranks than
  /// elements, or an element does not fit in the memory.
  PartsPlan(const gf2::AffineMap& map, std::uint64_t element_bytes, int lg_ranks, const Setting& setting);

  /// The permutation that each rank first performs within its block, or nothing.
  const std::optional<gf2::AffineMap>& before() const { return before_; }
  /// The tiles of what is left to do then.
  const CommonTiling& tiling() const { return *tiling_; }

  std::uint64_t ranks() const { return std::uint64_t{1} << lg_ranks_; }
  std::uint64_t element_bytes() const { return element_bytes_; }
  std::uint64_t block_bytes() const { return element_bytes_ << (bits_ - lg_ranks_); }
  /// A rank's part of a tile.
  std::uint64_t part_bytes() const { return element_bytes_ << tiling_->bits(); }

  /// The number of rounds in which a tile is exchanged. In each, a rank sends one message to one rank.
  std::uint64_t rounds() const { return std::uint64_t{1} << lg_rounds_; }
  std::uint64_t message_bytes() const { return part_bytes() >> lg_rounds_; }
  /// The sum over all ranks and tiles. What stays in its rank is not sent.
  std::uint64_t bytes_sent() const { return bytes_sent_; }
  std::uint64_t messages() const { return bytes_sent_ / message_bytes(); }

  /// The pass of the tiles. Its tiles, memory and blocks are those of one rank, its bytes those of all.
  const PassSummary& pass() const { return pass_; }
  std::string describe() const;

 private:
  std::uint64_t element_bytes_;
  int bits_, lg_ranks_;
  std::string device_name_;
  std::optional<gf2::AffineMap> before_;
  std::optional<CommonTiling> tiling_;
  int lg_rounds_ = 0;
  std::uint64_t bytes_sent_ = 0;
  PassSummary pass_;
};

}  // namespace xorder::plan
