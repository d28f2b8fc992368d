// Seconds as text for people.
#pragma once

#include <fmt/format.h>

#include <string>

namespace xorder {

/// Two digits, or all whole seconds: "0.35 s", "1.2 s", "118 s".
inline std::string seconds_text(double seconds) {
  return seconds < 10 ? fmt::format("{:.2g} s", seconds) : fmt::format("{:.0f} s", seconds);
}

}  // namespace xorder
