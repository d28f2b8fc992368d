#include "progress_bar.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>

#include "standard_streams.hpp"
#include "text/size_text.hpp"

namespace xorder::cli {
namespace {

int terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// The longest is "99:59:59" or "999 days". Before anything has moved the time left is infinite.
std::string duration(double seconds) {
  constexpr long hour = 3600, day = 24 * hour;
  if (!(seconds < 999.0 * day)) return "-:--";
  const auto s = static_cast<long>(seconds + 0.5);
  if (s >= 100 * hour) return fmt::format("{} days", s / day);
  return s >= hour ? fmt::format("{}:{:02}:{:02}", s / hour, s / 60 % 60, s % 60)
                   : fmt::format("{}:{:02}", s / 60, s % 60);
}

// The longest is "1023 MiB" or "1.234 MiB".
std::string padded_size(double bytes) { return fmt::format("{:>9}", size_text(bytes)); }

}  // namespace

bool ProgressBar::possible() {
  const char* const terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) != 0 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

ProgressBar::~ProgressBar() {
  if (columns_ > 0) tell("\r{:{}}\r", "", columns_);
}

// Bytes count when they are read and again when they are written, in every pass. The line shows the bytes of
// the file that have gone through this pass; the percentage is of all passes. Every field has a fixed width.
// Fields that do not fit on the line are left out, the least important ones first. Blanks overwrite the rest
// of a longer line, so no control sequences are needed.
void ProgressBar::show(const work::Progress& p) {
  if (!enabled_ || p.bytes_total == 0 || !due()) return;
  const double done = static_cast<double>(p.bytes_done), total = static_cast<double>(p.bytes_total);
  const double elapsed = std::chrono::duration<double>(last_ - begin_).count();
  const double rate = done / std::max(elapsed, 1e-9);
  const double file = total / 2 / static_cast<double>(p.passes);
  // Other processes may still be in the previous pass.
  const double in_this_pass = std::max(done / 2 - file * static_cast<double>(p.pass - 1), 0.0);

  // A line that fills the terminal would wrap.
  const int room = std::max(terminal_columns() - 1, 0);
  std::string percent = fmt::format(" {:>3.0f}%", 100 * done / total);
  std::string left = fmt::format("  {:>8} left", elapsed < 0.5 ? "-:--" : duration((total - done) / rate));
  std::string bytes = fmt::format("  {} of {}", padded_size(in_this_pass), size_text(file));
  std::string speed = fmt::format("  {}/s", padded_size(rate / 2));
  std::string pass = p.passes > 1 ? fmt::format("  pass {} of {}", p.pass, p.passes) : "";
  int used = 0;
  for (std::string* field : {&percent, &left, &bytes, &speed, &pass}) {
    const int width = static_cast<int>(field->size());
    if (used + width > room) field->clear();
    used += static_cast<int>(field->size());
  }
  draw(done / total, percent + bytes + speed + left + pass, room);
}

void ProgressBar::show(double part, std::string_view what) {
  if (!enabled_ || !due()) return;
  const int room = std::max(terminal_columns() - 1, 0);
  const double elapsed = std::chrono::duration<double>(last_ - begin_).count();
  const std::string text =
      fmt::format(" {:>3.0f}%  {:>8} left  {:<28}", 100 * part,
                  part < 0.02 ? "-:--" : duration(elapsed * (1 - part) / part), what.substr(0, 28));
  draw(part, text.substr(0, static_cast<std::size_t>(room)), room);
}

bool ProgressBar::due() {
  const auto now = Clock::now();
  if (now - last_ < std::chrono::milliseconds(100)) return false;
  last_ = now;
  return true;
}

void ProgressBar::draw(double part, const std::string& words, int room) {
  std::string text = words;
  const int width = std::clamp(room - static_cast<int>(text.size()) - 3, 0, 40);
  const int filled = static_cast<int>(width * std::clamp(part, 0.0, 1.0));
  if (width > 4) text = " [" + std::string(filled, '=') + std::string(width - filled, ' ') + "]" + text;
  const int columns = static_cast<int>(text.size());
  tell("\r{:<{}}", text, std::max(columns, std::min(columns_, room)));
  columns_ = columns;
}

}  // namespace xorder::cli
