// Every drawing of xorder: its elements, its style, and the parts that all drawings share.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xorder::drawing {

// Lengths of drawings that are files of their own, in SVG user units.
inline constexpr double margin = 28;
inline constexpr double title_space = 52;
inline constexpr double label_space = 52;  ///< for numbers and axis titles, left of and above a panel
inline constexpr double legend_space = 30;
inline constexpr double panel_gap = 44;

/// Colours of drawings with a few fixed kinds of marks.
namespace colour {
inline constexpr const char* navy = "#22384f";
inline constexpr const char* orange = "#cf4a1d";
inline constexpr const char* steel = "#7d9ab3";
inline constexpr const char* sand = "#eeb197";
inline constexpr const char* green = "#2a7f63";
inline constexpr const char* grey = "#c3cbd3";
/// The i-th of `count` shades of blue, the last one navy.
std::string shade(int i, int count);
/// Whether white is easier to read than nearly black on a fill, "#rrggbb".
bool is_dark(const std::string& fill);
}  // namespace colour

/// A place on a drawing.
struct Spot {
  double x = 0, y = 0;
};

/// At most `limit` characters of a text, with "..." for the rest, escaped for XML. Replaces what is not
/// UTF-8, because a file's name need not be UTF-8, but an SVG must be.
std::string escaped(std::string_view text, std::size_t limit);

/// A mathematical symbol in italics.
std::string italic(std::string_view symbol);

/// The approximate width of a text in the font of axes.
double text_width(std::string_view text);

/// Which numbers fit along an axis: every 1st, 2nd, 4th, 8th, and so on.
int label_step(double unit, double space);

/// Colours as CSS variables, for light and for dark pages.
extern const std::string_view light_colours, dark_colours;
/// The style sheet of what all drawings have, in these colours.
extern const std::string_view drawing_style;

/// Collects elements. All lengths are in SVG user units; a browser shows one as a pixel. Numbers are rounded
/// to a hundredth of a unit, so that files are small and the same on every machine.
class Canvas {
 public:
  void rect(double x, double y, double w, double h, std::string_view css, double radius = 0) {
    add("<rect x=\"{:.6g}\" y=\"{:.6g}\" width=\"{:.6g}\" height=\"{:.6g}\"{} class=\"{}\"/>\n", round(x),
        round(y), round(w), round(h), radius > 0 ? fmt::format(" rx=\"{:.3g}\"", radius) : "", css);
  }
  /// In a colour of its own, "#rrggbb".
  void tile(double x, double y, double w, double h, std::string_view fill) {
    add("<path d=\"M{:.6g} {:.6g}h{:.6g}v{:.6g}h-{:.6g}z\" fill=\"{}\"/>\n", round(x), round(y), round(w),
        round(h), round(w), fill);
  }
  void path(const std::string& d, std::string_view css, double width = 0) {
    add("<path d=\"{}\" class=\"{}\"{}/>\n", d, css,
        width > 0 ? fmt::format(" stroke-width=\"{:.3g}\"", width) : "");
  }
  /// Transforms everything until close().
  void open(std::string_view transform) { add("<g transform=\"{}\">\n", transform); }
  void close() { elements_ += "</g>\n"; }
  /// `markup` is SVG text content: escape what is not.
  void text(double x, double y, std::string_view anchor, std::string_view css, std::string_view markup,
            double size = 0) {
    add("<text x=\"{:.6g}\" y=\"{:.6g}\" text-anchor=\"{}\" class=\"{}\"{}>{}</text>\n", round(x), round(y),
        anchor, css, size > 0 ? fmt::format(" font-size=\"{:.3g}\"", size) : "", markup);
  }
  void upright(double x, double y, std::string_view css, std::string_view markup) {
    add("<text transform=\"translate({:.6g} {:.6g}) rotate(-90)\" text-anchor=\"middle\" "
        "class=\"{}\">{}</text>\n",
        round(x), round(y), css, markup);
  }
  /// The title and the line below it, in title_space. `sub` is markup.
  void heading(std::string_view title, std::string_view sub, double width);
  /// What colours mean, in legend_space: calls sample(i, x, y) to draw the i-th one, `wide` units.
  template <class Colours, class Sample>
  void key(double x, const Colours& colours, double wide, const Sample& sample) {
    const double y = margin + title_space + 16;
    for (std::size_t i = 0; i < colours.size(); ++i) {
      sample(i, x, y);
      text(x + wide, y, "start", "axis", escaped(colours[i].meaning, 60));
      x += wide + 24 + 6.1 * static_cast<double>(colours[i].meaning.size());
    }
  }

  /// A file of its own: the elements on white, with the common style and the drawing's own CSS. It has the
  /// light colours instead of variables, which not all programs that show such files know.
  std::string document(double width, double height, std::string_view title, std::string_view css) const;
  /// A figure of a page, which has the style sheet.
  std::string figure(double width, double height, std::string_view title) const;

 private:
  static double round(double v) {
    return static_cast<double>(static_cast<long long>(v * 100 + (v < 0 ? -0.5 : 0.5))) / 100;
  }
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(elements_), format, std::forward<Args>(args)...);
  }
  std::string elements_;
};

}  // namespace xorder::drawing
