#include "plan/processors/stripes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "plan/choose.hpp"
#include "plan/price.hpp"
#include "plan/setting.hpp"
#include "rounding.hpp"
#include "text/count_text.hpp"
#include "text/size_text.hpp"
#include "xorder/error.hpp"

namespace xorder::plan {

using std::uint64_t;

namespace {

// Smaller stripes are not made for the sake of time: each goes through all steps of the schedule.
constexpr uint64_t least_stripe = uint64_t{8} << 20;

// Whether every slot's content goes from its sender to its receiver in one message, without passing others.
bool one_message(const schedule::Schedule& schedule) {
  if (schedule.steps() <= 1) return true;
  const uint64_t messages = schedule.total().messages, nodes = schedule.network().nodes();
  if (messages > nodes * schedule.slots()) return false;
  uint64_t moved = 0;
  for (schedule::Node node = 0; node < nodes; ++node) {
    for (uint64_t slot = 0; slot < schedule.slots(); ++slot) {
      const auto goal = schedule.goal({node, slot});
      moved += goal && goal->node != node ? 1 : 0;
    }
  }
  return messages == moved;
}

// What a stripe takes in the machine, in thousandths of its bytes: where it was read and where it is written
// from and, if contents pass several processors, the slots on the way and the messages.
uint64_t in_machine(const schedule::Schedule& schedule, bool mapped) {
  const schedule::Network& network = schedule.network();
  const uint64_t blocks = 2 * block_thousandths(mapped);
  if (one_message(schedule)) return blocks;
  const uint64_t slots = network.nodes() * schedule.slots();
  const uint64_t messages =
      std::min(slots, 2 * (window_messages(network, schedule.slots()) + network.links()));
  return blocks + 1000 + 1000 * messages / slots;
}

// The same with the next or the last stripe, which is being read or written.
uint64_t in_turn(const schedule::Schedule& schedule, bool mapped) {
  return in_machine(schedule, mapped) + block_thousandths(mapped);
}

}  // namespace

BlockGeometry::BlockGeometry(std::vector<Panel> panels, uint64_t row_elements, uint64_t element_bytes,
                             uint64_t memory)
    : element_bytes_(element_bytes), row_bytes_(row_elements * element_bytes) {
  panels_ = std::move(panels);
  const uint64_t all = panels_.size() * row_bytes_;
  cuts_ = std::clamp<uint64_t>(ceil_div(all, memory), 1, row_elements);
  for (Panel& panel : panels_) {
    panel.rows *= cuts_;
    panel.row_bytes = row_bytes_;
  }
}

// The columns before piece row % cuts of a row.
uint64_t BlockGeometry::cut(const Part& part, uint64_t row) const {
  return part.columns * (row % cuts_) / cuts_;
}

uint64_t BlockGeometry::before(const Part& part, uint64_t row) const {
  return (row / cuts_ * part.columns + cut(part, row)) * element_bytes_;
}

void BlockGeometry::runs(const Part& part, uint64_t first, uint64_t end, std::vector<Runs>& out) const {
  out.clear();
  const auto position = [&](uint64_t row) {
    return row / cuts_ * row_bytes_ + (part.first_column + cut(part, row)) * element_bytes_;
  };
  if (cuts_ == 1) {
    out.push_back({position(first), part.columns * element_bytes_, end - first});
    return;
  }
  for (uint64_t y = first; y < end; ++y) out.push_back({position(y), before(part, y + 1) - before(part, y)});
}

uint64_t BlockGeometry::aligned_rows(uint64_t block) const {
  uint64_t rows = 1;
  if (cuts_ > 1) return rows;
  for (const Panel& panel : panels_) {
    for (const Part& part : panel.parts) {
      rows = std::lcm(rows, block / std::gcd(block, part.columns * element_bytes_));
    }
  }
  return rows;
}

uint64_t own_memory(const schedule::Schedule& schedule, const ProcessorSetting& setting) {
  constexpr uint64_t each_slot = 256;
  return machine_memory(schedule.network(), schedule.slots(), schedule.total().messages, setting.link_times) +
         schedule.network().nodes() * schedule.slots() * each_slot + transfer_memory(setting.memory) +
         transfer_memory(setting);
}

uint64_t stripe_memory(const schedule::Schedule& schedule, const ProcessorSetting& setting) {
  const uint64_t memory = setting.memory, own = own_memory(schedule, setting);
  if (own > memory / 2) {
    throw InputError(fmt::format(
        "{} virtual processors with {} slots each take about {} for themselves, too much for {} of "
        "memory; use fewer processors or more memory",
        schedule.network().nodes(), schedule.slots(), size_text(own), size_text(memory)));
  }
  return (memory - own) * 1000 / in_turn(schedule, setting.mapped);
}

StripePlan plan_stripes(std::string name, std::shared_ptr<const schedule::Schedule> schedule,
                        std::shared_ptr<const StripeGeometry> geometry, uint64_t bytes,
                        const ProcessorSetting& setting) {
  StripePlan plan{std::move(name), std::move(schedule), std::move(geometry), 1, 0, true, {}};
  const auto& panels = plan.geometry->panels();
  std::size_t parts = 0;
  uint64_t all_panels = 0;
  for (const StripeGeometry::Panel& panel : panels) {
    plan.most_rows = std::max(plan.most_rows, panel.rows);
    parts += panel.parts.size();
    all_panels += panel.row_bytes;
  }
  const uint64_t row = std::max<uint64_t>(all_panels / plan.geometry->cuts(), 1);
  const uint64_t room = stripe_memory(*plan.schedule, setting);
  if (row > room) {
    throw InputError(
        fmt::format("the smallest stripe of {} virtual processors' slots takes {}, and {} of memory must "
                    "hold {} of them; use fewer processors or more memory",
                    plan.schedule->network().nodes(), size_text(row), size_text(setting.memory),
                    ceil_div(in_turn(*plan.schedule, setting.mapped), 1000)));
  }
  const uint64_t own = own_memory(*plan.schedule, setting);
  const uint64_t alone = in_machine(*plan.schedule, setting.mapped);
  const uint64_t in_turns = in_turn(*plan.schedule, setting.mapped);
  const bool in_one = one_message(*plan.schedule);
  const auto in_stripes_of = [&](uint64_t rows) {
    StripePlan made = plan;
    made.rows = rows;
    const uint64_t stripe = bytes / std::max<uint64_t>(made.stripes(), 1);
    constexpr uint64_t short_part = 1024;
    made.put_at_once = made.geometry->cuts() == 1 && (in_one || stripe >= short_part * parts);
    const uint64_t taken = made.stripes() <= 1 ? alone : in_turns;
    made.pass =
        priced({.tiles = made.stripes(),
                .tile_bytes = stripe,
                // All rows of parts that lie beside each other are read at once.
                .source_block_bytes = made.stripes() <= 1 ? stripe : stripe / std::max<std::size_t>(parts, 1),
                .target_block_bytes = stripe / std::max<std::size_t>(panels.size(), 1),
                .memory = std::min(bytes, rows * row) * taken / 1000 + own,
                .bytes_read = bytes,
                .bytes_written = bytes},
               setting.part(false, true), transfer_bytes);
    return std::optional(made);
  };
  const uint64_t unit = plan.geometry->aligned_rows(file_block);
  // Stripes should begin at whole blocks, as direct transfers need.
  const auto aligned = [&](uint64_t rows) { return unit <= rows ? rows - rows % unit : rows; };
  const uint64_t most = std::clamp<uint64_t>(room / row, 1, std::max<uint64_t>(plan.most_rows, 1));
  const bool whole = plan.most_rows * row <= (setting.memory - own) * 1000 / alone;
  // On the network, each stripe starts all messages again.
  const uint64_t least = setting.link_times ? most : ceil_div(least_stripe, row);
  return *choose(
      halves(most, least),
      [&](uint64_t rows) { return in_stripes_of(whole && rows == most ? plan.most_rows : aligned(rows)); },
      [](const StripePlan& made) { return made.pass.predicted_seconds; });
}

std::string StripePlan::describe() const {
  return fmt::format("{} of schedule {} among {} with {} each, in {}\n",
                     count_text(schedule->steps(), "step"), name,
                     count_text(schedule->network().nodes(), "virtual processor"),
                     count_text(schedule->slots(), "slot"), count_text(stripes(), "stripe"));
}

}  // namespace xorder::plan
