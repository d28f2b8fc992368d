#include "standard_streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "text/utf8.hpp"

namespace xorder::cli {

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Utf8Character c = first_character(text);
    if (c.code && (prints(*c.code) || c.code == U'\n')) {
      result += c.bytes;
    } else {
      for (const char byte : c.bytes) result += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    }
    text.remove_prefix(c.bytes.size());
  }
  return result;
}

std::string on_one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return printable(text);
}

void tell_text(std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void occupy_closed_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // With O_PATH every read and write fails with EBADF, as on a closed descriptor. open() takes the lowest
    // free number, which is fd.
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) static_cast<void>(open("/", O_PATH | O_CLOEXEC));
  }
}

}  // namespace xorder::cli
