// How a file that is the slots of virtual processors, one after the other, is moved by a schedule: in
// stripes, the same bytes of every slot, each of which goes through all steps in memory.
#pragma once

#include <cstdint>
#include <memory>

#include "plan/processors/processors.hpp"
#include "rounding.hpp"
#include "xorder/plan/summary.hpp"
#include "xorder/schedule/schedule.hpp"

namespace xorder::plan {

struct SlotPlan {
  std::shared_ptr<const schedule::Schedule> schedule;
  std::uint64_t slot_bytes = 0;
  std::uint64_t stripe_bytes = 0;  ///< of each slot
  PassSummary pass;

  std::uint64_t places() const { return schedule->network().nodes() * schedule->slots(); }
  std::uint64_t stripes() const { return ceil_div(slot_bytes, stripe_bytes); }
};

/// Plans the pass. Requires that slots have bytes. Throws InputError if no stripe fits in the memory.
SlotPlan plan_slots(std::shared_ptr<const schedule::Schedule> schedule, std::uint64_t slot_bytes,
                    const ProcessorSetting& setting);

}  // namespace xorder::plan
