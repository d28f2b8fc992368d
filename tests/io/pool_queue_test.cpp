#include "io/queue/pool_queue.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <map>
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

INSTANTIATE_TEST_SUITE_P(Depths, PoolQueueTest, ::testing::Values(1, 2, 7, 32));

// Transfer 0 waits until all are in the queue. Transfer 2 tells that it has begun, and waits until it may end.
struct Gates {
  std::mutex mutex;
  std::condition_variable changed;
  bool all_queued = false, last_begun = false, may_end = false;

  void open(bool Gates::*gate) {
    const std::lock_guard lock(mutex);
    this->*gate = true;
    changed.notify_all();
  }
  bool pass(bool Gates::*gate) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(60), [&] { return this->*gate; });
  }
} gates;

Completion pass_gates(const Transfer& transfer) {
  bool passed = true;
  if (transfer.token == 0) passed = gates.pass(&Gates::all_queued);
  if (transfer.token == 2) {
    gates.open(&Gates::last_begun);
    passed = gates.pass(&Gates::may_end);
  }
  return {transfer.token, passed ? 0 : ETIMEDOUT, 0};
}

TEST(PoolQueueBatches, AreCompletedAsAWhole) {
  gates.all_queued = gates.last_begun = gates.may_end = false;  // this may be a repetition
  PoolQueue queue(3, pass_gates, {.most = 1, .bytes_at_once = 4096});
  submit(queue, 0, 4096);  // too large to be taken with others
  submit(queue, 1, 100);
  submit(queue, 2, 100);
  std::map<std::uint64_t, int> errors;
  const auto collect = [&](std::size_t count) {
    std::vector<Completion> done;
    while (errors.size() < count) {
      done.clear();
      queue.wait(done);
      for (const Completion& completion : done) errors[completion.token] = completion.error;
    }
  };
  queue.post(3);
  collect(1);  // whoever waits starts what was queued
  gates.open(&Gates::all_queued);
  ASSERT_TRUE(gates.pass(&Gates::last_begun));
  collect(2);
  EXPECT_EQ(errors, (std::map<std::uint64_t, int>{{0, 0}, {3, 0}}));  // 1 has ended, in one batch with 2
  gates.open(&Gates::may_end);
  collect(4);
  EXPECT_EQ(errors, (std::map<std::uint64_t, int>{{0, 0}, {1, 0}, {2, 0}, {3, 0}}));
}

}  // namespace
}  // namespace xorder::io
