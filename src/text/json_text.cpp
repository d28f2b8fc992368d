#include "text/json_text.hpp"

#include <fmt/format.h>

#include <iterator>
#include <set>
#include <vector>

#include "text/utf8.hpp"
#include "xorder/error.hpp"

namespace xorder {

std::string with_escapes(std::string_view json) {
  std::string text;
  while (!json.empty()) {
    const Utf8Character c = first_character(json);
    json.remove_prefix(c.bytes.size());
    if (!c.code || prints(*c.code)) {
      text += c.bytes;
      continue;
    }
    const auto code = static_cast<std::uint32_t>(*c.code);
    if (code >= 0x10000) fmt::format_to(std::back_inserter(text), "\\u{:04x}", 0xd7c0 + (code >> 10));
    fmt::format_to(std::back_inserter(text), "\\u{:04x}", code < 0x10000 ? code : 0xdc00 | (code & 0x3ff));
  }
  return text;
}

nlohmann::json parsed_json(std::string_view text, const std::string& source) {
  using Json = nlohmann::json;
  std::vector<std::set<std::string>> keys;  // of the objects that are open, the innermost last
  const auto watch = [&](int, Json::parse_event_t event, Json& key) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(key.get<std::string>()).second)
      throw InputError(fmt::format("{}: the key {} is there twice", source, json_text(key)));
    return true;
  };
  return Json::parse(text, watch, false);
}

}  // namespace xorder
