// A schedule: steps down, links across, a mark for each message, and the part of all links that
// each step uses.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "drawing/canvas.hpp"
#include "drawing/schedules.hpp"
#include "schedule/path.hpp"
#include "text/count_text.hpp"
#include "xorder/error.hpp"

namespace xorder::drawing {
namespace {

using schedule::Message;
using schedule::Network;
using std::uint64_t;

constexpr double bar_width = 90;
constexpr double least_for_labels = 13;
constexpr uint64_t most_links = 512, most_steps = 512;

class StepsDrawing {
 public:
  StepsDrawing(const schedule::Schedule& schedule, const SchedulePicture& picture)
      : schedule_(schedule),
        picture_(picture),
        network_(schedule.network()),
        links_(network_.kind() == Network::Kind::crossbar ? 1 : static_cast<uint64_t>(network_.dimension())) {
    const uint64_t columns = network_.nodes() * std::max<uint64_t>(links_, 1);
    if (columns > most_links || schedule.steps() > most_steps) {
      throw InputError(fmt::format("a drawing of {} steps and {} links; at most {} and {} can be seen",
                                   schedule.steps(), columns, most_steps, most_links));
    }
    const double units =
        static_cast<double>(columns) + (links_ > 1 ? 0.5 * static_cast<double>(network_.nodes()) : 0);
    cell_ = std::clamp(1100.0 / units, 4.0, 24.0);
    // Few steps are drawn taller than wide.
    height_ =
        std::max(cell_, std::min(22.0, 260.0 / static_cast<double>(std::max<uint64_t>(schedule.steps(), 1))));
    gap_ = links_ > 1 ? cell_ * 0.5 : 0;
    group_ = cell_ * static_cast<double>(std::max<uint64_t>(links_, 1)) + gap_;
  }

  std::string draw() {
    const uint64_t steps = schedule_.steps();
    const double grid = group_ * static_cast<double>(network_.nodes()) - gap_;
    const double bars = left_ + grid + 30;
    const double width = std::max({bars + bar_width + 52 + margin, 620.0, text_width()});
    const double height = row(steps) + margin + 8;
    titles(width);
    heads(grid);
    bar_head(bars);
    std::vector<Message> messages;
    for (uint64_t step = 0; step < steps; ++step) {
      number(step);
      schedule_.messages(step, messages);
      cells(step);
      for (const Message& m : messages) mark(step, m);
      bar(step, bars);
    }
    if (steps == 0) canvas_.text(left_, top_ + 12, "start", "sub", "no steps: nothing has to move");
    return canvas_.document(width, height, picture_.title, "");
  }

 private:
  double column(schedule::Node node, uint64_t link) const {
    return left_ + static_cast<double>(node) * group_ + static_cast<double>(link) * cell_;
  }
  double row(uint64_t step) const {
    const uint64_t groups = picture_.steps_in_a_group == 0 ? 0 : step / picture_.steps_in_a_group;
    return top_ + (static_cast<double>(step) + 0.5 * static_cast<double>(groups)) * height_;
  }
  double small() const { return std::clamp(height_ * 0.5, 7.0, 11.0); }

  // The width of the title, the summary and the colours' meanings.
  double text_width() const {
    std::size_t meanings = 0;
    for (const Colour& colour : picture_.colours) meanings += colour.meaning.size() + 7;
    const auto sub = static_cast<double>(picture_.summary.size() + picture_.label_meaning.size() + 17);
    return 2 * margin +
           std::max({10.3 * static_cast<double>(std::min<std::size_t>(picture_.title.size(), 120)), 6.4 * sub,
                     6.1 * static_cast<double>(meanings) + label_space});
  }

  void titles(double width) {
    const bool labels = cell_ >= least_for_labels && !picture_.label_meaning.empty();
    canvas_.heading(
        picture_.title,
        escaped(picture_.summary + (labels ? "; in the marks, " + picture_.label_meaning : ""), 300), width);
    canvas_.key(left_, picture_.colours, 16, [&](std::size_t i, double x, double y) {
      canvas_.tile(x, y - 9, 10, 10, picture_.colours[i].fill);
    });
  }

  // Node numbers in binary, as far as they fit, and the links of each node.
  void heads(double grid) {
    const bool crossbar = network_.kind() == Network::Kind::crossbar;
    canvas_.text(left_ + grid / 2, top_ - 38, "middle", "axis",
                 crossbar ? "sending processor" : "node, and its link over each dimension");
    canvas_.upright(left_ - 36, (top_ + row(schedule_.steps())) / 2, "axis", "step");
    const int step = label_step(group_, 7.0 * static_cast<double>(std::max(network_.dimension(), 2)));
    for (schedule::Node v = 0; v < network_.nodes(); v += static_cast<uint64_t>(step)) {
      const double centre = column(v, 0) + (group_ - gap_) / 2;
      canvas_.text(
          centre, top_ - (links_ > 1 && cell_ >= 9 ? 21 : 9), "middle", "num",
          crossbar ? std::to_string(v) : fmt::format("{:0{}b}", v, std::max(network_.dimension(), 1)), 11);
    }
    if (cell_ < 9 || links_ < 2) return;
    for (schedule::Node v = 0; v < network_.nodes(); ++v) {
      for (uint64_t j = 0; j < links_; ++j) {
        canvas_.text(column(v, j) + cell_ / 2, top_ - 7, "middle", "num", std::to_string(j), 8);
      }
    }
  }

  void number(uint64_t step) {
    const auto every = static_cast<uint64_t>(label_step(height_, 12));
    if (step % every == 0) {
      canvas_.text(left_ - 9, row(step) + height_ / 2 + small() * 0.36, "end", "num", std::to_string(step),
                   small());
    }
  }

  // The links, drawn as idle.
  void cells(uint64_t step) {
    std::string grid;
    for (schedule::Node v = 0; v < network_.nodes(); ++v) {
      canvas_.rect(column(v, 0), row(step), group_ - gap_, height_, "zero");
      for (uint64_t j = 1; j < links_; ++j) {
        grid += fmt::format("M{:.6g} {:.6g}v{:.6g}", column(v, j), row(step), height_);
      }
    }
    grid += fmt::format("M{:.6g} {:.6g}h{:.6g}", left_, row(step),
                        group_ * static_cast<double>(network_.nodes()));
    canvas_.path(grid, "gap", cell_ < 14 ? 0.8 : 1.4);
  }

  // On each link that the message crosses. A crossbar has a single column for each node, so a message that
  // stays is seen there too.
  void mark(uint64_t step, const Message& m) {
    if (network_.kind() == Network::Kind::crossbar) return mark(step, m, m.from.node, 0);
    schedule::for_each_link(network_, m, [&](schedule::Node from, schedule::Node to) {
      mark(step, m, from, static_cast<uint64_t>(std::countr_zero(from ^ to)));
    });
  }
  void mark(uint64_t step, const Message& m, schedule::Node node, uint64_t link) {
    const Mark mark = picture_.mark(step, m);
    const std::string& fill = picture_.colours[mark.colour].fill;
    const double inset = cell_ * 0.07, w = cell_ - 2 * inset, h = height_ - 2 * inset;
    const double x = column(node, link) + inset, y = row(step) + inset;
    canvas_.tile(x, y, w, h, fill);
    const double font = std::min(10.0, cell_ * 0.52);
    const bool fits = static_cast<double>(mark.label.size()) * font * 0.56 <= w;
    if (cell_ >= least_for_labels && fits) {
      canvas_.text(x + w / 2, y + h / 2 + font * 0.36, "middle", colour::is_dark(fill) ? "ondark" : "onlight",
                   mark.label, font);
    }
  }

  void bar_head(double x) {
    canvas_.text(x, top_ - 38, "start", "axis", "links in use");
    if (schedule_.steps() == 0) return;
    canvas_.text(x, top_ - 9, "start", "num", picture_.length, 11);
  }

  void bar(uint64_t step, double x) {
    const auto all = static_cast<double>(network_.links());
    const double share = all > 0 ? static_cast<double>(schedule_.load(step).crossings) / all : 0;
    const double y = row(step) + height_ * 0.12, h = height_ * 0.76;
    canvas_.rect(x, y, bar_width, h, "bound");
    if (share > 0) canvas_.rect(x, y, bar_width * share, h, "dark");
    const auto every = static_cast<uint64_t>(label_step(height_, 12));
    if (step % every == 0) {
      canvas_.text(x + bar_width + 8, row(step) + height_ / 2 + small() * 0.36, "start", "num",
                   fmt::format("{:.0f} %", 100 * share), small());
    }
  }

  const schedule::Schedule& schedule_;
  const SchedulePicture& picture_;
  const Network& network_;
  uint64_t links_;  // of a node
  double cell_ = 0;
  double height_ = 0;  // of a step
  double gap_ = 0;     // between nodes
  double group_ = 0;   // from node to node
  const double left_ = margin + label_space;
  const double top_ = margin + title_space + legend_space + label_space;
  Canvas canvas_;
};

}  // namespace

std::string draw_steps(const schedule::Schedule& schedule, const SchedulePicture& picture) {
  return StepsDrawing(schedule, picture).draw();
}

}  // namespace xorder::drawing
