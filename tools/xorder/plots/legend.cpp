#include "plots/legend.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace xorder::plots {

double text_width(std::string_view text) {
  constexpr double letter = 6.6;
  return letter * static_cast<double>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

double draw_legend(cli::Canvas& canvas, const std::vector<LegendEntry>& entries, double left, double right) {
  constexpr double line = 20, mark = 16, gap = 6, between = 20;
  if (entries.empty()) return 0;
  double x = left, y = 14;
  for (const LegendEntry& entry : entries) {
    const double needed = mark + gap + text_width(entry.name) + between;
    if (x > left && x + needed > right) {
      x = left;
      y += line;
    }
    canvas.path(fmt::format("M{:.1f} {:.1f}h{}", x, y - 4, mark),
                fmt::format("line thick c{}{}", entry.colour % colours, entry.dashed ? " dashed" : ""));
    canvas.text(x + mark + gap, y, "start", "axis", cli::escaped(entry.name, 100));
    x += needed;
  }
  return y;
}

}  // namespace xorder::plots
