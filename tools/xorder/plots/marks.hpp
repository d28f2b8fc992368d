// How to tell series apart without their colours: the marks on their points, and dashes.
#pragma once

#include <cstddef>
#include <string>

#include "svg.hpp"

namespace xorder::plots {

/// The number of colours, and of shapes of marks. Series i has colour and shape i modulo this.
inline constexpr int colours = 8;

/// What a series looks like.
struct Style {
  int number = 0;       ///< of its colour and shape; from `colours` on they repeat, dashed
  bool dashed = false;  ///< a dashed line and hollow marks

  std::string line() const;  ///< classes of its line
  std::string fill() const;  ///< classes of the area of its spread
};

/// A series' marks at several places, to be drawn together.
class Marks {
 public:
  explicit Marks(const Style& style, double radius = 3.4) : style_(style), radius_(radius) {}
  void add(double x, double y);
  void draw(cli::Canvas& canvas) const;

 private:
  Style style_;
  double radius_;
  std::string paths_;
};

/// The class of a line that `of` curves share: each of them draws dashes in the gaps of the others, so that
/// all are seen. `turn` < `of` is the number of this one. Nothing if `of` is 1.
std::string shared_class(std::size_t turn, std::size_t of);

/// The style sheet of these classes.
std::string marks_css();

}  // namespace xorder::plots
