#include "machine/stripe_stage.hpp"

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for_each.h>

#include <algorithm>
#include <cstring>

#include "machine/storage.hpp"
#include "task/handover.hpp"
#include "task/in_turn.hpp"
#include "task/workers.hpp"
#include "xorder/error.hpp"
#include "xorder/machine/machine.hpp"

namespace xorder::machine {
namespace {

namespace tbb = oneapi::tbb;
using std::uint64_t;

// One stripe is in the machine, with as much on its links at worst, and one is being read or written.
constexpr uint64_t stripes_in_memory = 3;
// Rows are put together and written in pieces of this size.
constexpr uint64_t assembled = uint64_t{1} << 20;

template <typename Function>
void for_each_in_parallel(auto&& items, const Function& function) {
  const auto each = [&](auto& item) {
    const task::InTask task;
    function(item);
  };
  const task::AroundTasks around;
  tbb::parallel_for_each(items.begin(), items.end(), each);
}

template <std::size_t bytes>
void copy_runs(std::byte* to, uint64_t pitch, const std::byte* from, uint64_t rows) {
  for (uint64_t y = 0; y < rows; ++y) std::memcpy(to + y * pitch, from + y * bytes, bytes);
}

}  // namespace

BlockGeometry::BlockGeometry(std::vector<Panel> panels, uint64_t row_elements, uint64_t element_bytes,
                             uint64_t memory)
    : element_bytes_(element_bytes) {
  panels_ = std::move(panels);
  row_bytes_ = row_elements * element_bytes;
  const uint64_t all = panels_.size() * row_bytes_;
  cuts_ = std::clamp<uint64_t>((all + memory - 1) / memory, 1, row_elements);
  for (Panel& panel : panels_) panel.rows *= cuts_;
}

// The columns before piece row % cuts of a row.
uint64_t BlockGeometry::cut(const Part& part, uint64_t row) const {
  return part.columns * (row % cuts_) / cuts_;
}

uint64_t BlockGeometry::before(const Part& part, uint64_t row) const {
  return (row / cuts_ * part.columns + cut(part, row)) * element_bytes_;
}

uint64_t BlockGeometry::position(const Part& part, uint64_t row) const {
  return row / cuts_ * row_bytes_ + (part.first_column + cut(part, row)) * element_bytes_;
}

std::span<const StripeGeometry::Run> BlockGeometry::runs(const Part& part, uint64_t row,
                                                         std::array<Run, 3>& out) const {
  out[0] = {position(part, row), before(part, row + 1) - before(part, row)};
  return std::span(out).first(1);
}

namespace {

// What the processors take for themselves, with what is kept of every slot: two payloads, a part, a message.
uint64_t bookkeeping(const schedule::Schedule& schedule) {
  constexpr uint64_t each_slot = 384;
  return Machine::memory(schedule.network()) + schedule.network().nodes() * schedule.slots() * each_slot;
}

}  // namespace

uint64_t StripeStage::stripe_memory(const schedule::Schedule& schedule, uint64_t memory) {
  const uint64_t own = bookkeeping(schedule) + 2 * storage_overhead(memory);
  if (own > memory / 2) {
    throw InputError(
        fmt::format("{} virtual processors with {} slots each take about {} bytes for themselves, too much "
                    "for {} bytes of memory; take fewer processors or more memory",
                    schedule.network().nodes(), schedule.slots(), own, memory));
  }
  return (memory - own) / stripes_in_memory;
}

StripeStage::StripeStage(std::string name, std::unique_ptr<schedule::Schedule> schedule,
                         std::unique_ptr<StripeGeometry> geometry, uint64_t bytes, uint64_t memory)
    : name_(std::move(name)),
      schedule_(std::move(schedule)),
      geometry_(std::move(geometry)),
      bytes_(bytes),
      memory_(memory) {
  for (const auto& panel : geometry_->panels()) most_rows_ = std::max(most_rows_, panel.rows);
  const uint64_t row =
      std::max<uint64_t>(geometry_->panels().size() * geometry_->row_bytes() / geometry_->cuts(), 1);
  const uint64_t room = stripe_memory(*schedule_, memory);
  if (row > room) {
    throw InputError(
        fmt::format("the smallest stripe of {} virtual processors' slots takes {} bytes, of which {} "
                    "bytes of memory must hold {}; take fewer processors or more memory",
                    schedule_->network().nodes(), row, memory, stripes_in_memory));
  }
  rows_ = std::clamp<uint64_t>(room / row, 1, std::max<uint64_t>(most_rows_, 1));
}

std::vector<plan::PassSummary> StripeStage::passes() const {
  const uint64_t stripes = (most_rows_ + rows_ - 1) / rows_;
  const uint64_t stripe = bytes_ / std::max<uint64_t>(stripes, 1);
  std::size_t parts = 0;
  for (const auto& panel : geometry_->panels()) parts += panel.parts.size();
  return {{.tiles = stripes,
           .tile_bytes = stripe,
           .source_block_bytes = stripe / std::max<std::size_t>(parts, 1),
           .target_block_bytes = stripe / std::max<std::size_t>(geometry_->panels().size(), 1),
           .memory = stripes_in_memory * stripe + 2 * storage_overhead(memory_) + bookkeeping(*schedule_),
           .bytes_read = bytes_,
           .bytes_written = bytes_}};
}

std::string StripeStage::describe() const {
  return fmt::format(
      "{} steps of schedule {} among {} virtual processors with {} slot{} each, in {} stripes\n",
      schedule_->steps(), name_, schedule_->network().nodes(), schedule_->slots(),
      schedule_->slots() == 1 ? "" : "s", (most_rows_ + rows_ - 1) / rows_);
}

/// Some rows of every slot, in memory.
class StripeStage::Stripe final : public Program {
 public:
  Stripe(const StripeStage& stage, Storage& storage)
      : geometry_(*stage.geometry_),
        schedule_(*stage.schedule_),
        storage_(storage),
        slots_(stage.schedule_->network().nodes() * stage.schedule_->slots()) {}

  void load(io::Location source, uint64_t first, uint64_t end) {
    first_ = first;
    end_ = end;
    for (Payload& slot : slots_) slot.reset(0);  // of what came to places that nothing begins at
    for_each_in_parallel(geometry_.panels(), [&](const StripeGeometry::Panel& panel) {
      const uint64_t until = std::min(end_, panel.rows);
      for (const StripeGeometry::Part& part : panel.parts) {
        const uint64_t begin = geometry_.before(part, std::min(first_, until));
        const uint64_t bytes = geometry_.before(part, until) - begin;
        storage_.read(source, part.scratch + begin, at(part.from).reset(bytes), bytes);
      }
    });
  }

  void store(io::Location target) {
    for_each_in_parallel(geometry_.panels(), [&](const StripeGeometry::Panel& panel) {
      const uint64_t until = std::min(end_, panel.rows);
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
  Payload& at(schedule::Place place) { return slots_[place.node * schedule_.slots() + place.slot]; }

  // Whole rows, put together from all parts' runs.
  void store_rows(const StripeGeometry::Panel& panel, uint64_t first, uint64_t end, io::Location target) {
    const uint64_t begin = first * geometry_.row_bytes(), bytes = (end - first) * geometry_.row_bytes();
    Payload rows;
    rows.reset(bytes);
    if (!geometry_.dense()) std::memset(rows.data(), 0, bytes);
    for (const StripeGeometry::Part& part : panel.parts) {
      const std::byte* const content =
          at(schedule_.goal(part.from).value()).data() - geometry_.before(part, first_);
      assemble(part, first, end, content, rows.data() - begin);
    }
    storage_.write(target, panel.target + begin, rows.data(), bytes);
  }

  void assemble(const StripeGeometry::Part& part, uint64_t first, uint64_t end, const std::byte* content,
                std::byte* rows) const {
    // Short runs of the same columns, as of a bit reversal, are worth loops of their own.
    if (const auto* blocks = dynamic_cast<const BlockGeometry*>(&geometry_)) {
      std::byte* const to = rows + blocks->position(part, first);
      const std::byte* const from = content + blocks->before(part, first);
      const uint64_t pitch = geometry_.row_bytes(), count = end - first;
      switch (blocks->before(part, first + 1) - blocks->before(part, first)) {
        case 1:
          return copy_runs<1>(to, pitch, from, count);
        case 2:
          return copy_runs<2>(to, pitch, from, count);
        case 4:
          return copy_runs<4>(to, pitch, from, count);
        case 8:
          return copy_runs<8>(to, pitch, from, count);
        case 16:
          return copy_runs<16>(to, pitch, from, count);
        default:
          break;
      }
    }
    std::array<StripeGeometry::Run, 3> space;
    for (uint64_t y = first; y < end; ++y) {
      const std::byte* from = content + geometry_.before(part, y);
      for (const auto& piece : geometry_.runs(part, y, space)) {
        std::memcpy(rows + piece.position, from, piece.bytes);
        from += piece.bytes;
      }
    }
  }

  // Pieces of rows, each by itself.
  void store_pieces(const StripeGeometry::Panel& panel, uint64_t until, io::Location target) {
    for (const StripeGeometry::Part& part : panel.parts) {
      const std::byte* const content =
          at(schedule_.goal(part.from).value()).data() - geometry_.before(part, first_);
      std::array<StripeGeometry::Run, 3> space;
      for (uint64_t y = first_; y < until; ++y) {
        const std::byte* from = content + geometry_.before(part, y);
        for (const auto& piece : geometry_.runs(part, y, space)) {
          storage_.write(target, panel.target + piece.position, from, piece.bytes);
          from += piece.bytes;
        }
      }
    }
  }

  const StripeGeometry& geometry_;
  const schedule::Schedule& schedule_;
  Storage& storage_;
  std::vector<Payload> slots_;
  uint64_t first_ = 0, end_ = 0;
};

void StripeStage::move(work::Run& run, io::Location source, io::Location target, std::size_t pass) {
  Storage storage(run.stop());
  task::Workers workers(storage_threads(run.frame().options.threads, memory_));
  Stripe stripes[] = {Stripe(*this, storage), Stripe(*this, storage)};
  work::Traffic traffic{
      .schedule = name_, .processors = schedule_->network().nodes(), .steps = schedule_->steps()};

  run.begin(2 * bytes_, pass);
  run.with(workers, [&] {
    uint64_t next = 0;
    Machine machine(*schedule_);
    const auto load = [&](Stripe& stripe) {
      if (next >= most_rows_) return false;
      stripe.load(source, next, next + rows_);
      next += rows_;
      return true;
    };
    const auto exchange = [&](Stripe& stripe) { traffic += machine.run(stripe, run.stop()); };
    const auto store = [&](Stripe& stripe) { stripe.store(target); };
    task::in_turn(stripes, load, exchange, store);
  });
  run.traffic = traffic;
}

}  // namespace xorder::machine
