// What a schedule sends over a network, and how long that takes: --network and --network-times, the values of
// --routing, and the results as text and as JSON. docs/json.md has the keys.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "schedule/mesh/mesh.hpp"
#include "xorder/schedule/exchange_array.hpp"
#include "xorder/schedule/listed.hpp"
#include "xorder/schedule/traffic.hpp"

namespace xorder::cli {

/// The values of --routing.
const std::map<std::string, schedule::Mesh::Routing>& routings();

/// Adds --network-times STARTUP,PER_HOP,PER_BYTE[,one-port|all-port], which was once called --network. `what`
/// says in its help what is printed. `times` must live as long as the command.
CLI::Option* add_network_times(
    CLI::App& command, std::optional<schedule::LinkTimes>& times,
    const std::string& what = "how long the messages between virtual processors take");

/// As --network names it.
std::string network_text(const schedule::Network& network);
/// Adds --network hypercube:D|mesh:N|torus:N|crossbar:P, to a command with --network-times after that.
/// `network` must live as long as the command.
void add_network(CLI::App& command, std::optional<schedule::Network>& network);

/// Reads a schedule file as schedule::Listed::read() does.
schedule::Listed read_schedule(const std::string& file, const schedule::Network& network,
                               const std::optional<schedule::Task>& task = {},
                               std::optional<std::uint64_t> slots = {});

/// The array w(i, j) in a text file: a line of d numbers for each step, all decimal or all of d binary
/// digits. Throws InputError naming the line.
schedule::ExchangeArray read_exchange_array(const std::string& file);

std::string traffic_text(const schedule::Traffic& traffic);
nlohmann::json traffic_json(const schedule::Traffic& traffic);
/// The times on a network, and what they were computed from.
nlohmann::ordered_json timing_json(const schedule::LinkTimes& times,
                                   const schedule::Duration& store_and_forward,
                                   const schedule::Duration& wormhole);

}  // namespace xorder::cli
