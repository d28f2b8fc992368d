#include "io/pool_queue.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace xorder::io {
namespace {

// Which threads carried out transfers. A transfer waits until `together` of them are being carried out.
struct Meeting {
  std::mutex mutex;
  std::condition_variable all_here;
  unsigned here = 0;
  unsigned together = 1;
  std::set<std::thread::id> threads;
} meeting;

Completion meet(const Transfer& transfer) {
  std::unique_lock lock(meeting.mutex);
  meeting.threads.insert(std::this_thread::get_id());
  ++meeting.here;
  meeting.all_here.notify_all();
  const bool met = meeting.all_here.wait_for(lock, std::chrono::seconds(60),
                                             [] { return meeting.here >= meeting.together; });
  if (!met) meeting.together = 0;  // the others need not wait too
  return {transfer.token, met ? 0 : ETIMEDOUT, 0};
}

void submit(PoolQueue& queue, std::uint64_t token, std::size_t bytes) {
  Transfer transfer;
  transfer.token = token;
  transfer.pieces[0].bytes = bytes;
  transfer.piece_count = 1;
  queue.submit(transfer);
}

void submit_and_wait(PoolQueue& queue, unsigned transfers, std::size_t bytes = 0) {
  for (unsigned i = 0; i < transfers; ++i) submit(queue, i, bytes);
  std::vector<Completion> done;
  while (done.size() < transfers) queue.wait(done);
  for (const Completion& completion : done) EXPECT_EQ(completion.error, 0) << completion.token;
}

class PoolQueueTest : public ::testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override {
    meeting.here = 0;
    meeting.threads.clear();
  }
};

TEST_P(PoolQueueTest, HasAThreadForEachTransferInFlight) {
  meeting.together = GetParam();
  PoolQueue queue(GetParam(), meet, {});
  submit_and_wait(queue, GetParam());
  EXPECT_EQ(meeting.threads.size(), GetParam());
}

TEST_P(PoolQueueTest, StartsNoMoreThanAreBusyAtOnce) {
  meeting.together = 1;
  PoolQueue queue(GetParam(), meet, {});
  for (int i = 0; i < 100; ++i) submit_and_wait(queue, 1);
  EXPECT_EQ(meeting.threads.size(), 1U);
}

TEST_P(PoolQueueTest, HasAThreadForEachLargeTransferInFlight) {
  meeting.together = GetParam();
  PoolQueue queue(GetParam(), meet, {.bytes_at_once = 4096});
  submit_and_wait(queue, GetParam(), 4096);
  EXPECT_EQ(meeting.threads.size(), GetParam());
}

TEST_P(PoolQueueTest, TakesSmallTransfersTogether) {
  meeting.together = 2;  // the first waits until this thread comes too
  PoolQueue queue(GetParam() + 1, meet, {.most = 1, .bytes_at_once = 4096});
  for (unsigned i = 0; i <= GetParam(); ++i) submit(queue, i, 100);
  meet({});
  // The first alone, or with others that were there in time, and then up to 16 at a time.
  std::vector<Completion> done;
  unsigned waits = 0;
  for (; done.size() <= GetParam(); ++waits) queue.wait(done);
  EXPECT_LE(waits, 1 + (GetParam() + 15) / 16);
  for (const Completion& completion : done) EXPECT_EQ(completion.error, 0) << completion.token;
}

INSTANTIATE_TEST_SUITE_P(Depths, PoolQueueTest, ::testing::Values(1, 2, 7, 32));

}  // namespace
}  // namespace xorder::io
