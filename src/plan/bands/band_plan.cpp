#include "plan/bands/band_plan.hpp"

namespace xorder::plan {

std::vector<BandPart> plan_bands(std::span<const Band> bands, std::uint64_t element_bytes,
                                 const Setting& setting, const BandTiling& given) {
  std::vector<BandPart> parts;
  Setting here = setting;  // of the next part
  const auto add = [&](std::uint64_t matrices, const Band& band, BandPlan plan) {
    parts.emplace_back(matrices, std::move(plan));
    here.source_offset += matrices * band.places() * element_bytes;
    here.target_offset += matrices * band.places() * element_bytes;
  };
  for (std::size_t m = 0, next = 0; m < bands.size(); m = next) {
    const Band stored = bands[m].by_columns();
    while (next < bands.size() && bands[next] == bands[m]) ++next;
    if (given == BandTiling() && BandStack::suits(stored, element_bytes, next - m, here)) {
      add(next - m, stored, BandStack(stored, element_bytes, next - m, here));
      continue;
    }
    for (; m < next; ++m) {
      if (stored.of_diagonals()) {
        add(1, stored, BandShifts(stored, element_bytes, here, given));
      } else {
        add(1, stored, BandStrips(stored, element_bytes, here, given));
      }
    }
  }
  return parts;
}

PassSummary pass(const BandPlan& plan) {
  return std::visit([](const auto& one) { return one.pass(); }, plan);
}

std::string describe(const BandPlan& plan) {
  return std::visit([](const auto& one) { return one.describe(); }, plan);
}

}  // namespace xorder::plan
