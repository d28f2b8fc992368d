// Writes JSON, and reads values from JSON that others have written.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace xorder {

/// JSON in which characters that do not print, such as U+009B, which begins commands to a terminal, are
/// escaped.
std::string with_escapes(std::string_view json);

/// The text of a JSON value, on one line, with_escapes(). JSON must be UTF-8, but file names need not be:
/// invalid bytes become U+FFFD.
template <typename Json>
std::string json_text(const Json& json) {
  return with_escapes(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

/// The value that a text stands for, discarded (json::is_discarded()) if it is not JSON. Throws InputError,
/// which begins with `source`, if an object has a key twice: the writer meant one of the two values, and
/// nobody knows which.
nlohmann::json parsed_json(std::string_view text, const std::string& source);

/// The value of a key. Nothing if `object` is not an object, the key is missing, or the value is not of this
/// type: std::string, bool, double or std::uint64_t.
template <typename Value>
std::optional<Value> value_of(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) return std::nullopt;
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  const bool right = std::is_same_v<Value, std::string> ? found->is_string()
                     : std::is_same_v<Value, bool>      ? found->is_boolean()
                     : std::is_same_v<Value, double>    ? found->is_number()
                                                        : found->is_number_unsigned();
  return right ? std::optional(found->template get<Value>()) : std::nullopt;
}

}  // namespace xorder
