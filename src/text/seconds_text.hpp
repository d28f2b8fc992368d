// A time as text for people.
#pragma once

#include <string>

namespace xorder {

/// Three digits: "0.353 s", "118 s", "23.5 min", "3.97 h", "12.4 days".
std::string seconds_text(double seconds);

}  // namespace xorder
