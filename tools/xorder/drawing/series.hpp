// What a plot draws: series of points, and how to tell them apart without their colours: by the marks on
// their points, dashes, and turns where they lie on each other.
#pragma once

#include <string>
#include <vector>

#include "drawing/canvas.hpp"

namespace xorder::drawing {

/// The number of colours, and of shapes of marks. Series i has colour and shape i modulo this.
inline constexpr int colours = 8;

/// What a series looks like.
struct Style {
  int number = 0;       ///< of its colour and shape; from `colours` on they repeat, dashed
  bool dashed = false;  ///< a dashed line and hollow marks

  std::string line() const;  ///< classes of its line
  std::string fill() const;  ///< classes of the area of its spread
};

/// A value with its spread, which may be 0.
struct Point {
  double x = 0, y = 0;
  double low = y, high = y;
};

struct Series {
  enum class Look {
    line,   ///< from point to point, the spread as a band; where lines coincide, their dashes take turns
    steps,  ///< each point's value holds until the next one's x; the area below is shaded
  };
  std::string name;
  Style style;
  Look look = Look::line;
  std::vector<Point> points;
};

/// A series' marks at several places, to be drawn together.
class Marks {
 public:
  explicit Marks(const Style& style, double radius = 3.4) : style_(style), radius_(radius) {}
  void add(Spot spot);
  void draw(Canvas& canvas) const;

 private:
  Style style_;
  double radius_;
  std::string paths_;
};

using Curve = std::vector<Spot>;

/// A part of a curve that `of` curves share, so closely that only one would be seen; this one has number
/// `turn` < `of` among them.
struct Stretch {
  Curve spots;
  std::size_t turn = 0, of = 1;
};

/// Cuts curves, given by the places of their points on a drawing, into stretches from left to right. Curves
/// may have points at different x. One that does not go from left to right is a single stretch. Takes
/// time proportional to curves × different x.
std::vector<std::vector<Stretch>> stretches(const std::vector<Curve>& curves);

/// The class of a stretch: each curve draws dashes in the gaps of the others, so that all are seen.
std::string shared_class(const Stretch& stretch);

/// The style sheet of plots.
std::string plot_style();

}  // namespace xorder::drawing
