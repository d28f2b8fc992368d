#include "progress_bar.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "arguments.hpp"
#include "standard_streams.hpp"

namespace xorder::cli {
namespace {

int terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string duration(double seconds) {
  const auto s = static_cast<long>(seconds + 0.5);
  return s >= 3600 ? fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60)
                   : fmt::format("{}:{:02}", s / 60, s % 60);
}

}  // namespace

ProgressBar::~ProgressBar() {
  if (drawn_) tell_text("\r\033[K");
}

// Bytes are counted as they are read and as they are written, in every pass; the bar shows bytes of the file
// that have come through this pass, and how much of all passes is done.
void ProgressBar::show(const work::Progress& p) {
  if (!enabled_ || p.bytes_total == 0) return;
  const auto now = Clock::now();
  if (now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  drawn_ = true;
  const double done = static_cast<double>(p.bytes_done), total = static_cast<double>(p.bytes_total);
  const double elapsed = std::chrono::duration<double>(now - begin_).count();
  const double rate = done / std::max(elapsed, 1e-9);
  const double file = total / 2 / static_cast<double>(p.passes);
  const double in_this_pass = done / 2 - file * static_cast<double>(p.pass - 1);
  std::string text = fmt::format(" {:>3.0f}%  {} of {}  {}/s  {} left", 100 * done / total,
                                 size_text(in_this_pass), size_text(file), size_text(rate / 2),
                                 elapsed < 0.5 ? "-:--" : duration((total - done) / rate));
  if (p.passes > 1) text += fmt::format("  pass {} of {}", p.pass, p.passes);
  const int width = std::clamp(terminal_columns() - static_cast<int>(text.size()) - 3, 0, 40);
  const int filled = static_cast<int>(width * done / total);
  if (width > 4) text = " [" + std::string(filled, '=') + std::string(width - filled, ' ') + "]" + text;
  tell("\r{}\033[K", text);
}

}  // namespace xorder::cli
