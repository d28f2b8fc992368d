#include "network_option.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include "xorder/error.hpp"

namespace xorder::cli {

CLI::Option* add_network(CLI::App& command, std::string& text, const std::string& what) {
  return command
      .add_option("--network", text,
                  "print " + what +
                      " if a message of m bytes over h links takes startup + h per_hop + m per_byte, or with "
                      "store and forward startup + h (per_hop + m per_byte); default: all-port")
      ->type_name("STARTUP,PER_HOP,PER_BYTE[,one-port|all-port]");
}

std::optional<schedule::LinkTimes> link_times(const std::string& text) {
  if (text.empty()) return std::nullopt;
  schedule::LinkTimes times;
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back().push_back(c);
    }
  }
  bool right = parts.size() == 3 || parts.size() == 4;
  const std::array<double*, 3> values = {&times.startup, &times.per_link, &times.per_byte};
  for (std::size_t i = 0; right && i < 3; ++i) {
    const char* const end = parts[i].data() + parts[i].size();
    const auto result = std::from_chars(parts[i].data(), end, *values[i]);
    right = result.ec == std::errc() && result.ptr == end && std::isfinite(*values[i]) && *values[i] >= 0;
  }
  if (right && parts.size() == 4) {
    times.one_port = parts[3] == "one-port";
    right = times.one_port || parts[3] == "all-port";
  }
  if (!right) {
    throw InputError("--network: '" + text +
                     "' is not three numbers, 0 or more, STARTUP,PER_HOP,PER_BYTE, optionally followed by "
                     ",one-port or ,all-port");
  }
  return times;
}

}  // namespace xorder::cli
