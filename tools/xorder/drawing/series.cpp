#include "drawing/series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace xorder::drawing {
namespace {

using Corner = std::pair<double, double>;

// Corners for a radius of 1. Areas are about equal.
constexpr Corner square[] = {{-.85, -.85}, {.85, -.85}, {.85, .85}, {-.85, .85}};
constexpr Corner up[] = {{0, -1.25}, {1.15, .85}, {-1.15, .85}};
constexpr Corner diamond[] = {{0, -1.3}, {1.05, 0}, {0, 1.3}, {-1.05, 0}};
constexpr Corner down[] = {{0, 1.25}, {1.15, -.85}, {-1.15, -.85}};
constexpr Corner plus[] = {{-.4, -1.25}, {.4, -1.25}, {.4, -.4}, {1.25, -.4}, {1.25, .4},   {.4, .4},
                           {.4, 1.25},   {-.4, 1.25}, {-.4, .4}, {-1.25, .4}, {-1.25, -.4}, {-.4, -.4}};
constexpr Corner cross[] = {{0, -.55}, {.7, -1.25}, {1.25, -.7}, {.55, 0},  {1.25, .7},   {.7, 1.25},
                            {0, .55},  {-.7, 1.25}, {-1.25, .7}, {-.55, 0}, {-1.25, -.7}, {-.7, -1.25}};
constexpr Corner bar[] = {{-1.35, -.55}, {1.35, -.55}, {1.35, .55}, {-1.35, .55}};
// The first shape, a circle, has no corners.
constexpr std::array<std::span<const Corner>, colours> shapes = {
    std::span<const Corner>{}, square, up, diamond, down, plus, cross, bar};

constexpr std::size_t most_shared = 8;  // more curves than that share in eight turns
constexpr int dash = 7;

bool is_dashed(const Style& of) { return of.dashed || of.number >= colours; }

}  // namespace

std::string Style::line() const {
  return fmt::format("line c{}{}", number % colours, is_dashed(*this) ? " dashed" : "");
}

std::string Style::fill() const { return fmt::format("area f{}", number % colours); }

void Marks::add(Spot spot) {
  const auto corners = shapes[static_cast<std::size_t>(style_.number % colours)];
  if (corners.empty()) {
    paths_ +=
        fmt::format("M{0:.1f} {1:.1f}a{2:.2f} {2:.2f} 0 1 0 {3:.2f} 0a{2:.2f} {2:.2f} 0 1 0 -{3:.2f} 0z",
                    spot.x - radius_, spot.y, radius_, 2 * radius_);
    return;
  }
  for (std::size_t i = 0; i < corners.size(); ++i) {
    paths_ += fmt::format("{}{:.1f} {:.1f}", i == 0 ? "M" : "L", spot.x + corners[i].first * radius_,
                          spot.y + corners[i].second * radius_);
  }
  paths_ += "z";
}

void Marks::draw(Canvas& canvas) const {
  if (paths_.empty()) return;
  canvas.path(paths_,
              fmt::format("{}{}", is_dashed(style_) ? "hollow c" : "mark f", style_.number % colours));
}

std::string shared_class(const Stretch& stretch) {
  if (stretch.of < 2) return "";
  const std::size_t turns = std::min(stretch.of, most_shared);
  return fmt::format(" of{} turn{}", turns, stretch.turn % turns);
}

std::string plot_style() {
  std::string css =
      ".level{fill:none;stroke:var(--soft);stroke-dasharray:2 4}"
      ".line{fill:none;stroke-width:1.6;stroke-linejoin:round}.thick{stroke-width:4}"
      ".area{stroke:none;opacity:.17}"
      ".cells{fill:none;stroke-width:1.02}.shade0{opacity:.35}.shade1{opacity:.65}.shade2{opacity:1}"
      ".dashed{stroke-dasharray:5 4}.mark{stroke:var(--paper);stroke-width:.7}"
      ".hollow{fill:var(--paper);stroke-width:1.5}";
  for (int i = 0; i < colours; ++i)
    css += fmt::format(".c{0}{{stroke:var(--c{0})}}.f{0}{{fill:var(--c{0})}}", i);
  for (std::size_t i = 2; i <= most_shared; ++i)
    css += fmt::format(".of{}{{stroke-dasharray:{} {}}}", i, dash, dash * (i - 1));
  for (std::size_t i = 1; i < most_shared; ++i)
    css += fmt::format(".turn{}{{stroke-dashoffset:-{}}}", i, dash * i);
  return css;
}

}  // namespace xorder::drawing
