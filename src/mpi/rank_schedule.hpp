// What one rank does in an exchange: in each round it sends one contiguous part of an array to one rank, and
// receives one from one rank. Both can compute their peer and the order of the elements, so nothing but
// elements is sent.
#pragma once

#include <cstddef>
#include <cstdint>

namespace xorder::mpi {

/// What is sent in a round. It consists of pieces, each of which stays together at the receiver.
struct Message {
  int peer = 0;             ///< the other rank, or the rank itself for what stays
  std::uint64_t bytes = 0;  ///< a multiple of piece_bytes; 0: nothing in this round
  std::uint64_t piece_bytes = 1;
};

/// All offsets and sizes are in bytes. A pair of ranks has at most one round with each other in each
/// direction, and both sides state the same bytes and piece_bytes.
class RankSchedule {
 public:
  virtual ~RankSchedule() = default;

  virtual std::uint64_t rounds() const = 0;
  virtual Message sent(std::uint64_t round) const = 0;
  /// Where the message begins in the sender's array.
  virtual std::uint64_t sent_from(std::uint64_t round) const = 0;
  virtual Message received(std::uint64_t round) const = 0;
  /// Where piece number `piece` of the received message belongs in the receiver's array.
  virtual std::uint64_t place(std::uint64_t round, std::uint64_t piece) const = 0;
  /// Copies pieces first .. first + count − 1, which lie at `from`, to their places in the array `to`.
  /// `count` is a power of two that divides `first`, or less if the message ends there.
  virtual void put(std::uint64_t round, std::uint64_t first, std::uint64_t count, const std::byte* from,
                   std::byte* to) const = 0;

 protected:
  RankSchedule() = default;
  RankSchedule(const RankSchedule&) = default;
  RankSchedule& operator=(const RankSchedule&) = default;
};

}  // namespace xorder::mpi
