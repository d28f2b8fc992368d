// A self-contained HTML page: figures, tables and text, in light and dark mode, on a screen and on paper.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace xorder::drawing {

/// Texts are plain and are escaped here; only `svg` is markup. The page is also valid XML.
class Page {
 public:
  Page(std::string_view title, std::string_view subtitle);

  void facts(const std::vector<std::pair<std::string, std::string>>& lines);
  void heading(std::string_view text);
  void text(std::string_view text);
  void warning(std::string_view text);
  void figure(std::string_view caption, const std::string& svg);
  /// The first column is text, the others are numbers. A long table is folded up.
  void table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows);

  std::string html() const;

 private:
  void element(std::string_view tag, std::string_view css, std::string_view text);

  std::string title_, body_;
};

}  // namespace xorder::drawing
