// How far a run has come, as `xorder status --json` prints it.
#pragma once

#include <string>

#include "xorder/tiles/resume.hpp"

namespace xorder::tiles {

std::string state_json(const std::string& output, const RunState& state);

}  // namespace xorder::tiles
