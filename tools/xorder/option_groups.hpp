// The groups of options in the help of every command. Each command adds its options in the order in which they are
// listed here, as the help shows groups in the order of their first options.
#pragma once

namespace xorder::cli::group {

inline constexpr const char* task = "What to do";
inline constexpr const char* input = "Input";
inline constexpr const char* output = "Output";
inline constexpr const char* resources = "Resources";
inline constexpr const char* engine = "Engine";
inline constexpr const char* reporting = "Reporting";

}  // namespace xorder::cli::group
