#include "plan/processors/slots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "plan/choose.hpp"
#include "plan/price.hpp"
#include "plan/processors/stripes.hpp"
#include "text/size_text.hpp"

namespace xorder::plan {

using std::uint64_t;

SlotPlan plan_slots(std::shared_ptr<const schedule::Schedule> schedule, uint64_t slot_bytes,
                    const ProcessorSetting& setting) {
  const SlotPlan plan{std::move(schedule), slot_bytes, slot_bytes, {}};
  const uint64_t places = plan.places(), bytes = places * slot_bytes;
  const uint64_t room = stripe_memory(*plan.schedule, setting), own = own_memory(*plan.schedule, setting);
  if (places > room) {
    throw InputError(fmt::format("a byte of each of {} slots does not fit in {} of memory; use more memory",
                                 places, size_text(setting.memory)));
  }
  const auto in_stripes_of = [&](uint64_t width) {
    SlotPlan made = plan;
    // Stripes begin at whole blocks, as direct transfers need.
    made.stripe_bytes = width > file_block ? round_down(width, file_block) : width;
    const bool whole = width == slot_bytes;
    if (whole) made.stripe_bytes = slot_bytes;
    const uint64_t run = whole ? bytes : made.stripe_bytes;  // read and written at once
    made.pass = priced({.tiles = made.stripes(),
                        .tile_bytes = places * made.stripe_bytes,
                        .source_block_bytes = run,
                        .target_block_bytes = run,
                        // With the messages, and with the stripe that is read or written meanwhile.
                        .memory = own + (made.stripes() > 1 ? 3 : 2) * places * made.stripe_bytes,
                        .bytes_read = bytes,
                        .bytes_written = bytes},
                       setting.pass(true, true), transfer_bytes);
    return std::optional(made);
  };
  const uint64_t most = std::min(room / places, slot_bytes);
  constexpr uint64_t least_stripe = uint64_t{8} << 20;
  // On the network, each stripe starts all messages again.
  const uint64_t least = setting.link_times ? most : ceil_div(least_stripe, places);
  return *choose(halves(most, least), in_stripes_of,
                 [](const SlotPlan& made) { return made.pass.predicted_seconds; });
}

}  // namespace xorder::plan
