#include "io/mounts.hpp"

#include <charconv>
#include <fstream>
#include <sstream>

namespace xorder::io {
namespace {

// mountinfo escapes blanks and backslashes as \ooo.
std::string unescape(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned code = 0;
    if (text[i] == '\\' && i + 3 < text.size() &&
        std::from_chars(&text[i + 1], &text[i + 4], code, 8).ptr == &text[i + 4]) {
      result += static_cast<char>(code);
      i += 3;
    } else {
      result += text[i];
    }
  }
  return result;
}

}  // namespace

std::vector<Mount> mounts(const std::filesystem::path& root) {
  std::vector<Mount> all;
  std::ifstream in(root / "proc/self/mountinfo");
  for (std::string line; std::getline(in, line);) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream head(line), tail(line.substr(dash + 3));
    std::string id, parent;
    Mount mount;
    head >> id >> parent >> mount.device >> mount.root >> mount.point;
    tail >> mount.type >> mount.source >> mount.options;
    for (std::string* const text : {&mount.root, &mount.point, &mount.source}) *text = unescape(*text);
    all.push_back(std::move(mount));
  }
  return all;
}

std::filesystem::path mount_point(const std::filesystem::path& path, const std::filesystem::path& root) {
  std::error_code error;
  const std::filesystem::path canonical = std::filesystem::canonical(path, error);
  const std::string whole = (error ? path : canonical).string();
  std::string longest;
  for (const Mount& mount : mounts(root)) {
    const std::string& point = mount.point;
    const bool above = whole.starts_with(point) &&
                       (point.ends_with('/') || whole.size() == point.size() || whole[point.size()] == '/');
    if (above && point.size() >= longest.size()) longest = point;
  }
  return longest.empty() ? whole : longest;
}

}  // namespace xorder::io
