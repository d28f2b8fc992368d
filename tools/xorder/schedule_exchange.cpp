// `xorder schedule exchange`: the closed form, the user's own array, or one node's words for all others.
#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <sstream>

#include "io/text_file.hpp"
#include "schedule.hpp"
#include "xorder/error.hpp"
#include "xorder/schedule/exchange.hpp"
#include "xorder/schedule/routed.hpp"

namespace xorder::cli {
namespace {

using schedule::Message;
using schedule::Node;
using std::uint64_t;
using Row = std::vector<nlohmann::json>;

constexpr int max_dimension = schedule::Network::max_dimension;

schedule::ExchangeArray parse_array(const std::string& text, const std::string& name) {
  schedule::ExchangeArray array;
  std::istringstream lines(text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line);
    int count = 0;
    for (std::string word; words >> word && word.front() != '#'; ++count) {
      uint64_t w = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), w);
      if (error != std::errc() || end != word.data() + word.size()) {
        throw InputError(fmt::format("{}: line {}: '{}' is not a whole number", name, number, word));
      }
      array.words.push_back(w);
    }
    if (count == 0) continue;
    if (array.dimension == 0) array.dimension = count;
    if (count != array.dimension || count > max_dimension) {
      throw InputError(fmt::format("{}: line {}: {} words, {}", name, number, count,
                                   count > max_dimension
                                       ? fmt::format("at most {}", max_dimension)
                                       : fmt::format("but the first line has {}", array.dimension)));
    }
  }
  if (array.dimension == 0)
    throw InputError(fmt::format("{}: has no words; expected a line of d numbers for each step", name));
  return array;
}

// The table and the drawing for any array.
void show_words(ShownSchedule& shown, std::unique_ptr<schedule::Exchange> exchange, bool transposition) {
  const schedule::Exchange* e = exchange.get();
  const int d = e->network().dimension();
  shown.table = {fmt::format("w(i, j): in step i node v sends over link j the word at {}",
                             transposition ? "w ^ v" : "the reverse of w ^ v"),
                 "step",
                 {},
                 e->steps(),
                 [e, d](uint64_t step) {
                   Row row;
                   for (int j = 0; j < d; ++j) row.emplace_back(e->word(step, j));
                   return row;
                 }};
  for (int j = 0; j < d; ++j) shown.table.columns.push_back(fmt::format("j={}", j));
  for (int k = 1; k <= d; ++k) shown.colours.push_back({colour::shade(k - 1, d), fmt::format("{}", k)});
  if (d > 0) shown.colours.back().meaning += " links from source to target";
  shown.label_meaning = "the slot that is sent";
  shown.mark = [e](uint64_t step, const Message& m) {
    const uint64_t w = e->word(step, std::countr_zero(m.from.node ^ m.to.node));
    return Mark{static_cast<std::size_t>(std::popcount(w)) - 1, std::to_string(m.from.slot)};
  };
  shown.schedule = std::move(exchange);
}

ShownSchedule show_array(const ExchangeOptions& o, schedule::Exchange::Kind kind) {
  const schedule::ExchangeArray array = parse_array(io::read_text(o.array_file), o.array_file);
  ShownSchedule shown;
  shown.title = fmt::format("exchange --array '{}' --kind {}", o.array_file, o.kind);
  shown.summary = fmt::format("an exchange of 2^{0} × 2^{0} words by an array of {1} rows", array.dimension,
                              array.rows());
  shown.parameters = {{"array", o.array_file}, {"dimension", array.dimension}, {"kind", o.kind}};
  auto exchange = std::make_unique<schedule::Exchange>(array, kind);
  const schedule::ArrayConditions met = schedule::conditions(array);
  const auto said = [](const std::string& fault) { return fault.empty() ? "yes" : "no: " + fault; };
  shown.facts = {{"words_cross_their_links", said(met.links)},
                 {"words_of_a_row_differ", said(met.rows)},
                 {"columns_have_all_words_once", said(met.columns)}};
  show_words(shown, std::move(exchange), kind == schedule::Exchange::Kind::transposition);
  return shown;
}

ShownSchedule show_one_to_all(int d) {
  const uint64_t nodes = uint64_t{1} << d;
  constexpr int most = 13;
  if (d > most)
    throw InputError(fmt::format("--dimension is {}; one-to-all is possible for at most {}", d, most));
  std::vector<schedule::Packet> task;
  for (Node v = 1; v < nodes; ++v) task.push_back({{0, v}, {v, 0}});
  auto routed = std::make_unique<schedule::Routed>(d, nodes, task, schedule::RouteOptions{});
  const schedule::Routed* r = routed.get();
  ShownSchedule shown;
  shown.title = fmt::format("exchange --dimension {} --kind one-to-all", d);
  shown.summary = fmt::format("node 0 has a word for each of 2^{} nodes; found by search", d);
  shown.parameters = {{"dimension", d}, {"kind", "one-to-all"}};
  shown.facts = {{"greedy_steps", r->greedy_steps()}, {"scratch_slots", r->scratch_slots()}};
  shown.table = {"how many messages cross each dimension", "step", {}, r->steps(), [r, d](uint64_t step) {
                   std::vector<uint64_t> count(static_cast<std::size_t>(d), 0);
                   std::vector<Message> messages;
                   r->messages(step, messages);
                   for (const Message& m : messages) {
                     if (m.from.node != m.to.node)
                       ++count[static_cast<std::size_t>(std::countr_zero(m.from.node ^ m.to.node))];
                   }
                   return Row(count.begin(), count.end());
                 }};
  for (int j = 0; j < d; ++j) shown.table.columns.push_back(fmt::format("j={}", j));
  shown.colours = {{colour::navy, "leaves node 0"}, {colour::steel, "is passed on"}};
  shown.mark = [](uint64_t, const Message& m) { return Mark{m.from.node == 0 ? 0u : 1u, ""}; };
  shown.schedule = std::move(routed);
  return shown;
}

ShownSchedule show_closed_form(int d, const std::string& kind) {
  const bool transposition = kind == "transpose";
  using Kind = schedule::Exchange::Kind;
  ShownSchedule shown;
  shown.title = fmt::format("exchange --dimension {} --kind {}", d, kind);
  shown.summary =
      fmt::format("{} of {} × {} words on 2^{} nodes, by exchanges between neighbours",
                  transposition ? "transposition" : "bit reversal", uint64_t{1} << d, uint64_t{1} << d, d);
  shown.parameters = {{"dimension", d}, {"kind", kind}};
  show_words(
      shown,
      std::make_unique<schedule::Exchange>(d, transposition ? Kind::transposition : Kind::bit_reversal),
      transposition);
  return shown;
}

}  // namespace

ShownSchedule show_exchange(const ExchangeOptions& o) {
  if (o.dimension.has_value() != o.array_file.empty()) {
    throw InputError("exchange takes either --dimension or --array");
  }
  if (o.dimension && *o.dimension > max_dimension) {
    throw InputError(fmt::format("--dimension is {}; a schedule has 2^0 to 2^{} virtual processors",
                                 *o.dimension, max_dimension));
  }
  ShownSchedule shown;
  if (o.dimension) {
    shown = o.kind == "one-to-all" ? show_one_to_all(*o.dimension) : show_closed_form(*o.dimension, o.kind);
  } else {
    if (o.kind == "one-to-all") throw InputError("--array is for --kind transpose and bitreverse");
    using Kind = schedule::Exchange::Kind;
    shown = show_array(o, o.kind == "transpose" ? Kind::transposition : Kind::bit_reversal);
  }
  if (o.contents) {
    shown.title += " --contents";
    show_contents(shown);
  }
  return shown;
}

}  // namespace xorder::cli
