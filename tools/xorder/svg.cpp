#include "svg.hpp"

#include <vector>

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

// The UTF-8 character at the head of `text`, or nothing if there is no valid one.
std::string_view first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(text[i])); };
  const std::size_t length = byte(0) < 0x80 ? 1 : byte(0) < 0xE0 ? 2 : byte(0) < 0xF0 ? 3 : 4;
  if (length == 1) return text.substr(0, 1);
  if (byte(0) < 0xC0 || byte(0) > 0xF7 || text.size() < length) return {};
  unsigned code = byte(0) & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3F);
  }
  const unsigned least = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000;
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  if (code < least || code > 0x10FFFF || surrogate || code == 0xFFFE || code == 0xFFFF) return {};
  return text.substr(0, length);
}

}  // namespace

std::string escaped(std::string_view text, std::size_t limit) {
  std::vector<std::string> characters;
  while (!text.empty()) {
    const std::string_view c = first_character(text);
    const bool control = c.size() == 1 && static_cast<unsigned char>(c[0]) < 0x20;
    characters.push_back(c.empty()  ? "?"
                         : control  ? " "
                         : c == "&" ? "&amp;"
                         : c == "<" ? "&lt;"
                         : c == ">" ? "&gt;"
                                    : std::string(c));
    text.remove_prefix(c.empty() ? 1 : c.size());
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
