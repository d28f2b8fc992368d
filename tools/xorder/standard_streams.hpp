// Messages on standard error, and closed standard streams.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace xorder::cli {

/// Writes to standard error. Failures are ignored, because only people read these messages: the run and its
/// exit code do not depend on them.
void tell_text(std::string_view text) noexcept;

/// The same with a format. All messages on standard error go through here.
template <typename... Args>
void tell(fmt::format_string<Args...> format, Args&&... args) {
  tell_text(fmt::format(format, std::forward<Args>(args)...));
}

/// Escapes what cannot be shown, which file names may contain, as in \x1b; keeps line ends.
std::string printable(std::string_view text);
/// The same without line breaks.
std::string on_one_line(std::string text);

/// Opens something that can be neither read nor written on each standard stream that is closed. Otherwise the
/// next files to be opened would get these numbers, and messages would be written into the data.
void occupy_closed_streams();

}  // namespace xorder::cli
