#include "text/size_text.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>

namespace xorder {

std::string size_text(std::uint64_t bytes) { return size_text(static_cast<double>(bytes)); }

std::string size_text(double bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  // 1023.96 would round to 1024.
  while (bytes >= 1023.95 && unit + 1 < std::size(units)) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.4g} {}", bytes, units[unit]);
}

}  // namespace xorder
