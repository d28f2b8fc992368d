#include "plots/legend.hpp"

#include <fmt/format.h>

#include "text_width.hpp"

namespace xorder::plots {

double text_width(std::string_view text) {
  constexpr double letter = 6.3;
  return letter * static_cast<double>(cli::width_of(text));
}

double draw_legend(cli::Canvas& canvas, const std::vector<LegendEntry>& entries, double left, double right) {
  constexpr double line = 20, sample = 24, gap = 6, between = 18;
  if (entries.empty()) return 0;
  double x = left, y = 14;
  for (const LegendEntry& entry : entries) {
    const double needed = sample + gap + text_width(entry.name) + between;
    if (x > left && x + needed > right) {
      x = left;
      y += line;
    }
    if (entry.line) {
      canvas.path(fmt::format("M{:.1f} {:.1f}h{}", x, y - 4, sample),
                  entry.style.line() + (entry.mark ? "" : " thick"));
    }
    if (entry.mark) {
      Marks mark(entry.style);
      mark.add(x + sample / 2, y - 4);
      mark.draw(canvas);
    }
    canvas.text(x + sample + gap, y, "start", "axis", cli::escaped(entry.name, 100));
    x += needed;
  }
  return y;
}

}  // namespace xorder::plots
