// An exchange of short pieces: in the receiver's memory each cache line has some from several senders, so that to put the pieces of
// one sender after those of another in their places would move every line as often as there are senders.
//
// So all messages advance together, like the chunks of Merge: a *group* is the same range of pieces of every message. In the
// receiver's array it fills one stretch, which stays in the cache while the pieces of all senders are put there; meanwhile the
// next groups arrive.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "memory/scratch.hpp"
#include "mpi/course.hpp"
#include "mpi/transfer.hpp"

namespace xorder::mpi {

class Weave final : public Transfer {
 public:
  /// Groups in flight, the one that is being put in its place included.
  static constexpr std::uint64_t depth = 4;

  /// All ranks give the same `group_pieces`, a power of two; times the longest piece it is INT_MAX bytes at most. All messages to one rank
  /// have the same number of pieces, and pieces of the same number lie near each other. Allocates `depth` groups.
  Weave(std::unique_ptr<const Course> course, int rank, std::uint64_t group_pieces);
  ~Weave() override;

  void run(MPI_Comm comm, const std::byte* source, std::byte* target) override;

 private:
  /// The pieces of a message that are in a group.
  struct Range {
    std::uint64_t first = 0, count = 0;
  };
  Range in_group(const Message& message, std::uint64_t group) const;
  void start(MPI_Comm comm, std::uint64_t group, const std::byte* source);
  void finish(std::uint64_t group, const std::byte* source, std::byte* target);
  std::byte* landing(std::uint64_t group, std::uint64_t round) const {
    return buffers_->data() + group % depth * group_bytes_ + offsets_[round];
  }
  std::vector<MPI_Request>& requests(std::uint64_t group) { return requests_[group % depth]; }

  std::unique_ptr<const Course> course_;
  int rank_;
  std::uint64_t group_pieces_;
  std::uint64_t groups_ = 0, group_bytes_ = 0;
  std::vector<std::uint64_t> offsets_;  // in a group's buffer, by round
  std::unique_ptr<memory::Scratch> buffers_;
  std::vector<MPI_Request> requests_[depth];
};

}  // namespace xorder::mpi
