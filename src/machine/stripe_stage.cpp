#include "machine/stripe_stage.hpp"

#include <algorithm>
#include <cstring>

#include "kernel/pieces.hpp"
#include "machine/storage.hpp"
#include "task/in_turn.hpp"
#include "task/parallel.hpp"
#include "xorder/machine/machine.hpp"

namespace xorder::machine {
namespace {

using plan::StripeGeometry;
using std::int64_t;
using std::uint64_t;
using Panel = StripeGeometry::Panel;
using Part = StripeGeometry::Part;

// Rows are put together and written, and what lies side by side is read, in pieces of this size.
constexpr uint64_t assembled = plan::transfer_bytes;

template <typename Function>
void for_each_in_parallel(auto&& items, const Function& function) {
  task::each(items.size(), [&](uint64_t i) { function(items[i]); });
}

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

/// Some rows of every slot, in memory.
class Stripe final : public Program {
 public:
  Stripe(const plan::StripePlan& plan, std::span<const Stored> parts, Storage& storage)
      : geometry_(*plan.geometry),
        schedule_(*plan.schedule),
        parts_(parts),
        storage_(storage),
        slots_(plan.schedule->network().nodes() * plan.schedule->slots()) {}

  void load(io::Location source, uint64_t first, uint64_t end) {
    first_ = first;
    end_ = end;
    for (Payload& slot : slots_) slot.reset(0);  // of what came to places that nothing begins at
    std::vector<std::span<const Stored>> together;
    for (std::span<const Stored> rest = parts_; !rest.empty(); rest = rest.subspan(together.back().size())) {
      together.push_back(beginning_together(rest));
    }
    for_each_in_parallel(together, [&](std::span<const Stored> parts) { load(source, parts); });
  }

  void store(io::Location target) {
    for_each_in_parallel(geometry_.panels(), [&](const Panel& panel) {
      const uint64_t until = std::min(end_, panel.rows);
      if (first_ >= until) return;
      if (geometry_.cuts() > 1) return store_pieces(panel, until, target);
      const uint64_t rows = std::max<uint64_t>(assembled / geometry_.row_bytes(), 1);
      for (uint64_t y = first_; y < until; y += rows) store_rows(panel, y, std::min(until, y + rows), target);
    });
  }

  void send(schedule::Place from, uint64_t, Payload& payload) override {
    const Payload& slot = at(from);
    std::memcpy(payload.reset(slot.size()), slot.data(), slot.size());
  }
  void receive(const schedule::Message& message, uint64_t, Payload& payload) override {
    std::swap(at(message.to), payload);
  }

 private:
  struct Range {
    uint64_t begin = 0, end = 0;
    uint64_t bytes() const { return end - begin; }
  };
  /// Of the scratch file.
  Range range(const Stored& stored) const {
    const uint64_t until = std::min(end_, stored.panel->rows);
    return {stored.part->scratch + geometry_.before(*stored.part, std::min(first_, until)),
            stored.part->scratch + geometry_.before(*stored.part, until)};
  }

  // As many of the first parts as lie side by side and can be read at once; one at least.
  std::span<const Stored> beginning_together(std::span<const Stored> parts) const {
    Range all = range(parts[0]);
    std::size_t count = 1;
    for (; count < parts.size(); ++count) {
      const Range next = range(parts[count]);
      if (next.begin != all.end || next.end - all.begin > assembled) break;
      all.end = next.end;
    }
    return parts.first(count);
  }

  void load(io::Location source, std::span<const Stored> parts) {
    const uint64_t begin = range(parts.front()).begin, end = range(parts.back()).end;
    if (parts.size() == 1) {
      storage_.read(source, begin, at(parts[0].part->from).reset(end - begin), end - begin);
      return;
    }
    Payload all;
    std::byte* const content = all.reset(end - begin);
    storage_.read(source, begin, content, end - begin);
    for (const Stored& stored : parts) {
      const Range part = range(stored);
      std::memcpy(at(stored.part->from).reset(part.bytes()), content + (part.begin - begin), part.bytes());
    }
  }

  Payload& at(schedule::Place place) { return slots_[place.node * schedule_.slots() + place.slot]; }
  /// What a part's rows from `row` on have become.
  const std::byte* arrived(const Part& part, uint64_t row) {
    return at(schedule_.goal(part.from).value()).data() + geometry_.before(part, row) -
           geometry_.before(part, first_);
  }

  // Whole rows, put together from all parts' runs.
  void store_rows(const Panel& panel, uint64_t first, uint64_t end, io::Location target) {
    const uint64_t begin = first * geometry_.row_bytes(), bytes = (end - first) * geometry_.row_bytes();
    Payload buffer;
    std::byte* const rows = buffer.reset(bytes);
    if (!geometry_.dense()) std::memset(rows, 0, bytes);
    std::vector<StripeGeometry::Runs> runs;
    for (const Part& part : panel.parts) {
      const std::byte* from = arrived(part, first);
      geometry_.runs(part, first, end, runs);
      for (const auto& [position, size, count] : runs) {
        kernel::copy_pieces(rows + (position - begin), static_cast<int64_t>(geometry_.row_bytes()), from,
                            static_cast<int64_t>(size), size, count);
        from += size * count;
      }
    }
    storage_.write(target, panel.target + begin, rows, bytes);
  }

  // Pieces of rows, each by itself.
  void store_pieces(const Panel& panel, uint64_t until, io::Location target) {
    std::vector<StripeGeometry::Runs> runs;
    for (const Part& part : panel.parts) {
      const std::byte* from = arrived(part, first_);
      geometry_.runs(part, first_, until, runs);
      for (const auto& [position, size, count] : runs) {
        storage_.write(target, panel.target + position, from, size);
        from += size;
      }
    }
  }

  const StripeGeometry& geometry_;
  const schedule::Schedule& schedule_;
  std::span<const Stored> parts_;
  Storage& storage_;
  std::vector<Payload> slots_;
  uint64_t first_ = 0, end_ = 0;
};

}  // namespace

void StripeStage::move(work::Run& run, io::Location source, io::Location target, std::size_t pass) {
  Storage storage(run.stop());
  task::Workers workers = transfer_workers(run.frame());
  const std::vector<Stored> parts = in_file_order(*plan_.geometry);
  Stripe stripes[] = {Stripe(plan_, parts, storage), Stripe(plan_, parts, storage)};
  const schedule::Schedule& schedule = *plan_.schedule;
  work::Traffic traffic{
      .schedule = plan_.name, .processors = schedule.network().nodes(), .steps = schedule.steps()};

  run.begin(plan_.pass.bytes_read + plan_.pass.bytes_written, pass);
  run.with(workers, [&] {
    uint64_t next = 0;
    Machine machine(schedule);
    const auto load = [&](Stripe& stripe) {
      if (next >= plan_.most_rows) return false;
      stripe.load(source, next, next + plan_.rows);
      next += plan_.rows;
      return true;
    };
    const auto exchange = [&](Stripe& stripe) { traffic += machine.run(stripe, run.stop()); };
    const auto store = [&](Stripe& stripe) { stripe.store(target); };
    task::in_turn(stripes, load, exchange, store);
  });
  run.traffic = traffic;
}

}  // namespace xorder::machine
