#include "drawing/canvas.hpp"

#include <fmt/ranges.h>

#include "text/text_width.hpp"
#include "text/utf8.hpp"

namespace xorder::drawing {

// The eight colours of series differ in lightness too. With any two of them a reader who cannot see red or
// green still sees a difference (at least 10 hundredths in Oklab, with Machado's matrices), and each has a
// contrast of 3 or more to the paper.
const std::string_view light_colours =
    ":root{color-scheme:light;--paper:#fff;--ink:#1d2733;--soft:#5c6773;--line:#aab3bd;--grid:#e9ecf0;"
    "--warn:#fdf1dc;"
    "--c0:#4963d7;--c1:#e26b63;--c2:#005715;--c3:#551977;"
    "--c4:#a13664;--c5:#8b6a11;--c6:#009da7;--c7:#232323}";
const std::string_view dark_colours =
    ":root{color-scheme:dark;--paper:#14181d;--ink:#e6eaee;--soft:#9ca8b4;--line:#55606c;--grid:#272e36;"
    "--warn:#3a2f17;"
    "--c0:#58acf9;--c1:#d48900;--c2:#16e39a;--c3:#7f4acf;"
    "--c4:#c8234f;--c5:#f9f12f;--c6:#147586;--c7:#dee7fc}";
const std::string_view drawing_style =
    "svg{font-size:12px}text{fill:var(--ink);font-family:Helvetica,Arial,'Liberation Sans','DejaVu Sans',"
    "sans-serif}"
    ".axis,.num,.sub{fill:var(--soft)}.num{font-variant-numeric:tabular-nums}"
    ".frame{fill:none;stroke:var(--line)}.grid{fill:none;stroke:var(--grid)}";

namespace {

constexpr std::string_view document_style =
    ".title{font-family:'SF Mono',Menlo,Consolas,'Liberation Mono','DejaVu Sans Mono',monospace;"
    "font-size:17px;font-weight:600}.sub{font-size:12.5px}"
    ".it{font-family:'Latin Modern Math','STIX Two Text','Times New Roman','Liberation Serif','DejaVu "
    "Serif',serif;font-style:italic}"
    ".zero{fill:#eef1f4}.bound{fill:#e2e7ec}.dark{fill:#22384f}.accent{fill:#cf4a1d}"
    ".gap{stroke:#fff;fill:none}.ondark{fill:#fff}.onlight{fill:#0b1520}"
    ".ondark,.onlight{font-variant-numeric:tabular-nums}";

std::string in_light_colours(std::string_view css) {
  std::string text;
  for (std::size_t at; (at = css.find("var(")) != std::string_view::npos;) {
    const std::string_view name = css.substr(at + 4, css.find(')', at) - at - 4);
    const std::size_t value = light_colours.find(std::string(name) + ":") + name.size() + 1;
    text += css.substr(0, at);
    text += light_colours.substr(value, light_colours.find_first_of(";}", value) - value);
    css.remove_prefix(at + name.size() + 5);
  }
  return text.append(css);
}

}  // namespace

std::string colour::shade(int i, int count) {
  const double t = count <= 1 ? 1 : static_cast<double>(i) / (count - 1);
  const auto mix = [t](int light, int dark) { return static_cast<int>(light + t * (dark - light)); };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(0xb5, 0x22), mix(0xca, 0x38), mix(0xdc, 0x4f));
}

bool colour::is_dark(const std::string& fill) {
  const auto part = [&](std::size_t at) { return std::stoi(fill.substr(at, 2), nullptr, 16); };
  return 299 * part(1) + 587 * part(3) + 114 * part(5) < 120'000;
}

std::string escaped(std::string_view text, std::size_t limit) {
  std::vector<std::string> characters;
  while (!text.empty()) {
    const auto [code, bytes] = first_character(text);
    characters.push_back(!code            ? "?"
                         : !prints(*code) ? " "
                         : bytes == "&"   ? "&amp;"
                         : bytes == "<"   ? "&lt;"
                         : bytes == ">"   ? "&gt;"
                                          : std::string(bytes));
    text.remove_prefix(bytes.size());
  }
  if (characters.size() > limit) {
    characters.resize(limit - 3);
    characters.push_back("...");
  }
  return fmt::format("{}", fmt::join(characters, ""));
}

std::string italic(std::string_view symbol) { return fmt::format("<tspan class=\"it\">{}</tspan>", symbol); }

double text_width(std::string_view text) {
  constexpr double letter = 6.3;
  return letter * static_cast<double>(width_of(text));
}

int label_step(double unit, double space) {
  int step = 1;
  while (unit * step < space) step *= 2;
  return step;
}

void Canvas::heading(std::string_view title, std::string_view sub, double width) {
  const auto fits = static_cast<std::size_t>((width - 2 * margin) / 10.3);
  text(margin, margin + 16, "start", "title", escaped(title, fits));
  text(margin, margin + 38, "start", "sub", sub);
}

std::string Canvas::document(double width, double height, std::string_view title,
                             std::string_view css) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 "
      "{0:.0f} {1:.0f}\" role=\"img\">\n<title>{2}</title>\n<style>{3}{4}{5}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{6}</svg>\n",
      width, height, escaped(title, 1000), in_light_colours(drawing_style), document_style,
      in_light_colours(css), elements_);
}

std::string Canvas::figure(double width, double height, std::string_view title) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\">\n"
      "<title>{}</title>\n{}</svg>\n",
      width, height, escaped(title, 1000), elements_);
}

}  // namespace xorder::drawing
