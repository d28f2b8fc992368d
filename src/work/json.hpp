// Plans and reports as JSON, for the program and the C library. docs/json.md has every key.
#pragma once

#include <nlohmann/json.hpp>

#include "xorder/work/work.hpp"

namespace xorder::work {

nlohmann::json plan_json(const Summary& plan);
nlohmann::json report_json(const Summary& plan, const Report& report);

}  // namespace xorder::work
