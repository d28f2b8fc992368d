#include "task/workers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>

namespace xorder::task {
namespace {

// Waits for the wish to stop, but not for ever. Returns whether it came.
bool asked(const std::stop_token& token) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!token.stop_requested() && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return token.stop_requested();
}

TEST(Workers, ATickThatThrowsStopsTheBody) {
  Workers workers(2);
  Stopping stopping({});
  bool stopped = false;
  const auto body = [&] { stopped = asked(stopping.token()); };
  EXPECT_THROW(workers.run(
                   body, [] { throw std::logic_error("the caller's"); }, stopping),
               std::logic_error);
  EXPECT_TRUE(stopped);
}

TEST(Workers, TheCallersWishReachesTheBody) {
  Workers workers(2);
  std::stop_source caller;
  Stopping stopping(caller.get_token());
  bool stopped = false;
  const auto body = [&] { stopped = asked(stopping.token()); };
  workers.run(
      body, [&] { caller.request_stop(); }, stopping);
  EXPECT_TRUE(stopped);
}

TEST(Workers, WhatTheBodyThrowsIsThrownAndTheLastTickComesAfterTheBody) {
  Workers workers(2);
  Stopping stopping({});
  EXPECT_THROW(workers.run([] { throw std::logic_error("the body's"); }, [] {}, stopping), std::logic_error);
  std::atomic<bool> done = false, seen = false;
  workers.run([&] { done = true; }, [&] { seen = done.load(); }, stopping);
  EXPECT_TRUE(seen);
}

TEST(Workers, SomethingElseHappensMeanwhileInTheCallingThread) {
  Workers workers(2);
  Stopping stopping({});
  std::promise<void> other;
  const auto caller = std::this_thread::get_id();
  bool ticked = false;
  workers.run([&] { other.get_future().wait(); }, [&] { ticked = true; }, stopping,
              [&] {
                EXPECT_EQ(std::this_thread::get_id(), caller);
                EXPECT_FALSE(ticked);
                other.set_value();
              });
  EXPECT_TRUE(ticked);

  bool stopped = false;
  const auto body = [&] { stopped = asked(stopping.token()); };
  EXPECT_THROW(workers.run(
                   body, [] {}, stopping, [] { throw std::logic_error("the caller's"); }),
               std::logic_error);
  EXPECT_TRUE(stopped);
}

}  // namespace
}  // namespace xorder::task
