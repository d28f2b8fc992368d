// `xorder schedule --contents`: what each node holds before the first and after each step, as a table and as
// a strip of pictures, like the second figure of Edelman's paper and the first one of Hu's. Nodes and slots
// are in binary, as there.
#include "drawing/contents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "rounding.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {

using namespace drawing;
using schedule::Message;
using schedule::Update;
using std::size_t;
using std::uint64_t;

namespace {

constexpr uint64_t most_entries = 2'000'000;
constexpr uint64_t most_cells = 70'000, most_pictures = 64;
constexpr double strip_gap = 30, strip_below = 16, strip_top = 124;

// "011.101" for slot 5 of node 3, "011.101:2" after two updates.
std::string name_of(const Contents& c, uint64_t content) {
  const auto [node, slot] = c.origin(content);
  const uint64_t updates = content / c.places();
  return binary(node, c.nodes) + "." + binary(slot, c.slots) +
         (updates > 0 ? fmt::format(":{}", updates) : "");
}

}  // namespace

std::string binary(uint64_t number, uint64_t count) {
  return fmt::format("{:0{}b}", number, count <= 2 ? 1 : std::bit_width(count - 1));
}

Contents contents_of(const schedule::Schedule& schedule, bool has_task) {
  const uint64_t nodes = schedule.network().nodes(), slots = schedule.slots();
  if (nodes > most_entries || slots > most_entries || nodes * slots > most_entries / (schedule.steps() + 1)) {
    throw InputError(
        fmt::format("the contents of {} nodes with {} slots after each of {} steps: more than {} words",
                    nodes, slots, schedule.steps(), most_entries));
  }
  Contents contents{nodes, slots, {}};
  std::vector<uint64_t> now(contents.places(), Contents::nothing);
  for (uint64_t p = 0; p < now.size(); ++p) {
    if (!has_task || schedule.goal({p / slots, p % slots})) now[p] = p;
  }
  contents.after.push_back(now);
  std::vector<Message> messages;
  std::vector<Update> updates;
  std::vector<uint64_t> moving;
  const auto number = [slots](const schedule::Place& p) { return p.node * slots + p.slot; };
  const bool computes = schedule.recurrence().has_value();
  const auto stays = [&](const schedule::Place& p) { return !has_task || (computes && schedule.goal(p)); };
  for (uint64_t step = 0; step < schedule.steps(); ++step) {
    schedule.messages(step, messages);
    moving.clear();
    for (const Message& m : messages) moving.push_back(now[number(m.from)]);
    for (const Message& m : messages)
      if (!stays(m.from)) now[number(m.from)] = Contents::nothing;
    for (size_t i = 0; i < messages.size(); ++i) now[number(messages[i].to)] = moving[i];
    schedule.updates(step, updates);
    for (const Update& u : updates) {
      now[number(u.element)] += contents.places();
      for (const schedule::Place& read : {u.plus, u.minus})
        if (!stays(read)) now[number(read)] = Contents::nothing;
    }
    contents.after.push_back(now);
  }
  return contents;
}

Strip::Strip(size_t count, double width, double height, double left, double above)
    : count_(count),
      across_(std::clamp<size_t>(static_cast<size_t>(1200.0 / (width + strip_gap + above)), 1, count)),
      width_(width),
      height_(height),
      left_(margin + left),
      above_(above) {}

Spot Strip::at(size_t i) const {
  return {
      left_ + static_cast<double>(i % across_) * (width_ + strip_gap + above_),
      strip_top + above_ + static_cast<double>(i / across_) * (height_ + strip_gap + above_ + strip_below)};
}
double Strip::width(const std::string& title, const std::string& note) const {
  const double pictures = static_cast<double>(across_) * (width_ + strip_gap + above_) - strip_gap - above_;
  return std::max({left_ + margin + pictures, 2 * margin + 1.7 * text_width(title),
                   2 * margin + 1.05 * text_width(note)});
}
double Strip::height() const {
  return strip_top + above_ +
         static_cast<double>(ceil_div(count_, across_)) * (height_ + strip_gap + above_ + strip_below) + 4;
}

// Nodes across, slots down; the colour is the node that a word comes from.
std::string strip_of(const ShownSchedule& shown, const Contents& contents, const std::string& note,
                     const std::function<std::string(size_t)>& caption,
                     const std::function<std::string(uint64_t)>& label) {
  const auto nodes = static_cast<double>(contents.nodes), slots = static_cast<double>(contents.slots);
  const size_t count = contents.after.size();
  if (count > most_pictures || count * contents.places() > most_cells) {
    throw InputError(
        fmt::format("a drawing of {} pictures of {} × {} words; at most {} pictures and {} words can be seen",
                    count, contents.nodes, contents.slots, most_pictures, most_cells));
  }
  const double cell = std::clamp(250.0 / std::max(nodes, slots), 4.0, 34.0);
  constexpr double digit = 5.6;  // in these labels
  size_t digits = binary(0, contents.nodes).size();
  for (const auto& picture : contents.after)
    for (const uint64_t content : picture)
      if (content != Contents::nothing) digits = std::max(digits, label(content).size());
  const bool labels = static_cast<double>(digits) * digit <= cell - 2;
  const double beside = static_cast<double>(binary(0, contents.slots).size()) * digit;
  const Strip strip(count, cell * nodes, cell * slots, labels ? beside : 0, labels ? 14 : 0);
  Canvas canvas;
  const std::string line = "a column is a node, a row is a slot; " + note;
  const double width = strip.width(shown.title, line);
  canvas.heading(shown.title, escaped(shown.summary, 160), width);
  canvas.text(margin, margin + 58, "start", "sub", line);
  for (size_t i = 0; i < count; ++i) {
    const auto [x, y] = strip.at(i);
    const auto across = [&, left = x](uint64_t v) { return left + cell * static_cast<double>(v); };
    const auto down = [&, first = y](uint64_t s) { return first + cell * static_cast<double>(s); };
    canvas.text(x, y - (labels ? 22 : 8), "start", "axis", caption(i));
    for (uint64_t v = 0; labels && v < contents.nodes; ++v)
      canvas.text(across(v) + cell / 2, y - 6, "middle", "num", binary(v, contents.nodes), 10);
    for (uint64_t s = 0; labels && strip.begins_line(i) && s < contents.slots; ++s)
      canvas.text(x - 6, down(s) + cell / 2 + 3.5, "end", "num", binary(s, contents.slots), 10);
    for (uint64_t v = 0; v < contents.nodes; ++v) {
      for (uint64_t s = 0; s < contents.slots; ++s) {
        const uint64_t content = contents.after[i][v * contents.slots + s];
        if (content == Contents::nothing) {
          canvas.rect(across(v), down(s), cell, cell, "empty");
          continue;
        }
        const auto source = static_cast<int>(contents.origin(content).node);
        const std::string fill =
            source == 0 ? colour::orange : colour::shade(source, static_cast<int>(contents.nodes));
        canvas.tile(across(v), down(s), cell, cell, fill);
        if (labels) {
          canvas.text(across(v) + cell / 2, down(s) + cell / 2 + 3.5, "middle",
                      colour::is_dark(fill) ? "ondark" : "onlight", label(content), 10);
        }
      }
    }
    std::string grid;
    for (uint64_t v = 1; v < contents.nodes; ++v)
      grid += fmt::format("M{:.6g} {:.6g}v{:.6g}", across(v), y, cell * slots);
    if (cell >= 8) canvas.path(grid, "gap", 1);
    canvas.rect(x, y, cell * nodes, cell * slots, "frame");
    canvas.rect(x, y, cell, cell * slots, "node0");
  }
  return canvas.document(width, strip.height(), shown.title,
                         ".empty{fill:#f5f6f8}.node0{fill:none;stroke:#cf4a1d;stroke-width:2}");
}

void show_contents(ShownSchedule& shown) {
  const schedule::Schedule& s = *shown.schedule;
  const auto contents = std::make_shared<const Contents>(contents_of(s, shown.has_task));
  const bool computes = s.recurrence().has_value();
  shown.title += " --contents";
  shown.table = {
      fmt::format(
          "what each node's slots hold after each step: the node.slot where it was at first, in binary{}",
          computes ? "; :k after k updates" : ""),
      "row",
      {"after", "slot"},
      contents->after.size() * contents->slots,
      [contents](uint64_t row) {
        const uint64_t step = row / contents->slots, slot = row % contents->slots;
        std::vector<nlohmann::json> entries;
        entries.emplace_back(step == 0 ? "start" : std::to_string(step - 1));
        entries.emplace_back(binary(slot, contents->slots));
        for (uint64_t v = 0; v < contents->nodes; ++v) {
          const uint64_t content = contents->after[step][v * contents->slots + slot];
          entries.push_back(content == Contents::nothing ? nlohmann::json()
                                                         : nlohmann::json(name_of(*contents, content)));
        }
        return entries;
      }};
  for (uint64_t v = 0; v < contents->nodes; ++v)
    shown.table.columns.push_back("node " + binary(v, contents->nodes));
  shown.drawing = [contents, computes](const ShownSchedule& drawn) {
    return strip_of(
        drawn, *contents,
        fmt::format("the colour is the node that a word comes from, orange for node 0; the number its slot "
                    "there{}",
                    computes ? ", :k after k updates" : ""),
        [](size_t i) { return i == 0 ? "at first" : fmt::format("after step {}", i - 1); },
        [contents, computes](uint64_t content) {
          const uint64_t slot = contents->origin(content).slot;
          return computes ? fmt::format("{}:{}", slot, content / contents->places())
                          : binary(slot, contents->slots);
        });
  };
}

// Place y of the index after the permutation has the element with the index A⁻¹(y ⊕ c) before it.
void show_indices(ShownSchedule& shown, const gf2::AffineMap& map, int f) {
  const uint64_t nodes = shown.schedule->network().nodes();
  const int p = std::countr_zero(nodes);
  if (map.bits() > 20)
    throw InputError(fmt::format("the indices of 2^{} elements; at most 2^20 can be shown", map.bits()));
  const uint64_t elements = uint64_t{1} << map.bits(), low = (uint64_t{1} << f) - 1;
  const auto index = [=](uint64_t at) {  // places are processor-major
    const uint64_t node = at / (elements / nodes), local = at % (elements / nodes);
    return (local & low) | node << f | (local & ~low) << p;
  };
  const auto place = [=](uint64_t x) {
    const uint64_t local = (x & low) | (x >> (f + p) << f);
    return (x >> f & (nodes - 1)) * (elements / nodes) + local;
  };
  auto contents =
      std::make_shared<Contents>(Contents{nodes, elements / nodes, std::vector<std::vector<uint64_t>>(2)});
  const gf2::AffineMap inverse = map.inverse();
  for (uint64_t at = 0; at < elements; ++at) {
    contents->after[0].push_back(at);
    contents->after[1].push_back(place(inverse(index(at))));
  }
  shown.title += " --indices";
  shown.table = {"the index that each processor's element at each place has at first",
                 "row",
                 {"", "place"},
                 2 * contents->slots,
                 [contents, index](uint64_t row) {
                   const uint64_t when = row / contents->slots, slot = row % contents->slots;
                   std::vector<nlohmann::json> entries = {when == 0 ? "before" : "after", slot};
                   for (uint64_t k = 0; k < contents->nodes; ++k)
                     entries.emplace_back(index(contents->after[when][k * contents->slots + slot]));
                   return entries;
                 }};
  for (uint64_t k = 0; k < nodes; ++k) shown.table.columns.push_back(fmt::format("P{}", k));
  shown.drawing = [contents, index](const ShownSchedule& drawn) {
    return strip_of(
        drawn, *contents,
        "in the cells, the indices of the elements; the colour is the node that had one first",
        [](size_t i) { return i == 0 ? "before" : "after"; },
        [index](uint64_t content) { return std::to_string(index(content)); });
  };
}

}  // namespace xorder::cli
