// Signals: ctrl-C ends a run cleanly, and a fault in a mapped file ends the program with one line.
#pragma once

#include <memory>
#include <stop_token>

namespace xorder::cli {

/// While it lives, SIGINT, SIGTERM and SIGHUP request a stop instead of killing the process: the run cleans
/// up and throws Cancelled. A second signal kills as usual, unless it comes within a second of the first:
/// `timeout`, for example, sends each signal twice. After a stop request the signals stay blocked even when
/// this object is gone, so that the program can still report that it was interrupted. Create it before any
/// thread, so that all threads block the signals.
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

/// Writes what is left for standard output and ends the process by this signal, as if nobody had handled it,
/// so that a shell stops its loop. Returns only if the kernel protects the process from its own signals, as
/// it does for the first process of a container.
void end_by_signal(int signal);

/// Makes SIGBUS (the disk could not deliver a mapped page) print one line and exit with code 1.
void install_fault_handler();

}  // namespace xorder::cli
