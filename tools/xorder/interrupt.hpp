// Signals: ctrl-C ends a run cleanly, and a fault in a mapped file ends the program with one line.
#pragma once

#include <memory>
#include <stop_token>

namespace xorder::cli {

/// While it lives, SIGINT, SIGTERM and SIGHUP request a stop instead of killing the process: the run cleans
/// up and throws Cancelled. Another signal kills as usual, but not one that comes within a second: `timeout`,
/// for one, sends each signal twice. Once a stop was requested the signals stay blocked when this is gone, so
/// that the program can still say that it was interrupted. Make it before any thread, so that all threads
/// block the signals.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  std::stop_token token() const;

 private:
  struct Watcher;
  std::unique_ptr<Watcher> watcher_;
};

/// The signal that requested the stop, SIGINT if none did.
int interrupting_signal();

/// On SIGBUS (a mapped page that the disk could not deliver) writes one line and ends with exit code 1.
void install_fault_handler();

}  // namespace xorder::cli
