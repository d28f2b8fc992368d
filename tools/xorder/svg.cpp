#include "svg.hpp"

#include <vector>

#include "utf8.hpp"

namespace xorder::cli {
namespace {

constexpr std::string_view look =
    "text{font-family:Helvetica,Arial,'Liberation Sans','DejaVu Sans',sans-serif;fill:#2b3440}"
    ".title{font-family:'SF Mono',Menlo,Consolas,'Liberation Mono','DejaVu Sans "
    "Mono',monospace;font-size:17px;"
    "font-weight:600}"
    ".sub{font-size:12.5px;fill:#66707c}"
    ".axis{font-size:12px;fill:#4a5460}"
    ".num{fill:#66707c;font-variant-numeric:tabular-nums}"
    ".it{font-family:'Latin Modern Math','STIX Two Text','Times New Roman','Liberation Serif','DejaVu "
    "Serif',serif;"
    "font-style:italic}"
    ".frame{stroke:#9aa4af;stroke-width:1;fill:none}";

}  // namespace

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
  std::string joined;
  for (const std::string& c : characters) joined += c;
  return joined;
}

std::string italic(std::string_view symbol) { return fmt::format("<tspan class=\"it\">{}</tspan>", symbol); }

int label_step(double unit, double space) {
  int step = 1;
  while (unit * step < space) step *= 2;
  return step;
}

std::string Canvas::document(double width, double height, std::string_view title,
                             std::string_view css) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 "
      "{0:.0f} {1:.0f}\" "
      "role=\"img\">\n<title>{2}</title>\n<style>{3}{4}</style>\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"#fff\"/>\n{5}</svg>\n",
      width, height, escaped(title, 1000), look, css, elements_);
}

std::string Canvas::figure(double width, double height, std::string_view title) const {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" "
      "role=\"img\">\n<title>{}</title>\n"
      "{}</svg>\n",
      width, height, escaped(title, 1000), elements_);
}

}  // namespace xorder::cli
