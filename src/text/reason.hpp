// What the system says of an error.
#pragma once

#include <string>

namespace xorder {

/// The text of an errno value.
std::string reason(int code);

}  // namespace xorder
