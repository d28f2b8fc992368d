// The groups of options in the help of every command, in the order in which it has them.
#pragma once

#include <array>
#include <string_view>

namespace xorder::cli::group {

inline constexpr const char* task = "What to do";
inline constexpr const char* bands = "Band storage";
inline constexpr const char* machine = "Virtual processors";
inline constexpr const char* input = "Input";
inline constexpr const char* view = "Which array of IN";
inline constexpr const char* output = "Output";
inline constexpr const char* stored = "How OUT is stored";
inline constexpr const char* resources = "Resources";
inline constexpr const char* reporting = "Reporting";
inline constexpr const char* tuning = "How to do it";

inline constexpr std::array<std::string_view, 10> order = {task,   bands,  machine,   input,     view,
                                                           output, stored, resources, reporting, tuning};

/// Only --help-all has these; --help has to fit on a screen.
constexpr bool is_rare(std::string_view group) {
  return group == bands || group == view || group == stored || group == tuning;
}

}  // namespace xorder::cli::group
