// The two ways to draw a schedule.
#pragma once

#include "xorder/drawing/draw.hpp"

namespace xorder::drawing {

/// For networks without rows: steps down, links across.
std::string draw_steps(const schedule::Schedule& schedule, const SchedulePicture& picture);
/// For a mesh or a torus: the paths of each step.
std::string draw_paths(const schedule::Schedule& schedule, const SchedulePicture& picture);

}  // namespace xorder::drawing
