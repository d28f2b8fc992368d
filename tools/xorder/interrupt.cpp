#include "interrupt.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <thread>

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
    pthread_sigmask(SIG_BLOCK, &signals, &old);
    signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
    end_fd = eventfd(0, EFD_CLOEXEC);
    thread = std::thread([this] { watch(); });
  }
  ~Watcher() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(end_fd, &one, sizeof one);
    thread.join();
    close(signal_fd);
    close(end_fd);
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
  }

  void watch() {
    pollfd fds[2] = {{signal_fd, POLLIN, 0}, {end_fd, POLLIN, 0}};
    while (poll(fds, 2, -1) < 0) {
    }
    signalfd_siginfo info{};
    if (fds[0].revents == 0 || read(signal_fd, &info, sizeof info) != sizeof info) return;
    last_signal = static_cast<int>(info.ssi_signo);
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);  // this thread now takes the second signal, which kills
    stop.request_stop();
    while (poll(fds + 1, 1, -1) < 0) {
    }
  }

  sigset_t signals{}, old{};
  int signal_fd = -1, end_fd = -1;
  std::stop_source stop;
  std::thread thread;
};

Interrupt::Interrupt() : watcher_(std::make_unique<Watcher>()) {}
Interrupt::~Interrupt() = default;
std::stop_token Interrupt::token() const { return watcher_->stop.get_token(); }

int interrupting_signal() { return last_signal; }

void install_fault_handler() {
  struct sigaction action {};
  action.sa_handler = [](int) {
    constexpr char text[] = "xorder: a mapped page could not be read or written (the disk failed, or the file shrank)\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text, sizeof text - 1);
    _exit(1);
  };
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace xorder::cli
