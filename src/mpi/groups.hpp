// An exchange for elements that interleave with those of other senders. In the receiver's memory each cache
// line has some elements of each. Putting them in their places sender by sender would move every line as
// often as there are senders.
//
// So the messages of all rounds advance together, a part of each at a time. The parts of one step are a
// *group*. It is received into a buffer that fits in the cache, and put in its places from there while the
// next one arrives.
//
// Sending needs no buffer, so more groups are sent at a time than are received. Then a rank can go on while
// one that it receives from does not run, as happens if ranks share processors.
//
// No rank waits forever: the one that has finished the fewest groups waits only for what all others have
// begun to send.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "memory/scratch.hpp"
#include "mpi/transfer.hpp"
#include "plan/processors/exchange_memory.hpp"

namespace xorder::mpi {

class Groups : public Transfer {
 public:
  static constexpr std::uint64_t buffered = plan::buffered_groups;
  /// How many groups may be on their way to other ranks.
  static constexpr std::uint64_t offered = 8;

  ~Groups() override;
  void run(MPI_Comm comm, const std::byte* source, std::byte* target) final;

 protected:
  /// What one rank sends to another in a group: one MPI message.
  struct Part {
    int peer = 0;
    std::uint64_t begin = 0;  ///< in the source; where it is received, in the group's buffer
    std::uint64_t bytes = 0;  ///< 0: nothing; at most INT_MAX
  };

  /// Allocates `buffered` buffers of `group_bytes`. Parts of the rank itself are not sent.
  Groups(int rank, std::uint64_t rounds, std::uint64_t groups, std::uint64_t group_bytes);

  int rank() const { return rank_; }
  std::uint64_t rounds() const { return rounds_; }
  std::uint64_t groups() const { return groups_; }

 private:
  virtual Part received(std::uint64_t group, std::uint64_t round) const = 0;
  virtual Part sent(std::uint64_t group, std::uint64_t round) const = 0;
  /// Puts a group in its places. Everything has arrived in `buffer`, except what the rank would send to
  /// itself.
  virtual void put(std::uint64_t group, std::byte* buffer, const std::byte* source, std::byte* target) = 0;

  using Requests = std::vector<MPI_Request>;
  void receive(MPI_Comm comm, std::uint64_t group);
  void send(MPI_Comm comm, std::uint64_t group, const std::byte* source);
  std::byte* buffer(std::uint64_t group) const { return buffers_->data() + group % buffered * group_bytes_; }

  int rank_;
  std::uint64_t rounds_, groups_, group_bytes_;
  std::unique_ptr<memory::Scratch> buffers_;
  std::array<Requests, buffered> arriving_;
  std::array<Requests, offered> leaving_;
};

}  // namespace xorder::mpi
