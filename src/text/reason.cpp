#include "text/reason.hpp"

#include <cstring>

namespace xorder {

std::string reason(int code) {
  char buffer[128];
  return strerror_r(code, buffer, sizeof buffer);
}

}  // namespace xorder
