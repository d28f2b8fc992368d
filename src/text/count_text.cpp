#include "text/count_text.hpp"

#include <fmt/format.h>

namespace xorder {

std::string count_text(std::uint64_t count, std::string_view noun) {
  const char* const plural = noun.ends_with('s') || noun.ends_with("ch") ? "es" : "s";
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : plural);
}

}  // namespace xorder
