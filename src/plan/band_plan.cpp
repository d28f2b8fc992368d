#include "plan/band_plan.hpp"

#include <algorithm>

namespace xorder::plan {

double band_seconds(const PassSummary& pass, const Device& device) {
  const auto requests = [](std::uint64_t bytes, std::uint64_t request) {
    return request == 0 ? 0 : (bytes + request - 1) / request;
  };
  const std::uint64_t read = std::min(pass.source_block_bytes, device.largest_useful_request());
  const std::uint64_t written = std::min(pass.target_block_bytes, device.largest_useful_request());
  return device.read_seconds(requests(pass.bytes_read, read), read) +
         device.write_seconds(requests(pass.bytes_written, written), written);
}

BandPlan plan_band(const Band& band, std::uint64_t element_bytes, const BandConditions& conditions,
                   const BandTiling& given) {
  const Band stored = band.by_columns();
  if (stored.of_diagonals()) return BandShifts(stored, element_bytes, conditions, given);
  return BandStrips(stored, element_bytes, conditions, given);
}

PassSummary pass(const BandPlan& plan) {
  return std::visit([](const auto& one) { return one.pass(); }, plan);
}

std::string describe(const BandPlan& plan) {
  return std::visit([](const auto& one) { return one.describe(); }, plan);
}

}  // namespace xorder::plan
