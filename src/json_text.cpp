#include "json_text.hpp"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "xorder/error.hpp"

namespace xorder {

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
