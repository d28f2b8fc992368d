// --network: how long a schedule takes on a network.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "xorder/schedule/timing.hpp"

namespace xorder::cli {

/// Adds the option. `what` says in its help what is printed. `text` must live as long as the command.
CLI::Option* add_network(CLI::App& command, std::string& text, const std::string& what);

/// "startup,per_hop,per_byte[,one-port|all-port]"; nothing if the text is empty. Throws InputError.
std::optional<schedule::LinkTimes> link_times(const std::string& text);

}  // namespace xorder::cli
