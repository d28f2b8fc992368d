#include "plan/bands/band_stack.hpp"

#include <fmt/format.h>

#include "text/count_text.hpp"
#include "text/size_text.hpp"

namespace xorder::plan {
namespace {

using std::uint64_t;

uint64_t matrices_together(uint64_t matrix_bytes, uint64_t matrices) {
  return std::clamp<uint64_t>(largest_request / matrix_bytes, 1, matrices);
}

}  // namespace

// Larger matrices make long enough requests by themselves.
bool BandStack::suits(const Band& band, uint64_t element_bytes, uint64_t matrices, const Setting& setting) {
  return matrices > 1 && band.places() <= largest_request / 2 / element_bytes &&
         BandStack(band, element_bytes, matrices, setting).memory() <= setting.memory;
}

BandStack::BandStack(const Band& band, uint64_t element_bytes, uint64_t matrices, const Setting& setting)
    : band_(band),
      element_bytes_(element_bytes),
      matrices_(matrices),
      together_(matrices_together(band.places() * element_bytes, matrices)),
      setting_(setting) {
  if (memory() > setting.memory) lanes_ = least_lanes;
}

PassSummary BandStack::pass() const {
  return priced({.tiles = steps(),
                 .tile_bytes = together_ * matrix_bytes(),
                 .source_block_bytes = together_ * matrix_bytes(),
                 .target_block_bytes = together_ * matrix_bytes(),
                 .memory = memory(),
                 .bytes_read = matrices_ * matrix_bytes(),
                 .bytes_written = matrices_ * matrix_bytes()},
                setting_);
}

std::string BandStack::describe() const {
  return fmt::format(
      "  {} matrices at a time: runs of {}\n"
      "  memory: {}; {} in flight\n",
      together_, size_text(together_ * matrix_bytes()), size_text(memory()), count_text(lanes(), "run"));
}

}  // namespace xorder::plan
