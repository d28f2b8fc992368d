// `xorder schedule --task-matrix S`: the task matrices T_t(s) of Varvarigos and Bertsekas, of one node, step
// by step. A row is a slot, a column a dimension of the hypercube, and there is a one where the word that
// lies in the slot before step t has still to cross the dimension.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "drawing/contents.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {
namespace {

using namespace drawing;
using schedule::Node;
using std::size_t;
using std::uint64_t;

// By step and slot, of the slots in which there ever is a one.
struct TaskMatrices {
  struct Row {
    uint64_t ones = 0, crossed = 0;  // in this step
  };
  int dimension = 0;
  std::vector<uint64_t> slots;
  std::vector<std::vector<Row>> at;  // by t
};

TaskMatrices matrices_of(const schedule::Schedule& s, Node node) {
  const Contents contents = contents_of(s, true);
  TaskMatrices result{s.network().dimension(), {}, {}};
  std::vector<std::vector<TaskMatrices::Row>> all;
  std::vector<bool> used(s.slots());
  std::vector<schedule::Message> messages;
  for (uint64_t t = 0; t <= s.steps(); ++t) {
    auto& rows = all.emplace_back(s.slots());
    for (uint64_t slot = 0; slot < s.slots(); ++slot) {
      const uint64_t content = contents.after[t][node * s.slots() + slot];
      if (content == Contents::nothing) continue;
      rows[slot].ones = node ^ s.goal(contents.origin(content))->node;
      if (rows[slot].ones != 0) used[slot] = true;
    }
    if (t == s.steps()) break;
    s.messages(t, messages);
    for (const schedule::Message& m : messages)
      if (m.from.node == node) rows[m.from.slot].crossed = node ^ m.to.node;
  }
  for (uint64_t slot = 0; slot < s.slots(); ++slot)
    if (used[slot]) result.slots.push_back(slot);
  for (const auto& rows : all) {
    auto& kept = result.at.emplace_back();
    for (const uint64_t slot : result.slots) kept.push_back(rows[slot]);
  }
  return result;
}

std::string matrices_as_svg(const ShownSchedule& shown, const TaskMatrices& matrices) {
  const auto rows = static_cast<double>(matrices.slots.size());
  const double columns = matrices.dimension;
  constexpr uint64_t most_ones = 70'000;
  if (matrices.at.size() * matrices.slots.size() * static_cast<uint64_t>(matrices.dimension) > most_ones) {
    throw InputError(fmt::format("a drawing of {} matrices of {} × {}; at most {} entries can be seen",
                                 matrices.at.size(), matrices.slots.size(), matrices.dimension, most_ones));
  }
  const double cell = std::clamp(260.0 / std::max({rows, columns, 1.0}), 6.0, 24.0);
  const Strip strip(matrices.at.size(), std::max(cell * columns, 48.0), cell * rows, 30, 14);
  Canvas canvas;
  const char* const line =
      "a row is a slot, a column a dimension that its word has still to cross; orange: in this step";
  const double width = strip.width(shown.title, line);
  canvas.heading(shown.title, escaped(shown.summary, 160), width);
  canvas.text(margin, margin + 58, "start", "sub", line);
  for (size_t t = 0; t < matrices.at.size(); ++t) {
    const auto [x, y] = strip.at(t);
    canvas.text(x, y - 22, "start", "axis",
                t + 1 == matrices.at.size() ? "in the end" : fmt::format("t = {}", t));
    canvas.rect(x, y, cell * columns, cell * rows, "zero");
    std::string grid;
    for (int j = 0; j < matrices.dimension; ++j) {
      if (j % label_step(cell, 12) == 0)
        canvas.text(x + cell * (j + 0.5), y - 6, "middle", "num", std::to_string(j), 9);
      if (j > 0) grid += fmt::format("M{:.6g} {:.6g}v{:.6g}", x + cell * j, y, cell * rows);
    }
    for (size_t r = 0; r < matrices.slots.size(); ++r) {
      const double at = y + cell * static_cast<double>(r);
      if (r > 0) grid += fmt::format("M{:.6g} {:.6g}h{:.6g}", x, at, cell * columns);
      if (strip.begins_line(t) && r % static_cast<size_t>(label_step(cell, 10)) == 0) {
        canvas.text(x - 6, at + cell / 2 + 3, "end", "num", std::to_string(matrices.slots[r]), 9);
      }
    }
    canvas.path(grid, "gap", 1);
    for (size_t r = 0; r < matrices.slots.size(); ++r) {
      const auto& row = matrices.at[t][r];
      for (int j = 0; j < matrices.dimension; ++j) {
        if (!(row.ones >> j & 1)) continue;
        canvas.rect(x + cell * (j + 0.07), y + cell * (static_cast<double>(r) + 0.07), 0.86 * cell,
                    0.86 * cell, row.crossed >> j & 1 ? "accent" : "dark", cell * 0.1);
      }
    }
  }
  return canvas.document(width, strip.height(), shown.title, "");
}

}  // namespace

void show_task_matrices(ShownSchedule& shown, Node node) {
  const schedule::Schedule& s = *shown.schedule;
  if (s.network().kind() != schedule::Network::Kind::hypercube || !shown.has_task || s.recurrence())
    throw InputError("--task-matrix is for a task on a hypercube");
  if (node >= s.network().nodes())
    throw InputError(
        fmt::format("--task-matrix: there is no node {}; the network has {}", node, s.network().nodes()));
  const auto matrices = std::make_shared<const TaskMatrices>(matrices_of(s, node));
  shown.title += fmt::format(" --task-matrix {}", node);
  shown.table = {
      fmt::format("the task matrices T_t({}): 1 where the word in a slot has still to cross dimension "
                  "j, * where it does so in step t",
                  node),
      "row",
      {"t", "slot"},
      matrices->at.size() * matrices->slots.size(),
      [matrices](uint64_t number) {
        const uint64_t t = number / matrices->slots.size(), r = number % matrices->slots.size();
        std::vector<nlohmann::json> entries = {t, matrices->slots[r]};
        const TaskMatrices::Row& row = matrices->at[t][r];
        for (int j = 0; j < matrices->dimension; ++j) {
          entries.push_back(row.ones >> j & 1 ? nlohmann::json(row.crossed >> j & 1 ? "*" : "1")
                                              : nlohmann::json());
        }
        return entries;
      }};
  for (const std::string& name : numbered("j=", matrices->dimension)) shown.table.columns.push_back(name);
  shown.drawing = [matrices](const ShownSchedule& drawn) { return matrices_as_svg(drawn, *matrices); };
}

}  // namespace xorder::cli
