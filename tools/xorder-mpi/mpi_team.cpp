#include "mpi_team.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <numeric>
#include <thread>

#include "mpi/communicator.hpp"
#include "rounding.hpp"
#include "temporary_files.hpp"

namespace xorder::cli {
namespace {

enum Tag { tag_notice = 1, tag_progress = 2, tag_data = 3 };

// How a rank's part ended, the worst last. A rank that stopped because another one failed is not the cause.
enum Severity { went_well = 0, was_stopped = 1, has_failed = 2 };

constexpr auto between_messages = std::chrono::milliseconds(100);
constexpr std::uint64_t slice_bytes = std::uint64_t{4} << 20;

}  // namespace

MpiTeam::MpiTeam(MPI_Comm ranks) {
  const mpi::Communicator& ours = mpi::communicator(ranks);
  comm_ = ours.comm;
  rank_ = ours.rank;
  size_ = ours.ranks;
  processors_ = ours.threads;
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int neighbours = 1;
  MPI_Comm_size(node, &neighbours);
  MPI_Comm_free(&node);
  neighbours_ = static_cast<unsigned>(neighbours);
  char name[MPI_MAX_PROCESSOR_NAME];
  int length = 0;
  MPI_Get_processor_name(name, &length);
  node_.assign(name, static_cast<std::size_t>(length));
  moved_.resize(static_cast<std::size_t>(size_), 0);
}

// MPI would spin, and would not process the others' progress messages.
void MpiTeam::wait(MPI_Request* request) {
  auto pause = std::chrono::microseconds(20);
  auto last = Clock::now();
  for (int done = 0;;) {
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (done) return;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::microseconds(2000));
    if (idle_ && Clock::now() - last > between_messages) {
      idle_();
      last = Clock::now();
    }
  }
}

std::size_t MpiTeam::most_shared() const { return INT_MAX / static_cast<std::size_t>(size_); }

std::vector<std::string> MpiTeam::share_now(const std::string& mine) noexcept {
  const auto ranks = static_cast<std::size_t>(size_);
  const int bytes = static_cast<int>(mine.size());
  std::vector<int> counts(ranks), offsets(ranks, 0);
  MPI_Request request;
  MPI_Iallgather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, comm_, &request);
  wait(&request);
  std::partial_sum(counts.begin(), counts.end() - 1, offsets.begin() + 1);
  std::string all(static_cast<std::size_t>(offsets.back() + counts.back()), '\0');
  MPI_Iallgatherv(mine.data(), bytes, MPI_BYTE, all.data(), counts.data(), offsets.data(), MPI_BYTE, comm_,
                  &request);
  wait(&request);
  std::vector<std::string> result;
  for (std::size_t r = 0; r < ranks; ++r)
    result.push_back(all.substr(static_cast<std::size_t>(offsets[r]), static_cast<std::size_t>(counts[r])));
  return result;
}

std::vector<std::string> MpiTeam::share(std::string mine) {
  // Before the agreement: a rank that fails after it would miss the collective calls that the others make.
  if (mine.size() > most_shared()) throw Error("internal error: too much to share among all ranks");
  agree();
  return share_now(mine);
}

std::vector<std::string> MpiTeam::exchange(std::vector<std::string> to_each) {
  const auto ranks = static_cast<std::size_t>(size_);
  std::vector<std::uint64_t> sent(ranks), received(ranks);
  agree();
  for (std::size_t r = 0; r < ranks; ++r) sent[r] = to_each[r].size();
  MPI_Request request;
  MPI_Ialltoall(sent.data(), 1, MPI_UINT64_T, received.data(), 1, MPI_UINT64_T, comm_, &request);
  wait(&request);

  std::vector<std::string> from_each(ranks);
  std::vector<MPI_Request> requests;
  std::size_t slices = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    from_each[r].resize(received[r]);
    slices += ceil_div(sent[r], slice_bytes) + ceil_div(received[r], slice_bytes);
  }
  requests.reserve(slices);
  agree();  // if memory has ended on one rank, no other waits for its messages
  const auto in_slices = [](std::string& bytes, const auto& start) {
    for (std::uint64_t at = 0; at < bytes.size(); at += slice_bytes)
      start(bytes.data() + at, static_cast<int>(std::min<std::uint64_t>(slice_bytes, bytes.size() - at)));
  };
  for (std::size_t r = 0; r < ranks; ++r) {
    in_slices(from_each[r], [&](char* data, int bytes) {
      MPI_Irecv(data, bytes, MPI_BYTE, static_cast<int>(r), tag_data, comm_, &requests.emplace_back());
    });
  }
  for (std::size_t r = 0; r < ranks; ++r) {
    in_slices(to_each[r], [&](char* data, int bytes) {
      MPI_Isend(data, bytes, MPI_BYTE, static_cast<int>(r), tag_data, comm_, &requests.emplace_back());
    });
  }
  for (MPI_Request& each : requests) wait(&each);
  return from_each;
}

// --- progress and notices: messages that may come at any time

std::uint64_t MpiTeam::progress(std::uint64_t bytes) {
  auto& mine = moved_[static_cast<std::size_t>(rank_)];
  mine = std::max(mine, bytes);
  if (rank_ == 0) {
    receive_progress();
  } else if (Clock::now() - told_ >= between_messages) {
    int done = 1;
    MPI_Test(&sending_, &done, MPI_STATUS_IGNORE);
    if (done) {
      telling_ = mine;
      MPI_Isend(&telling_, 1, MPI_UINT64_T, 0, tag_progress, comm_, &sending_);
      ++progress_sent_;
      told_ = Clock::now();
    }
  }
  return std::accumulate(moved_.begin(), moved_.end(), std::uint64_t{0});
}

void MpiTeam::receive_progress() {
  for (;;) {
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, tag_progress, comm_, &there, &status);
    if (!there) return;
    MPI_Recv(&moved_[static_cast<std::size_t>(status.MPI_SOURCE)], 1, MPI_UINT64_T, status.MPI_SOURCE,
             tag_progress, comm_, MPI_STATUS_IGNORE);
    ++progress_received_;
  }
}

bool MpiTeam::stopping() {
  int there = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, tag_notice, comm_, &there, &status);
  if (there) {
    MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, tag_notice, comm_, MPI_STATUS_IGNORE);
    ++notices_;
  }
  return notices_ > 0;
}

// --- failures

void MpiTeam::agree() {
  Failure agreed = agree_on({});
  if (agreed.exit_code != 0) throw TeamFailure(std::move(agreed));
}

Failure MpiTeam::conclude(const Failure& mine) {
  const bool because_of_others = mine.exit_code != 0 && stopping();
  if (mine.exit_code != 0 && !because_of_others) {
    for (int r = 0; r < size_; ++r) {
      if (r != rank_) MPI_Send(nullptr, 0, MPI_BYTE, r, tag_notice, comm_);
    }
  }
  Failure agreed = agree_on(mine);
  if (agreed.exit_code == 0) settle_messages(std::vector<int>(static_cast<std::size_t>(size_), went_well));
  return agreed;
}

Failure MpiTeam::agree_on(const Failure& mine) noexcept {
  const int severity = mine.exit_code == 0 ? went_well : notices_ > 0 ? was_stopped : has_failed;
  std::vector<int> severities(static_cast<std::size_t>(size_));
  MPI_Request request;
  MPI_Iallgather(&severity, 1, MPI_INT, severities.data(), 1, MPI_INT, comm_, &request);
  wait(&request);
  const auto worst = std::ranges::max_element(severities);
  if (*worst == went_well) return {};
  idle_ = {};  // it would send more progress, after the messages were counted

  const std::vector<std::string> texts = share_now(mine.text.substr(0, most_shared()));
  const std::vector<std::string> nodes = share_now(node_);
  const std::vector<std::string> codes = share_now(std::to_string(mine.exit_code));
  settle_messages(severities);
  const auto cause = static_cast<std::size_t>(worst - severities.begin());
  Failure agreed{std::stoi(codes[cause]), texts[cause]};
  // If all ranks report the same failure, do not name one of them.
  if (std::ranges::any_of(texts, [&](const std::string& text) { return text != agreed.text; }))
    agreed.text = fmt::format("rank {} on {}: {}", cause, nodes[cause], agreed.text);
  return agreed;
}

// Receives all messages still under way, as MPI requires before MPI_Finalize().
void MpiTeam::settle_messages(const std::vector<int>& severities) {
  const int failed_others = static_cast<int>(std::ranges::count(severities, has_failed)) -
                            (severities[static_cast<std::size_t>(rank_)] == has_failed);
  while (notices_ < failed_others) {
    MPI_Recv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, tag_notice, comm_, MPI_STATUS_IGNORE);
    ++notices_;
  }
  std::uint64_t sent = 0;
  for (const std::string& count : share_now(std::to_string(progress_sent_))) sent += std::stoull(count);
  while (rank_ == 0 && progress_received_ < sent) receive_progress();
  MPI_Wait(&sending_, MPI_STATUS_IGNORE);
}

void MpiTeam::temporary(const std::vector<std::filesystem::path>& files) { set_temporary_files(files); }

}  // namespace xorder::cli
