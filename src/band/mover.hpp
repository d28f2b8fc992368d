// Movers turn a band's plan into the steps that move its data.
#pragma once

#include <memory>

#include "band/block_writer.hpp"
#include "band/lanes.hpp"
#include "plan/band_shifts.hpp"
#include "plan/band_stack.hpp"
#include "plan/band_strips.hpp"

namespace xorder::band {

class Mover {
 public:
  virtual ~Mover() = default;
  virtual unsigned lanes() const = 0;
  /// Allocates the buffers. The steps use this mover and the writer.
  virtual LaneSteps steps(io::Location source, io::Location target, BlockWriter& writer) = 0;
};

std::unique_ptr<Mover> make_mover(const plan::BandStrips& plan);
std::unique_ptr<Mover> make_mover(const plan::BandShifts& plan);
std::unique_ptr<Mover> make_mover(const plan::BandStack& plan);

}  // namespace xorder::band
