// What commands say on standard error, and standard streams that are closed.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace xorder::cli {

/// Writes to standard error, which holds nothing but words to a reader: if it is closed or full they are
/// lost, and the run and its exit code go on as if somebody had read them.
void tell_text(std::string_view text) noexcept;

/// The same with a format. All that goes to standard error goes through here.
template <typename... Args>
void tell(fmt::format_string<Args...> format, Args&&... args) {
  tell_text(fmt::format(format, std::forward<Args>(args)...));
}

/// Text that a terminal shows as it is: control characters, which names of files may hold, become \x1b; line
/// ends stay.
std::string printable(std::string_view text);

/// Gives the numbers of standard streams that are closed to something that can neither be read nor written.
/// Else the next files that are opened would have them, and messages would be written into the data.
void occupy_closed_streams();

}  // namespace xorder::cli
