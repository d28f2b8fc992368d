// The groups of options in the help of every command. help_formatter.cpp has their order.
#pragma once

namespace xorder::cli::group {

inline constexpr const char* task = "What to do";
inline constexpr const char* input = "Input";
inline constexpr const char* output = "Output";
inline constexpr const char* resources = "Resources";
inline constexpr const char* how = "How to do it";
inline constexpr const char* reporting = "Reporting";

}  // namespace xorder::cli::group
