#include "drawing/page.hpp"

#include <fmt/format.h>

#include "drawing/series.hpp"

namespace xorder::drawing {
namespace {

// Paper cannot be scrolled. The head of a table stays with its first rows.
constexpr std::string_view printed =
    ".scroll{overflow:visible}tr:nth-child(-n+3){break-after:avoid}.wide table{font-size:8px}.wide th,.wide "
    "td{padding:2px 4px}";

constexpr std::string_view style =
    "body{margin:0 auto;padding:24px 20px 48px;max-width:920px;background:var(--paper);color:var(--ink);"
    "font:15px/1.45 Helvetica,Arial,'Liberation Sans','DejaVu Sans',sans-serif}"
    "h1{font-size:22px;margin:0 0 2px}h2{font-size:17px;margin:30px 0 4px;break-after:avoid}"
    "p{margin:6px 0;max-width:46em}.sub{color:var(--soft);overflow-wrap:anywhere}"
    ".warn{background:var(--warn);padding:8px 12px;border-radius:4px}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 16px;margin:14px 0;font-size:14px}"
    "dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}"
    "figure{margin:22px 0 0;break-inside:avoid}figcaption{margin-bottom:4px}"
    "svg{display:block;width:100%;height:auto}"
    "summary{color:var(--soft);font-size:14px}.scroll{overflow-x:auto}table{border-collapse:collapse;margin:"
    "10px 0;font-size:14px}"
    "th,td{padding:3px "
    "10px;white-space:nowrap;text-align:right;font-variant-numeric:tabular-nums;border-bottom:1px solid "
    "var(--grid)}"
    "th{color:var(--soft);font-weight:normal;white-space:normal;vertical-align:bottom}th:first-child,td:"
    "first-child{text-align:left;padding-left:0}";

std::string plain(std::string_view text) { return escaped(text, 4000); }

}  // namespace

Page::Page(std::string_view title, std::string_view subtitle) : title_(title) {
  element("h1", "", title);
  if (!subtitle.empty()) element("p", "sub", subtitle);
}

void Page::element(std::string_view tag, std::string_view css, std::string_view text) {
  body_ += fmt::format("<{0}{1}>{2}</{0}>\n", tag, css.empty() ? "" : fmt::format(" class=\"{}\"", css),
                       plain(text));
}

void Page::facts(const std::vector<std::pair<std::string, std::string>>& lines) {
  if (lines.empty()) return;
  body_ += "<dl>\n";
  for (const auto& [what, value] : lines) {
    body_ += fmt::format("<dt>{}</dt><dd>{}</dd>\n", plain(what), plain(value));
  }
  body_ += "</dl>\n";
}

void Page::heading(std::string_view text) { element("h2", "", text); }
void Page::text(std::string_view text) { element("p", "", text); }
void Page::warning(std::string_view text) { element("p", "warn", text); }

void Page::figure(std::string_view caption, const std::string& svg) {
  body_ += fmt::format("<figure><figcaption>{}</figcaption>\n{}</figure>\n", plain(caption), svg);
}

void Page::table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows) {
  const auto row = [&](const std::vector<std::string>& cells, const char* tag) {
    body_ += "<tr>";
    for (const std::string& cell : cells) body_ += fmt::format("<{0}>{1}</{0}>", tag, plain(cell));
    body_ += "</tr>\n";
  };
  constexpr std::size_t many = 24;
  const bool folded = rows.size() > many;
  if (folded) body_ += "<details><summary>values</summary>\n";
  constexpr std::size_t wide = 7;  // columns
  body_ += head.size() < wide ? "<div class=\"scroll\"><table>\n" : "<div class=\"scroll wide\"><table>\n";
  row(head, "th");
  for (const auto& cells : rows) row(cells, "td");
  body_ += folded ? "</table></div></details>\n" : "</table></div>\n";
}

// Printed pages use the light colours.
std::string Page::html() const {
  return fmt::format(
      "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n<meta "
      "charset=\"utf-8\"/>\n<meta name=\"viewport\" content=\"width=device-width\"/>\n<title>{}</title>\n"
      "<style>{}@media (prefers-color-scheme:dark){{{}}}@media print{{{}}}{}@media print{{{}}}{}{}</style>\n"
      "</head>\n<body>\n{}</body>\n</html>\n",
      plain(title_), light_colours, dark_colours, light_colours, style, printed, drawing_style, plot_style(),
      body_);
}

}  // namespace xorder::drawing
