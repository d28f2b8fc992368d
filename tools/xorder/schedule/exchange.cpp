// `xorder schedule exchange`: the closed form, the user's own array, or one node's words for all others.
#include <fmt/format.h>

#include <bit>

#include "io/format/text_file.hpp"
#include "network.hpp"
#include "schedule/exchange.hpp"
#include "schedule/one_to_all.hpp"
#include "schedule/shown.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {
namespace {

using schedule::Message;
using schedule::Node;
using std::uint64_t;
using Row = std::vector<nlohmann::json>;

constexpr int max_dimension = schedule::Network::max_dimension;

// As papers print them: d digits 0 or 1 in each of d words of a line.
bool is_binary(const std::string& text) {
  bool binary = true;
  for_each_line_of_words(text, [&](std::size_t, const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      binary = binary && words.size() > 1 && word.size() == words.size() &&
               word.find_first_not_of("01") == word.npos;
    }
  });
  return binary;
}

}  // namespace

schedule::ExchangeArray read_exchange_array(const std::string& name) {
  const std::string text = io::read_text(name);
  schedule::ExchangeArray array;
  const int base = is_binary(text) ? 2 : 10;
  for_each_line_of_numbers(text, name, base, [&](std::size_t line, const std::vector<uint64_t>& words) {
    const auto count = static_cast<int>(words.size());
    if (array.dimension == 0) array.dimension = count;
    if (count != array.dimension || count > max_dimension) {
      throw InputError(fmt::format("{}: line {}: {} words, {}", name, line, count,
                                   count > max_dimension
                                       ? fmt::format("at most {}", max_dimension)
                                       : fmt::format("but the first line has {}", array.dimension)));
    }
    array.words.insert(array.words.end(), words.begin(), words.end());
  });
  if (array.dimension == 0)
    throw InputError(fmt::format("{}: has no words; expected a line of d numbers for each step", name));
  return array;
}

namespace {

// The table and the drawing for any array.
void show_words(ShownSchedule& shown, std::unique_ptr<schedule::Exchange> exchange, bool transposition) {
  const schedule::Exchange* e = exchange.get();
  const int d = e->network().dimension();
  shown.table = {fmt::format("w(i, j): in step i node v sends over link j the word at {}",
                             transposition ? "w ^ v" : "the reverse of w ^ v"),
                 "step", numbered("j=", d), e->steps(), [e, d](uint64_t step) {
                   Row row;
                   for (int j = 0; j < d; ++j) row.emplace_back(e->word(step, j));
                   return row;
                 }};
  shown.colours = by_distance(d);
  shown.label_meaning = "the slot that is sent";
  shown.mark = [e](uint64_t step, const Message& m) {
    const uint64_t w = e->word(step, std::countr_zero(m.from.node ^ m.to.node));
    return Mark{static_cast<std::size_t>(std::popcount(w)) - 1, std::to_string(m.from.slot)};
  };
  shown.schedule = std::move(exchange);
}

ShownSchedule show_array(const ExchangeOptions& o, schedule::Exchange::Kind kind) {
  const schedule::ExchangeArray array = read_exchange_array(o.array_file);
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
  if (d > schedule::OneToAll::max_dimension)
    throw InputError(fmt::format("--dimension is {}; one-to-all is possible for at most {}", d,
                                 schedule::OneToAll::max_dimension));
  auto schedule = std::make_unique<schedule::OneToAll>(d);
  const schedule::OneToAll* all = schedule.get();
  ShownSchedule shown;
  shown.title = fmt::format("exchange --dimension {} --kind one-to-all", d);
  shown.summary =
      fmt::format("node 0 has a word for each of 2^{} nodes; by a balanced tree, farthest first", d);
  shown.parameters = {{"dimension", d}, {"kind", "one-to-all"}};
  shown.table = {"the node whose word node 0 sends over link j", "step", numbered("j=", d), all->steps(),
                 [all, d](uint64_t step) {
                   Row row;
                   for (int j = 0; j < d; ++j) {
                     const Node v = all->sent(step, j);
                     row.push_back(v == 0 ? nlohmann::json() : nlohmann::json(v));
                   }
                   return row;
                 }};
  shown.colours = {{colour::navy, "leaves node 0"}, {colour::steel, "is passed on"}};
  shown.mark = [](uint64_t, const Message& m) { return Mark{m.from.node == 0 ? 0u : 1u, ""}; };
  shown.schedule = std::move(schedule);
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
  ShownSchedule shown;
  if (o.dimension) {
    checked_dimension(*o.dimension);
    shown = o.kind == "one-to-all" ? show_one_to_all(*o.dimension) : show_closed_form(*o.dimension, o.kind);
  } else {
    if (o.kind == "one-to-all") throw InputError("--array is for --kind transpose and bitreverse");
    using Kind = schedule::Exchange::Kind;
    shown = show_array(o, o.kind == "transpose" ? Kind::transposition : Kind::bit_reversal);
  }
  return shown;
}

}  // namespace xorder::cli
