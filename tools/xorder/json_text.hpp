// How all commands write JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace xorder::cli {

/// The text of a JSON value, on one line or with an indent. Names of files need not be UTF-8, but JSON must
/// be: bytes that are not become U+FFFD.
template <typename Json>
std::string json_text(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace xorder::cli
