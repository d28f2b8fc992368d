// Shared by all drawings of xorder: their style, and a canvas.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>

namespace xorder::cli {

// Lengths of every drawing, in SVG user units.
inline constexpr double margin = 28;
inline constexpr double title_space = 52;
inline constexpr double label_space = 52;  ///< for numbers and axis titles, left of and above a panel
inline constexpr double legend_space = 30;
inline constexpr double panel_gap = 44;

/// At most `limit` characters of a text, with "..." for the rest, escaped for XML. Replaces what is not
/// UTF-8, because a file's name need not be UTF-8, but an SVG must be.
std::string escaped(std::string_view text, std::size_t limit);

/// A mathematical symbol in italics.
std::string italic(std::string_view symbol);

/// Which numbers fit along an axis: every 1st, 2nd, 4th, 8th, and so on.
int label_step(double unit, double space);

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

  /// The whole file: the elements on white, with the common style and the drawing's own CSS.
  std::string document(double width, double height, std::string_view title, std::string_view css) const;
  /// The elements as a figure of a page, which has the style sheet.
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

}  // namespace xorder::cli
