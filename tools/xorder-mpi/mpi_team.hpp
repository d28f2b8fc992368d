// The ranks of an MPI program as a team (work/team.hpp), and how the failure of one ends all of them.
//
// Every collective call begins with an agreement that no rank has failed. A rank that fails sends a notice to
// all others, which they see between two blocks of data. It takes part in one last agreement instead of its
// next collective call, in which all ranks learn which rank failed and its message. A rank that dies cannot
// do that: then MPI's launcher sends signals to the others, and they remove their temporary files. Nor can a
// rank whose memory ends between the collective calls of one function. Such functions are noexcept, so that
// it dies instead of leaving the others waiting.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "work/team.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {

/// The failure that all ranks have agreed on.
class TeamFailure : public Error {
 public:
  explicit TeamFailure(Failure agreed) : Error(agreed.text), failure(std::move(agreed)) {}
  Failure failure;
};

/// Calls MPI only from the calling thread (MPI_THREAD_FUNNELED).
class MpiTeam final : public work::Team {
 public:
  /// Collective, like the functions that work::Team says are.
  explicit MpiTeam(MPI_Comm ranks);

  MPI_Comm comm() const { return comm_; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  unsigned neighbours() const override { return neighbours_; }
  unsigned processors() const override { return processors_; }

  std::vector<std::string> share(std::string mine) override;
  std::vector<std::string> exchange(std::vector<std::string> to_each) override;
  std::uint64_t progress(std::uint64_t bytes) override;
  bool stopping() override;
  void when_idle(std::function<void()> call) override { idle_ = std::move(call); }
  void temporary(const std::vector<std::filesystem::path>& files) override;

  /// The last collective call: `mine` says how this rank's part ended. Returns how the whole run ended, the
  /// same on all ranks. Not called after a TeamFailure.
  Failure conclude(const Failure& mine);

 private:
  using Clock = std::chrono::steady_clock;

  void agree();
  Failure agree_on(const Failure& mine) noexcept;
  void wait(MPI_Request* request);
  /// How many bytes each rank may share, so that all of them together can be counted by an int.
  std::size_t most_shared() const;
  /// share() without an agreement before it. Requires that `mine` has at most most_shared() bytes.
  std::vector<std::string> share_now(const std::string& mine) noexcept;
  void receive_progress();
  void settle_messages(const std::vector<int>& severities);

  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
  unsigned neighbours_ = 1, processors_ = 1;
  std::string node_;
  std::function<void()> idle_;

  std::vector<std::uint64_t> moved_;  // by rank, as far as is known here
  std::uint64_t telling_ = 0;         // what is being sent
  MPI_Request sending_ = MPI_REQUEST_NULL;
  Clock::time_point told_{};
  std::uint64_t progress_sent_ = 0, progress_received_ = 0;
  int notices_ = 0;  // received
};

}  // namespace xorder::cli
