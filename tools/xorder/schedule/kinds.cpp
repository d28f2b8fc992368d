// Each kind of schedule: checks its parameters and makes the table that its paper prints.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "arguments.hpp"
#include "io/format/text_file.hpp"
#include "io/memory.hpp"
#include "network.hpp"
#include "schedule/bounds.hpp"
#include "schedule/descend/aspc.hpp"
#include "schedule/descend/descend.hpp"
#include "schedule/mesh/torus.hpp"
#include "schedule/path.hpp"
#include "schedule/rounds.hpp"
#include "schedule/routed/isotropic.hpp"
#include "schedule/shown.hpp"
#include "text/count_text.hpp"
#include "text/size_text.hpp"
#include "text_file.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/bmmc.hpp"
#include "xorder/permutation/expression.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::cli {
namespace {

using schedule::Message;
using schedule::Node;
using std::uint64_t;
using Row = std::vector<nlohmann::json>;

// By node of a mesh or a torus, the step in which its block leaves, and its first direction; empty if it
// stays.
std::vector<std::string> first_ways(const schedule::Schedule& mesh) {
  const schedule::Network& network = mesh.network();
  std::vector<std::string> ways(network.nodes());
  std::vector<Message> messages;
  for (uint64_t step = 0; step < mesh.steps(); ++step) {
    mesh.messages(step, messages);
    for (const Message& m : messages) {
      const Node from = m.from.node;
      if (m.from.slot != 0 || !ways[from].empty()) continue;
      const Node next = network.next(from, m.via);
      const bool in_row = from / network.side() == next / network.side();
      const bool down_or_right = network.link(from, next).value() % 2 == 1;
      const char* const arrows[2][2] = {{"↑", "↓"}, {"←", "→"}};
      ways[from] = fmt::format("{}{}", step, arrows[in_row ? 1 : 0][down_or_right ? 1 : 0]);
    }
  }
  return ways;
}

std::string slot_label(uint64_t, const Message& m) { return std::to_string(m.from.slot); }

}  // namespace

int checked_dimension(int dimension) {
  if (dimension < 0 || dimension > schedule::Network::max_dimension) {
    throw InputError(fmt::format("--dimension is {}; a schedule has 2^0 to 2^{} virtual processors",
                                 dimension, schedule::Network::max_dimension));
  }
  return dimension;
}

std::vector<std::string> numbered(const std::string& name, int count, int first) {
  std::vector<std::string> names;
  for (int i = first; i < first + count; ++i) names.push_back(fmt::format("{}{}", name, i));
  return names;
}

std::vector<Colour> by_distance(int d) {
  std::vector<Colour> colours;
  for (int k = 1; k <= d; ++k) colours.push_back({colour::shade(k - 1, d), fmt::format("{}", k)});
  if (d > 0) colours.back().meaning += " links from source to target";
  return colours;
}

namespace {

uint64_t busy_steps(const schedule::Schedule& s) {
  uint64_t busy = 0;
  for (uint64_t step = 0; step < s.steps(); ++step) busy += s.load(step).messages > 0;
  return busy;
}

}  // namespace

ShownSchedule show_rounds(const RoundsOptions& o) {
  if (o.by.empty() == o.matrix_file.empty() || o.by.empty() == o.bits.has_value()) {
    throw InputError("bmmc takes --by with --bits, or --matrix");
  }
  const gf2::AffineMap map = o.by.empty() ? read_matrix(o.matrix_file) : parse_expression(o.by, *o.bits);
  const int bits = map.bits();
  const uint64_t processors = o.processors;
  auto rounds = make_rounds(map, processors, o.layout);
  const schedule::Rounds* r = rounds.get();

  ShownSchedule shown;
  const std::string what = o.by.empty() ? fmt::format("--matrix '{}'", o.matrix_file)
                                        : fmt::format("--by '{}' --bits {}", o.by, bits);
  shown.title = fmt::format("bmmc {} --processors {} --layout {}", what, processors, o.layout);
  const uint64_t chunk = uint64_t{1} << r->lg_chunk();
  shown.summary = fmt::format("{} of chunks of {} between {}", count_text(r->steps(), "round"),
                              count_text(chunk, "element"), count_text(processors, "processor"));
  shown.parameters = {{o.by.empty() ? "matrix" : "by", o.by.empty() ? o.matrix_file : o.by},
                      {"bits", bits},
                      {"processors", processors},
                      {"layout", lowest_processor_bit(bits, processors, o.layout)}};
  shown.busy_steps = busy_steps(*r);  // in one round all chunks may stay
  shown.facts = {{"rank_gamma", r->factors().rank}, {"rounds", r->steps()}};
  if (o.factors) shown.factors = named(r->factors());
  shown.table = {"the processor to which each one sends its chunk of the round", "round", {}, r->steps(), {}};
  for (Node k = 0; k < processors; ++k) shown.table.columns.push_back(fmt::format("P{}", k));
  shown.table.row = [r, processors](uint64_t round) {
    Row row;
    for (Node k = 0; k < processors; ++k) row.emplace_back(r->target(k, round));
    return row;
  };
  shown.colours = {{colour::navy, "to another processor"}, {colour::grey, "stays"}};
  shown.label_meaning = "the receiver";
  shown.mark = [](uint64_t, const Message& m) { return Mark{stays(m) ? 1u : 0u, std::to_string(m.to.node)}; };
  shown.schedule = std::move(rounds);
  if (o.indices) show_indices(shown, map, lowest_processor_bit(bits, processors, o.layout));
  return shown;
}

ShownSchedule show_isotropic(const std::string& tags_file) {
  const RoutingTags task = parse_tags(io::read_text(tags_file), tags_file);
  const int d = checked_dimension(task.dimension);
  auto isotropic = std::make_unique<schedule::Isotropic>(task.tags, d);
  const schedule::Isotropic* t = isotropic.get();
  ShownSchedule shown;
  shown.title = fmt::format("isotropic --tags {}", tags_file);
  shown.summary = fmt::format("{} per node on 2^{} nodes; critical sum {}",
                              count_text(task.tags.size(), "packet"), d, t->steps());
  shown.parameters = {{"tags", tags_file}, {"dimension", d}};
  shown.facts = {{"critical_sum", t->steps()}, {"packets", task.tags.size()}};
  shown.table = {"which packet (by the number of its tag, from 0) crosses each dimension", "step",
                 numbered("j=", d), t->steps(), [t, d](uint64_t step) {
                   Row row;
                   for (int j = 0; j < d; ++j) {
                     const int packet = t->packet(step, j);
                     row.push_back(packet < 0 ? nlohmann::json() : nlohmann::json(packet));
                   }
                   return row;
                 }};
  shown.colours = by_distance(d);
  shown.label_meaning = "the packet";
  shown.mark = [t](uint64_t step, const Message& m) {
    const uint64_t tag = t->tags()[static_cast<std::size_t>(m.from.slot)];
    return Mark{static_cast<std::size_t>(std::popcount(tag)) - 1, slot_label(step, m)};
  };
  shown.schedule = std::move(isotropic);
  return shown;
}

ShownSchedule show_mesh(uint64_t size, const std::string& routing, bool torus) {
  const char* const name = torus ? "torus" : "mesh";
  if (size == 0) throw InputError(fmt::format("--size is 0; a {} has at least one row", name));
  static const std::map<std::string, std::string> meanings = {{"any", "any routing"},
                                                              {"xy", "row-first (XY) routing"},
                                                              {"two-phase", "in two phases"},
                                                              {"recursive", "by recursive exchange"}};
  ShownSchedule shown;
  shown.schedule = schedule::mesh_schedule(size, routings().at(routing), torus);
  shown.title = fmt::format("mesh --size {} --routing {}{}", size, routing, torus ? " --torus" : "");
  shown.summary = fmt::format("transposition of {} × {} blocks on a {} with wormhole switching, {}", size,
                              size, name, meanings.at(routing));
  shown.parameters = {{"size", size}, {"routing", routing}, {"torus", torus}};
  if (!torus) {
    if (size % 2 == 0) {
      const schedule::MeshPhases phases = schedule::mesh_phases(size);
      shown.facts["two_phases_of_the_paper"] = {phases.first, phases.second};
    }
    shown.facts["lower_bound_of_a_torus"] = schedule::torus_bound(size);
  }
  auto ways = std::make_shared<std::vector<std::string>>(first_ways(*shown.schedule));
  shown.table = {"the step in which each node's block leaves, and its first direction", "row",
                 numbered("", static_cast<int>(size)), size, [ways, size](uint64_t i) {
                   Row row;
                   for (uint64_t j = 0; j < size; ++j) {
                     const std::string& way = (*ways)[i * size + j];
                     row.push_back(way.empty() ? nlohmann::json() : nlohmann::json(way));
                   }
                   return row;
                 }};
  shown.colours = {{colour::navy, torus ? "from at most N/2 below the diagonal" : "up and to the right"},
                   {colour::orange, torus ? "from above it" : "down and to the left"}};
  shown.mark = [size, torus](uint64_t, const Message& m) {
    const uint64_t i = m.from.node / size, j = m.from.node % size;
    const bool below = torus ? 2 * ((i + size - j) % size) <= size : m.from.node > m.to.node;
    return Mark{(m.from.slot == 0 ? below : m.from.slot == 1) ? 0u : 1u, ""};
  };
  return shown;
}

ShownSchedule show_aspc(int dimension, const std::string& half, std::optional<int> b) {
  const int n = checked_dimension(dimension);
  using schedule::AspcHalf;
  using Halves = schedule::Aspc::Halves;
  const Halves halves = half == "plus" ? Halves::plus : half == "minus" ? Halves::minus : Halves::both;
  ShownSchedule shown;
  const char* const sign = half == "plus" ? "+" : half == "minus" ? "-" : "±";
  shown.parameters = {{"dimension", n}, {"half", half}};
  if (b) {
    shown.title = fmt::format("plus-minus --dimension {} --by {} --half {}", n, *b, half);
    shown.summary = fmt::format("i to i {} 2^{} on 2^{} nodes in Gray code", sign, *b, n);
    shown.parameters["by"] = *b;
  } else {
    shown.title = fmt::format("aspc --dimension {} --half {}", n, half);
    shown.summary =
        fmt::format("(i | j) to (i {} 2^j | j) on 2^{} nodes in Gray code, {} slots each", sign, n, n);
  }
  auto aspc = std::make_shared<const schedule::Aspc>(b ? schedule::Aspc::alone(n, halves, *b)
                                                       : schedule::Aspc(n, halves));
  shown.schedule = aspc;
  const int first = b.value_or(0), end = b ? first + 1 : n;

  std::vector<AspcHalf> shown_halves;
  if (halves != Halves::minus) shown_halves.push_back(AspcHalf::plus);
  if (halves != Halves::plus) shown_halves.push_back(AspcHalf::minus);
  shown.table = {
      "first links of node i: phi(j) in the plus half, phi'(j) in the minus half; then the second links",
      "i",
      {},
      n == 0 ? 0 : uint64_t{1} << n,
      {}};
  for (const bool second : {false, true}) {
    for (const AspcHalf h : shown_halves) {
      const char* name = h == AspcHalf::plus ? "phi" : "phi'";
      for (int j = std::max(first, second ? 1 : 0); j < end; ++j) {
        shown.table.columns.push_back(second ? fmt::format("2nd{}({})", h == AspcHalf::plus ? "" : "'", j)
                                             : fmt::format("{}({})", name, j));
      }
    }
  }
  shown.table.row = [n, first, end, shown_halves](uint64_t i) {
    Row row;
    for (const bool second : {false, true}) {
      for (const AspcHalf h : shown_halves) {
        for (int j = std::max(first, second ? 1 : 0); j < end; ++j) {
          const schedule::AspcWay way = schedule::aspc_way(h, i, j, n);
          row.emplace_back(second ? way.second : way.first);
        }
      }
    }
    return row;
  };
  shown.steps_in_a_group = b || n == 2 ? 0 : n == 1 ? 1 : 2;
  shown.colours = {{colour::navy, "plus half, first link"},
                   {colour::steel, "second link"},
                   {colour::orange, "minus half, first link"},
                   {colour::sand, "second link"}};
  shown.label_meaning = b ? "b" : "the slot j";
  shown.mark = [aspc](uint64_t step, const Message& m) {
    const auto [h, j] = aspc->sent_in(m.to.slot);
    std::size_t mark = h == AspcHalf::minus ? 2 : 0;
    for (const auto& hop : aspc->hops(step)) mark += hop.half == h && hop.j == j && hop.second_link ? 1 : 0;
    return Mark{mark, std::to_string(j)};
  };
  return shown;
}

namespace {

// Throws if a schedule of 2^v elements per node is too large to be made or shown.
void require_showable(int n, int v) {
  constexpr uint64_t most_shown = 10'000'000;
  const uint64_t needed = schedule::Descend::memory_of(n, std::min(v, 50));
  const uint64_t available = io::available_memory();  // 0 if it is not known
  const uint64_t rows = uint64_t{1} << v, columns = static_cast<uint64_t>(n) + 1;
  if (rows <= most_shown / columns && (available == 0 || needed <= available / 2)) return;
  throw InputError(
      fmt::format("--per-node is 2^{}: the schedule takes {} of memory, of {} that are available, and is a "
                  "table of 2^{} × {} entries, of which at most 10^7 can be shown",
                  v, size_text(needed), size_text(available), v, columns));
}

}  // namespace

ShownSchedule show_descend(int dimension, uint64_t per_node, bool ascend) {
  const int n = checked_dimension(dimension);
  const int v = exact_lg(per_node, "--per-node");
  require_showable(n, v);
  using Order = schedule::Descend::Order;
  auto descend = std::make_unique<schedule::Descend>(n, v, ascend ? Order::ascend : Order::descend);
  const schedule::Descend* d = descend.get();
  ShownSchedule shown;
  shown.title = fmt::format("descend --dimension {} --per-node {}{}", n, per_node, ascend ? " --ascend" : "");
  shown.summary = fmt::format("{} iterations of 2^{} elements on 2^{} nodes in {} of 4 steps", n + v, n + v,
                              n, count_text(d->rounds(), "round"));
  shown.parameters = {{"dimension", n}, {"per_node", per_node}, {"ascend", ascend}};
  shown.busy_steps = busy_steps(*d);
  shown.facts = {{"rounds", d->rounds()}, {"formula_steps", d->steps()}};
  shown.table = {
      "the offset that does iteration b on every node; local: the class of offsets that does iteration b",
      "round",
      {},
      d->rounds(),
      {}};
  for (int j = n; j-- > 0;) shown.table.columns.push_back(fmt::format("b={}", v + j));
  shown.table.columns.push_back("local");
  shown.table.row = [d, n](uint64_t number) {
    const schedule::Descend::Round round = d->round(number);
    Row row(static_cast<std::size_t>(n) + 1);
    for (const auto& p : round.pipelined) row[static_cast<std::size_t>(n - 1 - p.j)] = p.offset;
    if (round.local) {
      row.back() =
          fmt::format("{} mod {}: b={}", round.local->residue, uint64_t{1} << round.local->b, round.local->b);
    }
    return row;
  };
  shown.steps_in_a_group = schedule::Descend::steps_per_round;
  shown.colours = {{colour::navy, "to i + 2^j, first link"},
                   {colour::steel, "second link"},
                   {colour::orange, "to i - 2^j, first link"},
                   {colour::sand, "second link"},
                   {colour::green, "local iteration, to the neighbour"}};
  shown.label_meaning = "the slot j, or the offset of the element that a local iteration needs";
  shown.mark = [d, n](uint64_t step, const Message& m) {
    const uint64_t arrivals = uint64_t{1} << d->lg_per_node(), slots = static_cast<uint64_t>(n);
    if (m.to.slot >= arrivals + 2 * slots) return Mark{4, std::to_string(m.from.slot)};
    return Mark{step % schedule::Descend::steps_per_round, std::to_string((m.to.slot - arrivals) % slots)};
  };
  shown.schedule = std::move(descend);
  return shown;
}

}  // namespace xorder::cli
