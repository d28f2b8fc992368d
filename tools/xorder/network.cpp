#include "network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ranges>
#include <vector>

#include "arguments.hpp"
#include "checked_option.hpp"
#include "io/format/text_file.hpp"
#include "option_groups.hpp"
#include "text/count_text.hpp"
#include "text/size_text.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::cli {
namespace {

schedule::LinkTimes link_times(const std::string& text, const std::string& what) {
  schedule::LinkTimes times;
  std::vector<std::string> parts;
  for (const auto part : std::views::split(text, ',')) parts.emplace_back(part.begin(), part.end());
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
    throw InputError(what + ": '" + text +
                     "' is not three numbers, 0 or more, STARTUP,PER_HOP,PER_BYTE, optionally followed by "
                     ",one-port or ,all-port");
  }
  return times;
}

// The words that once meant times get the new spelling.
InputError not_a_network(const std::string& text) {
  const bool times = text.find_first_of("0123456789") == 0;
  return InputError(
      fmt::format("--network names a network, for xorder schedule file and xorder machine run; times are "
                  "--network-times {}",
                  times ? text : "STARTUP,PER_HOP,PER_BYTE"));
}

schedule::Network parse_network(const std::string& text, const std::string& what) {
  using schedule::Network;
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string kind = text.substr(0, colon), size = text.substr(std::min(colon + 1, text.size()));
  if (kind == "hypercube" && !size.empty()) return Network::hypercube(parse_int(size, what));
  if (kind == "mesh" && !size.empty()) return Network::mesh(parse_count(size, what));
  if (kind == "torus" && !size.empty()) return Network::torus(parse_count(size, what));
  if (kind == "crossbar" && !size.empty()) return Network::crossbar(exact_lg(parse_count(size, what), what));
  if (text.find_first_of("0123456789") == 0) throw not_a_network(text);
  throw InputError(fmt::format("{}: '{}' is not hypercube:D, mesh:N, torus:N or crossbar:P", what, text));
}

}  // namespace

const std::map<std::string, schedule::Mesh::Routing>& routings() {
  using Routing = schedule::Mesh::Routing;
  static const std::map<std::string, Routing> all = {{"any", Routing::any},
                                                     {"xy", Routing::xy},
                                                     {"two-phase", Routing::two_phase},
                                                     {"recursive", Routing::recursive}};
  return all;
}

std::string network_text(const schedule::Network& network) {
  const bool crossbar = network.kind() == schedule::Network::Kind::crossbar;
  const std::uint64_t size = network.has_rows() ? network.side()
                             : crossbar         ? network.nodes()
                                                : static_cast<std::uint64_t>(network.dimension());
  return fmt::format("{}:{}", name_of(network.kind()), size);
}

schedule::Listed read_schedule(const std::string& file, const schedule::Network& network,
                               const std::optional<schedule::Task>& task,
                               std::optional<std::uint64_t> slots) {
  constexpr std::uint64_t largest = std::uint64_t{1} << 30;
  return schedule::Listed::read(io::read_text(file, largest), file, network, task, slots);
}

void add_network(CLI::App& command, std::optional<schedule::Network>& network) {
  command.remove_option(command.get_option("--network"));  // that of add_network_times
  add_parsed(command, "--network", "hypercube:D|mesh:N|torus:N|crossbar:P", network, parse_network,
             "the network: a hypercube of 2^D nodes, N x N nodes in rows and columns, or P that all reach "
             "each other")
      ->required();
}

CLI::Option* add_network_times(CLI::App& command, std::optional<schedule::LinkTimes>& times,
                               const std::string& what) {
  const auto refuse = [](const std::string& text) { throw not_a_network(text); };
  command.add_option_function<std::string>("--network", refuse)->group("");
  return add_parsed(
             command, "--network-times", "STARTUP,PER_HOP,PER_BYTE[,one-port|all-port]", times, link_times,
             "print " + what +
                 " if a message of m bytes over h links takes startup + h per_hop + m per_byte, or with "
                 "store and forward startup + h (per_hop + m per_byte); default: all-port")
      ->group(group::reporting);
}

std::string traffic_text(const schedule::Traffic& traffic) {
  std::string text =
      fmt::format("schedule {} on {}: {}, {}, {}, {} moved\n", traffic.schedule,
                  count_text(traffic.processors, "virtual processor"), count_text(traffic.steps, "step"),
                  count_text(traffic.messages, "message"), count_text(traffic.crossings, "link crossing"),
                  size_text(static_cast<double>(traffic.bytes_moved)));
  if (!traffic.time) return text;
  const auto& [times, runs, store_and_forward, wormhole] = *traffic.time;
  return text + fmt::format(
                    "time with {}, {} of the schedule: store and forward {:.6g} in lock step, {:.6g} "
                    "asynchronously; wormhole {:.6g} and {:.6g}\n",
                    times.one_port ? "one port" : "all ports", count_text(runs, "run"),
                    store_and_forward.lock_step, store_and_forward.asynchronous, wormhole.lock_step,
                    wormhole.asynchronous);
}

nlohmann::json traffic_json(const schedule::Traffic& traffic) {
  nlohmann::json json{{"schedule", traffic.schedule},   {"processors", traffic.processors},
                      {"steps", traffic.steps},         {"messages", traffic.messages},
                      {"crossings", traffic.crossings}, {"bytes_moved", traffic.bytes_moved}};
  if (traffic.time) {
    const schedule::NetworkTime& time = *traffic.time;
    json["timing"] = timing_json(time.times, time.store_and_forward, time.wormhole);
    json["timing"]["runs"] = time.runs;
  }
  return json;
}

nlohmann::ordered_json timing_json(const schedule::LinkTimes& times,
                                   const schedule::Duration& store_and_forward,
                                   const schedule::Duration& wormhole) {
  const auto both = [](const schedule::Duration& time) {
    return nlohmann::ordered_json{{"lock_step", time.lock_step}, {"asynchronous", time.asynchronous}};
  };
  return {{"startup", times.startup},
          {"per_hop", times.per_link},
          {"per_byte", times.per_byte},
          {"ports", times.one_port ? "one" : "all"},
          {"store_and_forward", both(store_and_forward)},
          {"wormhole", both(wormhole)}};
}

}  // namespace xorder::cli
