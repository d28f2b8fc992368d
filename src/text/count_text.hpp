// Formats numbers of things for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace xorder {

/// "1 step", "3 steps", "2 passes", "4 batches": a number and a noun, which is given for one.
std::string count_text(std::uint64_t count, std::string_view noun);

}  // namespace xorder
