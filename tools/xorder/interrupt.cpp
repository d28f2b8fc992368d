#include "interrupt.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <system_error>
#include <thread>

#include "io/descriptor.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {
namespace {

std::atomic<int> last_signal{SIGINT};

}  // namespace

struct Interrupt::Watcher {
  Watcher() {
    sigemptyset(&signals);
    for (const int s : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction now {};
      sigaction(s, nullptr, &now);
      if (now.sa_handler != SIG_IGN) sigaddset(&signals, s);  // nohup and background jobs ignore some
    }
    signal_fd = io::Descriptor(signalfd(-1, &signals, SFD_CLOEXEC));
    end_fd = io::Descriptor(eventfd(0, EFD_CLOEXEC));
    if (!signal_fd || !end_fd) throw IoError("signals", "open", errno);
    pthread_sigmask(SIG_BLOCK, &signals, &old);
    try {
      thread = std::thread([this] { watch(); });
    } catch (const std::system_error&) {
      // The system allows no more threads: let signals kill the program, as by default.
      pthread_sigmask(SIG_SETMASK, &old, nullptr);
    }
  }
  ~Watcher() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(end_fd.get(), &one, sizeof one);
    if (thread.joinable()) thread.join();
    if (!stop.stop_requested()) pthread_sigmask(SIG_SETMASK, &old, nullptr);
  }

  void watch() {
    pollfd fds[2] = {{signal_fd.get(), POLLIN, 0}, {end_fd.get(), POLLIN, 0}};
    while (poll(fds, 2, -1) < 0) {
      if (errno != EINTR) return be_killed();
    }
    signalfd_siginfo info{};
    if (fds[0].revents == 0 || read(signal_fd.get(), &info, sizeof info) != sizeof info) return;
    last_signal = static_cast<int>(info.ssi_signo);
    stop.request_stop();
    const auto grace = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    for (;;) {  // ignore signals that come with the first one
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(grace - std::chrono::steady_clock::now());
      if (left.count() <= 0) break;
      if (poll(fds, 2, static_cast<int>(left.count())) <= 0) continue;
      if (fds[1].revents != 0) return;
      [[maybe_unused]] const auto taken = read(signal_fd.get(), &info, sizeof info);
    }
    be_killed();
  }
  // The next signal reaches this thread and kills.
  void be_killed() {
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
    std::uint64_t one = 0;
    while (read(end_fd.get(), &one, sizeof one) < 0 && errno == EINTR) {
    }
  }

  sigset_t signals{}, old{};
  io::Descriptor signal_fd, end_fd;
  std::stop_source stop;
  std::thread thread;
};

Interrupt::Interrupt() : watcher_(std::make_unique<Watcher>()) {}
Interrupt::~Interrupt() = default;
std::stop_token Interrupt::token() const { return watcher_->stop.get_token(); }

int interrupting_signal() { return last_signal; }

void end_by_signal(int signal) {
  std::fflush(stdout);
  std::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  std::raise(signal);
}

void install_fault_handler() {
  struct sigaction action {};
  action.sa_handler = [](int) {
    static constinit std::atomic_flag told;
    while (told.test_and_set()) pause();  // another thread has met one, too, and ends the process
    constexpr char text[] =
        "xorder: a mapped page could not be read or written (the disk failed or is full, or the file "
        "shrank)\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text, sizeof text - 1);
    _exit(1);
  };
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace xorder::cli
