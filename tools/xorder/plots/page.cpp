#include "plots/page.hpp"

#include <fmt/format.h>

#include "plots/marks.hpp"
#include "svg.hpp"

namespace xorder::plots {
namespace {

// The eight colours of series differ in lightness too. With any two of them a reader who cannot see red or
// green still sees a difference (at least 10 hundredths in Oklab, with Machado's matrices), and each has a
// contrast of 3 or more to the paper.
constexpr std::string_view light =
    ":root{color-scheme:light;--paper:#fff;--ink:#1d2733;--soft:#5c6773;--line:#aab3bd;--grid:#e9ecf0;"
    "--warn:#fdf1dc;"
    "--c0:#4963d7;--c1:#e26b63;--c2:#005715;--c3:#551977;"
    "--c4:#a13664;--c5:#8b6a11;--c6:#009da7;--c7:#232323}";
constexpr std::string_view dark =
    ":root{color-scheme:dark;--paper:#14181d;--ink:#e6eaee;--soft:#9ca8b4;--line:#55606c;--grid:#272e36;"
    "--warn:#3a2f17;"
    "--c0:#58acf9;--c1:#d48900;--c2:#16e39a;--c3:#7f4acf;"
    "--c4:#c8234f;--c5:#f9f12f;--c6:#147586;--c7:#dee7fc}";

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
    "first-child{text-align:left;padding-left:0}"
    "text{fill:var(--ink);font:12px Helvetica,Arial,'Liberation Sans','DejaVu Sans',sans-serif}"
    ".axis{fill:var(--soft)}.num{font-variant-numeric:tabular-nums}"
    ".frame{fill:none;stroke:var(--line)}.grid{fill:none;stroke:var(--grid)}"
    ".level{fill:none;stroke:var(--soft);stroke-dasharray:2 4}"
    ".line{fill:none;stroke-width:1.6;stroke-linejoin:round}.thick{stroke-width:4}.area{stroke:none;opacity:."
    "17}"
    ".cells{fill:none;stroke-width:1.02}"
    ".shade0{opacity:.35}.shade1{opacity:.65}.shade2{opacity:1}";

std::string plain(std::string_view text) { return cli::escaped(text, 4000); }

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
      "<style>{}@media (prefers-color-scheme:dark){{{}}}@media print{{{}}}{}@media "
      "print{{{}}}{}</style>\n</head>\n<body>\n"
      "{}</body>\n</html>\n",
      plain(title_), light, dark, light, style, printed, marks_css(), body_);
}

}  // namespace xorder::plots
