// `xorder schedule exchange --contents`, or `file`: what each node holds before the first and after each
// step, as a table and as a strip of pictures, like the second figure of Edelman's paper. Nodes and slots are
// in binary, as there.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "drawing/canvas.hpp"
#include "rounding.hpp"
#include "schedule/shown.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {
namespace {

using namespace drawing;
using schedule::Message;
using std::size_t;
using std::uint64_t;

constexpr uint64_t most_entries = 2'000'000;
constexpr uint64_t most_cells = 70'000, most_pictures = 64;

// after[i][node · slots + slot] is the place where the word was at first, after i steps; or `nothing`.
constexpr uint64_t nothing = ~uint64_t{0};
struct Contents {
  uint64_t nodes = 0;
  uint64_t slots = 0;
  std::vector<std::vector<uint64_t>> after;
};

// Without a task all slots hold something, and what is sent also stays where it was.
Contents follow(const schedule::Schedule& schedule, bool has_task) {
  const uint64_t nodes = schedule.network().nodes(), slots = schedule.slots();
  Contents contents{nodes, slots, {}};
  std::vector<uint64_t> now(nodes * slots, nothing);
  for (uint64_t p = 0; p < now.size(); ++p) {
    if (!has_task || schedule.goal({p / slots, p % slots})) now[p] = p;
  }
  contents.after.push_back(now);
  std::vector<Message> messages;
  std::vector<uint64_t> moving;
  const auto number = [slots](const schedule::Place& p) { return p.node * slots + p.slot; };
  for (uint64_t step = 0; step < schedule.steps(); ++step) {
    schedule.messages(step, messages);
    moving.clear();
    for (const Message& m : messages) moving.push_back(now[number(m.from)]);
    for (const Message& m : messages)
      if (has_task) now[number(m.from)] = nothing;
    for (size_t i = 0; i < messages.size(); ++i) now[number(messages[i].to)] = moving[i];
    contents.after.push_back(now);
  }
  return contents;
}

// The numbers 0 .. count − 1, equally wide.
std::string binary(uint64_t number, uint64_t count) {
  return fmt::format("{:0{}b}", number, count <= 2 ? 1 : std::bit_width(count - 1));
}

// "011.101" for slot 5 of node 3.
std::string name_of(const Contents& c, uint64_t content) {
  return binary(content / c.slots, c.nodes) + "." + binary(content % c.slots, c.slots);
}

// Nodes across, slots down; the colour is the node that a word comes from.
std::string strip(const ShownSchedule& shown, const Contents& contents) {
  const auto nodes = static_cast<double>(contents.nodes), slots = static_cast<double>(contents.slots);
  const size_t count = contents.after.size();
  if (count > most_pictures || count * contents.nodes * contents.slots > most_cells) {
    throw InputError(
        fmt::format("a drawing of {} pictures of {} × {} words; at most {} pictures and {} words can be seen",
                    count, contents.nodes, contents.slots, most_pictures, most_cells));
  }
  const double cell = std::clamp(250.0 / std::max(nodes, slots), 4.0, 34.0);
  const double width = cell * nodes, height = cell * slots;
  constexpr double digit = 5.6;  // in these labels
  const auto digits =
      static_cast<double>(std::max(binary(0, contents.nodes).size(), binary(0, contents.slots).size()));
  const bool labels = digits * digit <= cell - 2;
  const double above = labels ? 14 : 0, gap = 30 + above;  // the numbers of the nodes
  const double head = 124 + above, left_of_strip = margin + (labels ? digits * digit : 0);
  const auto across = std::clamp<size_t>(static_cast<size_t>(1200.0 / (width + gap)), 1, count);
  const size_t down = ceil_div(count, across);
  const double total =
      std::max(left_of_strip + margin + static_cast<double>(across) * (width + gap) - gap, 640.0);
  Canvas canvas;
  canvas.heading(shown.title, escaped(shown.summary, 160), total);
  canvas.text(
      margin, margin + 58, "start", "sub",
      fmt::format("a column is a node, a row is a slot; the colour is the node that a word comes from{}",
                  labels ? ", the number its slot there" : ""));
  for (size_t i = 0; i < count; ++i) {
    const double x = left_of_strip + static_cast<double>(i % across) * (width + gap);
    const double y = head + static_cast<double>(i / across) * (height + gap + 16);
    canvas.text(x, y - 8 - above, "start", "axis", i == 0 ? "at first" : fmt::format("after step {}", i - 1));
    for (uint64_t v = 0; labels && v < contents.nodes; ++v) {
      canvas.text(x + cell * (static_cast<double>(v) + 0.5), y - 6, "middle", "num",
                  binary(v, contents.nodes), 10);
    }
    for (uint64_t s = 0; labels && i % across == 0 && s < contents.slots; ++s) {
      canvas.text(x - 6, y + cell * (static_cast<double>(s) + 0.5) + 3.5, "end", "num",
                  binary(s, contents.slots), 10);
    }
    for (uint64_t v = 0; v < contents.nodes; ++v) {
      for (uint64_t s = 0; s < contents.slots; ++s) {
        const uint64_t content = contents.after[i][v * contents.slots + s];
        const double left = x + cell * static_cast<double>(v), top = y + cell * static_cast<double>(s);
        if (content == nothing) {
          canvas.rect(left, top, cell, cell, "empty");
          continue;
        }
        const auto source = static_cast<int>(content / contents.slots);
        const std::string fill = colour::shade(source, static_cast<int>(contents.nodes));
        canvas.tile(left, top, cell, cell, fill);
        if (labels) {
          canvas.text(left + cell / 2, top + cell / 2 + 3.5, "middle",
                      colour::is_dark(fill) ? "ondark" : "onlight",
                      binary(content % contents.slots, contents.slots), 10);
        }
      }
    }
    std::string grid;
    for (uint64_t v = 1; v < contents.nodes; ++v) {
      grid += fmt::format("M{:.6g} {:.6g}v{:.6g}", x + cell * static_cast<double>(v), y, height);
    }
    if (cell >= 8) canvas.path(grid, "gap", 1);
    canvas.rect(x, y, width, height, "frame");
  }
  return canvas.document(total, head + static_cast<double>(down) * (height + gap + 16) + 4, shown.title,
                         ".empty{fill:#f5f6f8}");
}

}  // namespace

void show_contents(ShownSchedule& shown) {
  const schedule::Schedule& s = *shown.schedule;
  const uint64_t slots = s.slots();
  const uint64_t nodes = s.network().nodes();
  if (nodes > most_entries || slots > most_entries || nodes * slots > most_entries / (s.steps() + 1)) {
    throw InputError(
        fmt::format("the contents of {} nodes with {} slots after each of {} steps: more than {} words",
                    nodes, slots, s.steps(), most_entries));
  }
  const auto contents = std::make_shared<Contents>(follow(s, shown.has_task));
  shown.table = {
      "what each node's slots hold after each step: the node.slot where it was at first, in binary",
      "row",
      {},
      0,
      {}};
  shown.table.columns = {"after", "slot"};
  for (uint64_t v = 0; v < nodes; ++v) shown.table.columns.push_back("node " + binary(v, nodes));
  shown.table.rows = contents->after.size() * slots;
  shown.table.row = [contents](uint64_t row) {
    const uint64_t step = row / contents->slots, slot = row % contents->slots;
    std::vector<nlohmann::json> entries;
    entries.emplace_back(step == 0 ? "start" : std::to_string(step - 1));
    entries.emplace_back(binary(slot, contents->slots));
    for (uint64_t v = 0; v < contents->nodes; ++v) {
      const uint64_t content = contents->after[step][v * contents->slots + slot];
      entries.push_back(content == nothing ? nlohmann::json() : nlohmann::json(name_of(*contents, content)));
    }
    return entries;
  };
  shown.drawing = [contents](const ShownSchedule& drawn) { return strip(drawn, *contents); };
}

}  // namespace xorder::cli
