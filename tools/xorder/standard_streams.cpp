#include "standard_streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace xorder::cli {

void tell_text(std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void occupy_closed_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // With O_PATH every read and write fails with EBADF, as it does where nothing is open. The lowest number
    // that is free is taken, which is fd.
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) static_cast<void>(open("/", O_PATH | O_CLOEXEC));
  }
}

}  // namespace xorder::cli
