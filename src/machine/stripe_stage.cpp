#include "machine/stripe_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernel/pieces.hpp"
#include "machine/in_steps.hpp"
#include "machine/processor_block.hpp"
#include "machine/simulation.hpp"
#include "machine/storage.hpp"
#include "rounding.hpp"
#include "task/parallel.hpp"
#include "xorder/machine/machine.hpp"

namespace xorder::machine {
namespace {

using plan::StripeGeometry;
using std::int64_t;
using std::uint32_t;
using std::uint64_t;
using Panel = StripeGeometry::Panel;
using Part = StripeGeometry::Part;

// About how many bytes of the panel's rows are put in their places at a time.
constexpr uint64_t assembled = plan::transfer_bytes;

/// All parts as they lie in the scratch file.
struct Stored {
  const Panel* panel;
  const Part* part;
};
std::vector<Stored> in_file_order(const StripeGeometry& geometry) {
  std::vector<Stored> all;
  for (const Panel& panel : geometry.panels()) {
    for (const Part& part : panel.parts) all.push_back({&panel, &part});
  }
  std::ranges::sort(all, {}, [](const Stored& stored) { return stored.part->scratch; });
  return all;
}

/// A processor's block of the scratch file and the parts that lie in it. Neighbours whose blocks are short
/// share one.
struct Owned {
  uint64_t begin, bytes;
  std::span<const Stored> parts;
};
std::vector<Owned> owned(const StripeGeometry& geometry, std::span<const Stored> parts, uint64_t least) {
  std::vector<Owned> all;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part& part = *parts[i].part;
    const bool same = i > 0 && part.from.node == parts[i - 1].part->from.node;
    if (all.empty() || (!same && all.back().bytes >= least))
      all.push_back({part.scratch, 0, parts.subspan(i, 0)});
    Owned& block = all.back();
    block.bytes = part.scratch + geometry.before(part, parts[i].panel->rows) - block.begin;
    block.parts = {block.parts.data(), block.parts.size() + 1};
  }
  return all;
}

/// Some rows of every slot: where they were read, and from where they will be written.
struct Stripe {
  explicit Stripe(task::BufferPool& pool) : source_room(pool), target_room(pool) {}

  uint64_t first = 0, end = 0;
  std::vector<const std::byte*> contents;  // of each part
  Room source_room, target_room;
  std::vector<ProcessorBlock> sources, targets;
  std::vector<std::byte*> panels;  // of each panel, its first row
};

/// What the processors do with a stripe. A part's first message refers to the sender's block of the scratch
/// file. When its last message arrives, the receiver puts its rows where they belong in the output
/// (StripePlan::put_at_once). So a part that takes one message, as on a mesh, is copied once, from block to
/// block. A part that takes several lies in the memory of its slots on the way.
class Stripes final : public Program {
 public:
  Stripes(const plan::StripePlan& plan, Storage& storage, io::Location source, io::Location target)
      : geometry_(*plan.geometry),
        schedule_(*plan.schedule),
        storage_(storage),
        source_(source),
        target_(target),
        parts_(in_file_order(geometry_)),
        least_(plan::least_in_place(plan.pass.tile_bytes)),
        blocks_(owned(geometry_, parts_, least_)),
        slots_(schedule_.network().nodes() * schedule_.slots()) {
    if (plan.put_at_once) find_arrivals();
  }

  task::BufferPool& pool() { return pool_; }
  void load(Stripe& stripe, uint64_t first, uint64_t end);
  schedule::Traffic exchange(Stripe& stripe, Machine& machine, const std::stop_token& stop);
  void store(Stripe& stripe);

  // What came by a message is copied: the next message may take its place before the receiver has read it.
  void send(schedule::Place from, uint64_t, Payload& payload) override {
    const Slot& slot = slots_[index(from)];
    if (slot.bytes != 0 && slot.content == slot.on_the_way.data()) {
      std::memcpy(payload.reset(slot.bytes), slot.content, slot.bytes);
    } else {
      payload.refer(slot.content, slot.bytes);
    }
  }
  void receive(const schedule::Message& message, uint64_t step, Payload& payload) override {
    Slot& slot = slots_[index(message.to)];
    slot.bytes = payload.size();
    if (slot.part != none && slot.step == step) {
      if (slot.bytes != 0) put(parts_[slot.part], payload.data());
      slot.bytes = 0;
    } else if (payload.refers()) {
      std::memcpy(slot.on_the_way.reset(slot.bytes), payload.data(), slot.bytes);
    } else {
      std::swap(slot.on_the_way, payload);
    }
    slot.content = slot.on_the_way.data();
  }

 private:
  struct Range {
    uint64_t begin = 0, end = 0;
  };
  /// The stripe's rows of a part, as a range of the scratch file.
  Range range(const Stripe& stripe, const Stored& stored) const {
    const uint64_t until = std::min(stripe.end, stored.panel->rows);
    return {stored.part->scratch + geometry_.before(*stored.part, std::min(stripe.first, until)),
            stored.part->scratch + geometry_.before(*stored.part, until)};
  }
  std::size_t index(schedule::Place place) const { return place.node * schedule_.slots() + place.slot; }
  std::size_t goal(const Part& part) const { return index(schedule_.goal(part.from).value()); }
  std::size_t number(const Stored& stored) const { return static_cast<std::size_t>(&stored - parts_.data()); }
  std::size_t number(const Panel& panel) const {
    return static_cast<std::size_t>(&panel - geometry_.panels().data());
  }
  /// Whether rows are cut. Their pieces do not lie together in the output, and are written one by one.
  bool in_pieces() const { return geometry_.cuts() > 1; }

  void find_arrivals();
  void load(Stripe& stripe, const Owned& block, ProcessorBlock& source);
  void open_targets(Stripe& stripe);
  void put(const Stored& stored, const std::byte* content);
  void write_pieces(const Stored& stored, const std::byte* content);

  const StripeGeometry& geometry_;
  const schedule::Schedule& schedule_;
  Storage& storage_;
  io::Location source_, target_;
  std::vector<Stored> parts_;
  uint64_t least_;
  std::vector<Owned> blocks_;
  task::BufferPool pool_;
  Stripe* stripe_ = nullptr;  // the one in the machine
  static constexpr uint32_t none = std::numeric_limits<uint32_t>::max();
  struct alignas(64) Slot {
    const std::byte* content = nullptr;  // in the sources or on_the_way
    uint64_t bytes = 0;
    Payload on_the_way;
    // The part that ends in the slot, and the step of the message that brings it; `none` unless a message
    // brings it and it stays.
    uint32_t part = none, step = none;
  };
  std::vector<Slot> slots_;
};

// The last event in a slot decides: whether its content was sent on or arrived.
void Stripes::find_arrivals() {
  std::vector<schedule::Message> messages;
  for (uint64_t step = 0; step < schedule_.steps(); ++step) {
    schedule_.messages(step, messages);
    for (const schedule::Message& message : messages) slots_[index(message.from)].step = none;
    for (const schedule::Message& message : messages)
      slots_[index(message.to)].step = static_cast<uint32_t>(step);
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Slot& slot = slots_[goal(*parts_[i].part)];
    if (slot.step != none) slot.part = static_cast<uint32_t>(i);
  }
}

void Stripes::load(Stripe& stripe, uint64_t first, uint64_t end) {
  stripe.first = first;
  stripe.end = end;
  stripe.contents.assign(parts_.size(), nullptr);
  uint64_t bytes = 0;
  for (const Stored& stored : parts_) {
    const Range part = range(stripe, stored);
    bytes += part.end - part.begin;
  }
  pool_.at_least(Room::bytes_for(bytes));
  for (const Owned& block : blocks_) {
    stripe.sources.emplace_back(storage_, source_, block.begin, block.bytes, ProcessorBlock::Use::read,
                                least_);
  }
  task::each(blocks_.size(), [&](uint64_t i) { load(stripe, blocks_[i], stripe.sources[i]); });
}

// Parts that lie side by side are read at once.
void Stripes::load(Stripe& stripe, const Owned& block, ProcessorBlock& source) {
  for (std::size_t i = 0, next = 0; i < block.parts.size(); i = next) {
    Range all = range(stripe, block.parts[i]);
    for (next = i + 1; next < block.parts.size(); ++next) {
      const Range part = range(stripe, block.parts[next]);
      if (part.begin != all.end) break;
      all.end = part.end;
    }
    if (all.begin == all.end) continue;
    const std::byte* const content =
        source.fill(all.begin - block.begin, all.end - all.begin, stripe.source_room);
    for (; i < next; ++i) {
      const Stored& stored = block.parts[i];
      stripe.contents[number(stored)] = content + (range(stripe, stored).begin - all.begin);
    }
  }
}

void Stripes::open_targets(Stripe& stripe) {
  const std::vector<Panel>& panels = geometry_.panels();
  stripe.panels.assign(panels.size(), nullptr);
  uint64_t all = 0;
  for (const Panel& panel : panels) {
    const uint64_t first = std::min(stripe.first, panel.rows), end = std::min(stripe.end, panel.rows);
    const uint64_t bytes = (end - first) * panel.row_bytes;
    stripe.targets.emplace_back(storage_, target_, panel.target + first * panel.row_bytes, bytes,
                                ProcessorBlock::Use::write, least_);
    all += bytes;
  }
  pool_.at_least(Room::bytes_for(all));
  task::each(panels.size(), [&](uint64_t i) {
    const uint64_t first = std::min(stripe.first, panels[i].rows), end = std::min(stripe.end, panels[i].rows);
    const uint64_t bytes = (end - first) * panels[i].row_bytes;
    if (bytes == 0) return;
    stripe.panels[i] = stripe.targets[i].make(0, bytes, stripe.target_room);
    if (!geometry_.dense()) std::memset(stripe.panels[i], 0, bytes);
  });
}

schedule::Traffic Stripes::exchange(Stripe& stripe, Machine& machine, const std::stop_token& stop) {
  stripe_ = &stripe;
  if (!in_pieces()) open_targets(stripe);
  for (Slot& slot : slots_) slot.bytes = 0;  // also where no part begins: the last stripe may have left some
  for (const Stored& stored : parts_) {
    Slot& slot = slots_[index(stored.part->from)];
    const Range part = range(stripe, stored);
    slot.content = stripe.contents[number(stored)];
    slot.bytes = part.end - part.begin;
  }
  const schedule::Traffic traffic = machine.run(*this, stop);
  // Puts the parts that receive() has not put in their places.
  const std::vector<Panel>& panels = geometry_.panels();
  task::each(panels.size(), [&](uint64_t i) {
    const Panel& panel = panels[i];
    for (const Part& part : panel.parts) {
      const Slot& slot = slots_[goal(part)];
      if (slot.bytes == 0 || slot.part != none) continue;
      in_pieces() ? write_pieces({&panel, &part}, slot.content) : put({&panel, &part}, slot.content);
    }
  });
  stripe.sources.clear();
  stripe.source_room.clear();
  return traffic;
}

void Stripes::store(Stripe& stripe) {
  task::each(stripe.targets.size(), [&](uint64_t i) { stripe.targets[i].empty(); });
  stripe.targets.clear();
  stripe.target_room.clear();
}

// Puts the rows of a part into the rows of the output.
void Stripes::put(const Stored& stored, const std::byte* content) {
  const auto& [panel, part] = stored;
  const uint64_t first = stripe_->first, end = std::min(stripe_->end, panel->rows);
  const uint64_t row_bytes = panel->row_bytes, rows = std::max<uint64_t>(assembled / row_bytes, 1);
  std::byte* const to = stripe_->panels[number(*panel)];
  thread_local std::vector<StripeGeometry::Runs> runs;
  for (uint64_t y = first; y < end; y += rows) {
    geometry_.runs(*part, y, std::min(end, y + rows), runs);
    for (const auto& [position, size, count] : runs) {
      kernel::copy_pieces(to + (position - first * row_bytes), static_cast<int64_t>(row_bytes), content,
                          static_cast<int64_t>(size), size, count);
      content += size * count;
    }
  }
}

void Stripes::write_pieces(const Stored& stored, const std::byte* content) {
  const auto& [panel, part] = stored;
  std::vector<StripeGeometry::Runs> runs;
  geometry_.runs(*part, stripe_->first, std::min(stripe_->end, panel->rows), runs);
  for (const auto& [position, size, count] : runs) {
    storage_.transfer(io::write_range, target_, panel->target + position, content, size);
    content += size;
  }
}

}  // namespace

std::string StripeStage::steps() const {
  return fmt::format("{}, {} of {} rows", plan_.describe(), plan_.rows, plan_.most_rows);
}

std::optional<schedule::Traffic> StripeStage::forecast(const std::stop_token& stop) const {
  if (!link_times_) return std::nullopt;
  const schedule::Schedule& schedule = *plan_.schedule;
  schedule::Traffic all = no_traffic(plan_.name, schedule.network().nodes(), schedule.steps(), link_times_),
                    last;
  Simulation simulation(schedule, *link_times_);
  std::vector<uint64_t> sizes, last_sizes;
  for (uint64_t first = 0; first < plan_.most_rows; first += plan_.rows) {
    sizes.assign(schedule.network().nodes() * schedule.slots(), 0);
    for (const Panel& panel : plan_.geometry->panels()) {
      const uint64_t begin = std::min(first, panel.rows), end = std::min(first + plan_.rows, panel.rows);
      for (const Part& part : panel.parts) {
        sizes[part.from.node * schedule.slots() + part.from.slot] =
            plan_.geometry->before(part, end) - plan_.geometry->before(part, begin);
      }
    }
    if (sizes != last_sizes) last = simulation.run(schedule, sizes, stop);  // most stripes are alike
    all += last;
    std::swap(sizes, last_sizes);
  }
  return all;
}

void StripeStage::move(work::Run& run, const work::Relay& relay, std::size_t first) {
  const io::Location source = relay.source(first), target = relay.target(first);
  Storage storage(run.stop());
  Stripes stripes(plan_, storage, source, target);
  Stripe buffers[] = {Stripe(stripes.pool()), Stripe(stripes.pool())};
  const schedule::Schedule& schedule = *plan_.schedule;
  schedule::Traffic traffic =
      no_traffic(plan_.name, schedule.network().nodes(), schedule.steps(), link_times_);

  const auto exchange_stripes = [&](const auto& each_step) {
    Machine machine(schedule, link_times_);
    const auto load = [&](Stripe& stripe, uint64_t number) {
      stripes.load(stripe, number * plan_.rows, (number + 1) * plan_.rows);
    };
    const auto exchange = [&](Stripe& stripe) { traffic += stripes.exchange(stripe, machine, run.stop()); };
    const auto store = [&](Stripe& stripe) { stripes.store(stripe); };
    each_step(load, exchange, store);
  };
  in_steps(run, steps_of(plan_.pass, first, ceil_div(plan_.most_rows, plan_.rows)), target.file, buffers,
           exchange_stripes);
  sent_ = traffic;
}

}  // namespace xorder::machine
