// How long a system call is repeated that the system puts off.
#pragma once

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <thread>

namespace xorder::io {

/// For one call that is repeated until it makes progress.
class Patience {
 public:
  /// Whether to try again after a failure with this errno. So after EINTR and EAGAIN, but not if there has
  /// been no progress for ten seconds, or so many EINTR that it was no timer of the host's that interrupted
  /// a wait.
  bool with(int error) {
    if (error != EINTR && error != EAGAIN) return false;
    using Clock = std::chrono::steady_clock;
    if (failures_++ == 0) since_ = Clock::now();
    if (error == EINTR) return failures_ < 1'000'000;
    constexpr std::uint64_t at_once = 1000;
    if (failures_ > at_once) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return Clock::now() - since_ < std::chrono::seconds(10);
  }
  /// There was progress.
  void renew() { failures_ = 0; }

 private:
  std::uint64_t failures_ = 0;
  std::chrono::steady_clock::time_point since_;
};

}  // namespace xorder::io
