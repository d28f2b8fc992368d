// How all commands write JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace xorder {

/// The text of a JSON value, on one line. Names of files need not be UTF-8, but JSON must be: bytes that are not
/// become U+FFFD.
template <typename Json>
std::string json_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace xorder
