#include "mpi/piece_groups.hpp"
#include "rounding.hpp"

#include <algorithm>

namespace xorder::mpi {
namespace {

using std::uint64_t;

uint64_t pieces(const Message& message) { return message.bytes / message.piece_bytes; }

uint64_t count_groups(const RankSchedule& schedule, uint64_t group_pieces) {
  uint64_t most = 0;
  for (uint64_t round = 0; round < schedule.rounds(); ++round)
    most = std::max({most, pieces(schedule.received(round)), pieces(schedule.sent(round))});
  return ceil_div(most, group_pieces);
}

// Where the pieces of each round lie in a group's buffer, followed by the buffer's size. What stays in the
// rank needs no room.
std::vector<uint64_t> lay_out(const RankSchedule& schedule, int rank, uint64_t group_pieces) {
  std::vector<uint64_t> offsets{0};
  for (uint64_t round = 0; round < schedule.rounds(); ++round) {
    const Message message = schedule.received(round);
    offsets.push_back(offsets.back() + (message.peer == rank ? 0 : group_pieces * message.piece_bytes));
  }
  return offsets;
}

}  // namespace

PieceGroups::PieceGroups(std::unique_ptr<const RankSchedule> schedule, int rank, uint64_t group_pieces)
    : Groups(rank, schedule->rounds(), count_groups(*schedule, group_pieces),
             lay_out(*schedule, rank, group_pieces).back()),
      schedule_(std::move(schedule)),
      group_pieces_(group_pieces),
      offsets_(lay_out(*schedule_, rank, group_pieces)) {}

PieceGroups::~PieceGroups() = default;

PieceGroups::Range PieceGroups::in_group(const Message& message, uint64_t group) const {
  const uint64_t all = pieces(message), first = std::min(all, group * group_pieces_);
  return {first, std::min(group_pieces_, all - first)};
}

Groups::Part PieceGroups::received(uint64_t group, uint64_t round) const {
  const Message message = schedule_->received(round);
  return {message.peer, offsets_[round], in_group(message, group).count * message.piece_bytes};
}

Groups::Part PieceGroups::sent(uint64_t group, uint64_t round) const {
  const Message message = schedule_->sent(round);
  const Range range = in_group(message, group);
  return {message.peer, schedule_->sent_from(round) + range.first * message.piece_bytes,
          range.count * message.piece_bytes};
}

void PieceGroups::put(uint64_t group, std::byte* buffer, const std::byte* source, std::byte* target) {
  for (uint64_t round = 0; round < rounds(); ++round) {
    const Message message = schedule_->received(round);
    const Range range = in_group(message, group);
    if (range.count == 0) continue;
    const std::byte* const from =
        message.peer == rank() ? source + sent(group, round).begin : buffer + offsets_[round];
    schedule_->put(round, range.first, range.count, from, target);
  }
}

}  // namespace xorder::mpi
