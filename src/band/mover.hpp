// Movers are the steps that move a band's data as its plan says.
#pragma once

#include <memory>

#include "band/block_writer.hpp"
#include "band/lanes.hpp"
#include "plan/bands/band_shifts.hpp"
#include "plan/bands/band_stack.hpp"
#include "plan/bands/band_strips.hpp"

namespace xorder::band {

/// Where a band's data are and will be. The writer puts them there.
struct Route {
  io::Location source, target;
  BlockWriter& writer;
};

// A mover has the memory for its steps. The plan and the writer must outlive it.
std::unique_ptr<LaneSteps> make_mover(const plan::BandStrips& plan, const Route& route);
std::unique_ptr<LaneSteps> make_mover(const plan::BandShifts& plan, const Route& route);
std::unique_ptr<LaneSteps> make_mover(const plan::BandStack& plan, const Route& route);

}  // namespace xorder::band
