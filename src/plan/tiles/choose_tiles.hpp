// The search for the best tile of one pass.
#pragma once

#include <optional>

#include "plan/plan.hpp"

namespace xorder::plan {

/// The cheapest single pass for a canonical reordering, or nothing if no tile fits in the memory.
std::optional<Pass> choose_pass(const Reordering& what, const Setting& setting);

}  // namespace xorder::plan
