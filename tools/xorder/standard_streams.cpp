#include "standard_streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>

namespace xorder::cli {
namespace {

// The bytes of the UTF-8 character at the beginning of the text; 0 if there is none.
std::size_t character_bytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t bytes = first < 0x80                   ? 1
                            : first < 0xC2 || first > 0xF4 ? 0
                            : first < 0xE0                 ? 2
                            : first < 0xF0                 ? 3
                                                           : 4;
  if (bytes > text.size()) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  }
  return bytes;
}

// C0 controls, DEL, and U+0080 to U+009F; the latter also as single bytes, for terminals without UTF-8.
bool controls(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return (first < 0x20 && first != '\n') || (first >= 0x7F && first < 0xA0);
  return first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto character = text.substr(0, std::max<std::size_t>(character_bytes(text), 1));
    if (controls(character)) {
      for (const char c : character) result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      result += character;
    }
    text.remove_prefix(character.size());
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
