#include "text/seconds_text.hpp"

#include <fmt/format.h>

namespace xorder {

std::string seconds_text(double seconds) {
  constexpr double minute = 60, hour = 60 * minute, day = 24 * hour;
  if (seconds < 5 * minute) return fmt::format("{:.3g} s", seconds);
  if (seconds < 2 * hour) return fmt::format("{:.3g} min", seconds / minute);
  if (seconds < 2 * day) return fmt::format("{:.3g} h", seconds / hour);
  return seconds < 999.5 * day ? fmt::format("{:.3g} days", seconds / day)
                              : fmt::format("{:.0f} days", seconds / day);
}

}  // namespace xorder
