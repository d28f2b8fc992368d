// A small mesh or torus for each step, with the paths that its messages
// occupy. A link around a torus leaves the drawing on one side and comes back on the other.
#include <fmt/format.h>

#include <algorithm>

#include "drawing/canvas.hpp"
#include "drawing/schedules.hpp"
#include "schedule/path.hpp"
#include "text/count_text.hpp"
#include "xorder/error.hpp"

namespace xorder::drawing {
namespace {

using schedule::Message;
using schedule::Node;
using std::uint64_t;

constexpr double panel_head = 34;
constexpr uint64_t largest_mesh = 40;
constexpr std::string_view widest_caption = "step 99: 9999 messages, 100 % of the links";

constexpr std::string_view mesh_style =
    ".node{fill:#c3cbd3}.turn{fill:#66707c}.wire{stroke:#e2e7ec;fill:none}"
    ".path0{stroke:#22384f;fill:none;stroke-linejoin:round}.path1{stroke:#cf4a1d;fill:none;stroke-linejoin:"
    "round}"
    ".head0{fill:#22384f}.head1{fill:#cf4a1d}";

Spot operator+(Spot a, Spot b) { return {a.x + b.x, a.y + b.y}; }
Spot operator*(double s, Spot a) { return {s * a.x, s * a.y}; }
bool operator==(Spot a, Spot b) { return a.x == b.x && a.y == b.y; }

class MeshDrawing {
 public:
  MeshDrawing(const schedule::Schedule& schedule, const SchedulePicture& picture)
      : schedule_(schedule), picture_(picture), side_(schedule.network().side()) {
    if (side_ > largest_mesh) {
      throw InputError(fmt::format("a drawing of the paths of {0} × {0} nodes; at most {1} × {1} can be seen",
                                   side_, largest_mesh));
    }
    const auto spans = static_cast<double>(std::max<uint64_t>(side_, 2) - 1);
    cell_ = std::clamp(330.0 / spans, 13.0, 44.0);
    panel_ = cell_ * spans;
    const bool torus = schedule.network().kind() == schedule::Network::Kind::torus;
    stub_ = torus ? std::min(0.4 * cell_, 14.0) : 0;
    const auto steps = static_cast<double>(std::max<uint64_t>(schedule.steps(), 1));
    pitch_ = std::max(panel_ + panel_gap, text_width(widest_caption) + margin);
    across_ = static_cast<int>(std::clamp(1250.0 / pitch_, 1.0, steps));
  }

  std::string draw() {
    const uint64_t steps = schedule_.steps();
    const auto rows = static_cast<double>(
        (std::max<uint64_t>(steps, 1) + static_cast<uint64_t>(across_) - 1) / static_cast<uint64_t>(across_));
    const double width =
        std::max({2 * margin + 10 + across_ * pitch_ - panel_gap, 600.0, 2 * margin + text_width(summary())});
    const double height = top_ + rows * panel_height() + margin - 10;
    titles(width);
    for (uint64_t step = 0; step < steps; ++step) panel(step);
    if (steps == 0) canvas_.text(margin, top_ + 12, "start", "sub", "no steps: nothing has to move");
    return canvas_.document(width, height, picture_.title, mesh_style);
  }

 private:
  std::string summary() const { return fmt::format("{}: {}", picture_.summary, picture_.length); }
  std::string caption(uint64_t step, const schedule::Schedule::Load& load) const {
    return fmt::format("step {}: {}, {:.0f} % of the links", step, count_text(load.messages, "message"),
                       100.0 * static_cast<double>(load.crossings) /
                           static_cast<double>(std::max<uint64_t>(schedule_.network().links(), 1)));
  }

  void titles(double width) {
    canvas_.heading(picture_.title, escaped(summary(), 200), width);
    canvas_.key(margin, picture_.colours, 28, [&](std::size_t i, double x, double y) {
      canvas_.path(fmt::format("M{:.6g} {:.6g}h20", x, y - 4), fmt::format("path{}", i), 2.2);
    });
  }

  Spot at(Node v) const {
    return origin_ + Spot{cell_ * static_cast<double>(v % side_), cell_ * static_cast<double>(v / side_)};
  }

  void panel(uint64_t step) {
    const auto across = static_cast<uint64_t>(across_);
    origin_ = {margin + 5 + static_cast<double>(step % across) * pitch_,
               top_ + panel_head + stub_ + static_cast<double>(step / across) * panel_height()};
    canvas_.text(origin_.x, origin_.y - 17 - stub_, "start", "axis", caption(step, schedule_.load(step)));
    wires();
    std::vector<Message> messages;
    schedule_.messages(step, messages);
    for (const Message& m : messages) path(m, picture_.mark(step, m).colour);
  }

  void wires() {
    std::string d;
    for (uint64_t i = 0; i < side_; ++i) {
      const double offset = cell_ * static_cast<double>(i);
      const double length = panel_ + 2 * stub_;
      d += fmt::format("M{:.6g} {:.6g}h{:.6g}", origin_.x - stub_, origin_.y + offset, length);
      d += fmt::format("M{:.6g} {:.6g}v{:.6g}", origin_.x + offset, origin_.y - stub_, length);
    }
    canvas_.path(d, "wire", 1);
    const double r = std::clamp(cell_ * 0.07, 1.2, 2.8);
    for (Node v = 0; v < side_ * side_; ++v) {
      canvas_.rect(at(v).x - r, at(v).y - r, 2 * r, 2 * r, v % side_ == v / side_ ? "turn" : "node", r);
    }
  }

  double panel_height() const { return panel_ + panel_head + 26 + 2 * stub_; }

  // Whether a leg goes around the torus: away from its end, as it is drawn.
  bool around(Node from, Node to) const {
    const schedule::Network& network = schedule_.network();
    return network.distance(from, to) != schedule::Network::mesh(side_).distance(from, to);
  }
  Spot direction(Node from, Node to) const {
    const auto sign = [](double d) { return d > 0 ? 1.0 : d < 0 ? -1.0 : 0.0; };
    const Spot a = at(from), b = at(to);
    return (around(from, to) ? -1.0 : 1.0) * Spot{sign(b.x - a.x), sign(b.y - a.y)};
  }
  // Where the line that came from `last` leaves the drawing and comes back.
  std::string over_the_edge(Spot last, Spot towards) const {
    const auto edge = [this](double begin, bool end) { return end ? begin + panel_ + stub_ : begin - stub_; };
    if (towards.x != 0) {
      return fmt::format("L{:.6g} {:.6g}M{:.6g} {:.6g}", edge(origin_.x, towards.x > 0), last.y,
                         edge(origin_.x, towards.x < 0), last.y);
    }
    return fmt::format("L{:.6g} {:.6g}M{:.6g} {:.6g}", last.x, edge(origin_.y, towards.y > 0), last.x,
                       edge(origin_.y, towards.y < 0));
  }
  static Spot right_of(Spot d) { return {-d.y, d.x}; }

  // Each direction of a wire is drawn on its right.
  void path(const Message& m, std::size_t colour) {
    struct Leg {
      Spot end, direction;
      bool around;
    };
    std::vector<Leg> legs;
    for_each_leg(m, [&](Node from, Node to) {
      if (from != to) legs.push_back({at(to), direction(from, to), around(from, to)});
    });
    if (legs.empty()) return;  // it stays
    const double lane = std::clamp(cell_ * 0.13, 2.0, 5.0);
    const Spot first = legs.front().direction, last = legs.back().direction;
    const Spot start = at(m.from.node) + lane * right_of(first) + 0.08 * cell_ * first;
    const double head = std::clamp(cell_ * 0.17, 3.2, 7.0);
    const Spot tip = at(m.to.node) + lane * right_of(last) + (-0.06 * cell_) * last;
    const Spot end = tip + (-head) * last;
    std::string middle;
    Spot here = start;
    for (std::size_t i = 0; i < legs.size(); ++i) {
      const Spot way = legs[i].direction;
      if (legs[i].around) middle += over_the_edge(here, way);
      if (i + 1 == legs.size() || way == legs[i + 1].direction) continue;
      here = legs[i].end + lane * right_of(way) + lane * right_of(legs[i + 1].direction);
      middle += fmt::format("L{:.6g} {:.6g}", here.x, here.y);
    }
    canvas_.path(fmt::format("M{:.6g} {:.6g}{}L{:.6g} {:.6g}", start.x, start.y, middle, end.x, end.y),
                 fmt::format("path{}", colour), std::clamp(cell_ * 0.055, 1.1, 2.2));
    const Spot wing = 0.52 * head * right_of(last);
    const Spot a = end + wing, b = end + (-1.0) * wing;
    canvas_.path(fmt::format("M{:.6g} {:.6g}L{:.6g} {:.6g}L{:.6g} {:.6g}z", tip.x, tip.y, a.x, a.y, b.x, b.y),
                 fmt::format("head{}", colour));
  }

  const schedule::Schedule& schedule_;
  const SchedulePicture& picture_;
  uint64_t side_;
  double stub_ = 0;  // what is drawn of a torus's links beyond its edge
  double cell_ = 0;
  double panel_ = 0;
  double pitch_ = 0;  // from one panel to the next
  int across_ = 1;
  Spot origin_;
  const double top_ = margin + title_space + legend_space + 10;
  Canvas canvas_;
};

}  // namespace

std::string draw_paths(const schedule::Schedule& schedule, const SchedulePicture& picture) {
  return MeshDrawing(schedule, picture).draw();
}

}  // namespace xorder::drawing
