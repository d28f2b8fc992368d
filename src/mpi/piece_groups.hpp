// An exchange of short pieces in groups (groups.hpp). A group is the same range of pieces of every message.
// In the receiver's array it fills one stretch, which stays in the cache while the pieces of all senders are
// put there.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "mpi/groups.hpp"
#include "mpi/rank_schedule.hpp"

namespace xorder::mpi {

class PieceGroups final : public Groups {
 public:
  /// Requires that all ranks give the same `group_pieces`, a power of two, and that so many of the longest
  /// pieces have at most INT_MAX bytes. All messages to one rank must have the same number of pieces, and
  /// pieces of the same number should lie near each other. Allocates as Groups does.
  PieceGroups(std::unique_ptr<const RankSchedule> schedule, int rank, std::uint64_t group_pieces);
  ~PieceGroups() override;

 private:
  /// The pieces of a message in a group.
  struct Range {
    std::uint64_t first = 0, count = 0;
  };
  Range in_group(const Message& message, std::uint64_t group) const;
  Part received(std::uint64_t group, std::uint64_t round) const override;
  Part sent(std::uint64_t group, std::uint64_t round) const override;
  void put(std::uint64_t group, std::byte* buffer, const std::byte* source, std::byte* target) override;

  std::unique_ptr<const RankSchedule> schedule_;
  std::uint64_t group_pieces_;
  std::vector<std::uint64_t> offsets_;  // by round: where its pieces lie in a group's buffer
};

}  // namespace xorder::mpi
