// A descend or ascend computation by Hu's schedule itself: the machine of virtual processors sends every record that
// another one needs, step by step.
#include <fmt/format.h>

#include <cstring>

#include "io/memory.hpp"
#include "machine/storage.hpp"
#include "plan/processors.hpp"
#include "size_text.hpp"
#include "task/workers.hpp"
#include "work/frame.hpp"
#include "work/run.hpp"
#include "xorder/descend/descend.hpp"
#include "xorder/error.hpp"
#include "xorder/machine/machine.hpp"
#include "xorder/machine/pipelined.hpp"
#include "xorder/permutation/reordering.hpp"
#include "xorder/schedule/descend.hpp"

namespace xorder::machine {
namespace {

using schedule::Node;
using std::uint64_t;

constexpr uint64_t each_processor = 2048;  // messages of a few steps

/// The records in the slots of their processors.
class Records final : public Program {
 public:
  Records(const schedule::Descend& schedule, descend::Computation& what)
      : what_(what),
        bytes_(what.record_bytes()),
        lg_per_node_(schedule.lg_per_node()),
        slots_(schedule.slots()),
        memory_(schedule.network().nodes() * slots_ * bytes_) {}

  /// Slots 0 .. V−1 of the processor of block i.
  std::byte* block(uint64_t i) { return at({i ^ (i >> 1), 0}); }

  void send(schedule::Place from, uint64_t, Payload& payload) override {
    std::memcpy(payload.reset(bytes_), at(from), bytes_);
  }
  void receive(const schedule::Message& message, uint64_t, Payload& payload) override {
    std::memcpy(at(message.to), payload.data(), bytes_);
  }
  void update(std::span<const schedule::Update> updates) override {
    std::vector<std::byte> results(updates.size() * bytes_);
    for (std::size_t i = 0; i < updates.size(); ++i) {
      const schedule::Update& u = updates[i];
      what_.step(u.iteration, logical(u.element.node) << lg_per_node_ | u.element.slot, 1, at(u.element),
                 at(u.plus), at(u.minus), results.data() + i * bytes_);
    }
    for (std::size_t i = 0; i < updates.size(); ++i) {
      std::memcpy(at(updates[i].element), results.data() + i * bytes_, bytes_);
    }
  }

 private:
  std::byte* at(schedule::Place place) {
    return memory_.data() + (place.node * slots_ + place.slot) * bytes_;
  }
  // Block i is at the processor whose number is the Gray code of i.
  static uint64_t logical(Node node) {
    for (int shift = 1; shift < 64; shift *= 2) node ^= node >> shift;
    return node;
  }

  descend::Computation& what_;
  std::size_t bytes_;
  int lg_per_node_;
  uint64_t slots_;
  io::BlockMemory memory_;
};

class PipelinedDescend final : public work::Work {
 public:
  PipelinedDescend(work::Frame frame, std::unique_ptr<descend::Computation> what, uint64_t element_bytes,
                   uint64_t processors)
      : Work(std::move(frame)),
        what_(std::move(what)),
        element_bytes_(element_bytes),
        count_(this->frame().input().description.elements()),
        lg_processors_(checked_lg_processors(processors)),
        needed_(checked_memory()),
        schedule_(lg_processors_, lg_per_processor(),
                  what_->direction() == descend::Direction::descend ? schedule::Descend::Order::descend
                                                                    : schedule::Descend::Order::ascend) {}

  std::string describe() const override {
    return fmt::format(
        "{} records on {} virtual processors in {} steps: {} messages, {} link crossings; all in memory\n",
        count_, schedule_.network().nodes(), schedule_.steps(), schedule_.total().messages,
        schedule_.total().crossings);
  }

 private:
  int checked_lg_processors(uint64_t processors) const {
    const int lg_count = exact_lg(count_, frame().input().path.string() + ": the number of elements");
    if (processors == 0) processors = std::min(plan::default_processors, count_);
    const int n = exact_lg(processors, "the number of virtual processors");
    if (n > lg_count) {
      throw InputError(fmt::format("{} virtual processors are too many for {} elements", processors, count_));
    }
    return n;
  }
  int lg_per_processor() const { return exact_lg(count_, "the number of elements") - lg_processors_; }

  // Inputs and records; the slots; the records again, and the output; the machine and what is on its links; the schedule, which
  // is made only when there is room for it.
  uint64_t checked_memory() const {
    const schedule::Network network = schedule::Network::hypercube(lg_processors_);
    const uint64_t slots = schedule::Descend::slots_of(lg_processors_, lg_per_processor());
    const uint64_t needed = frame().input_bytes() + 2 * count_ * what_->record_bytes() +
                            frame().output.bytes +
                            network.nodes() * (slots * what_->record_bytes() + each_processor) +
                            plan::machine_memory(network, slots, network.links()) +
                            schedule::Descend::memory_of(lg_processors_, lg_per_processor());
    if (needed > frame().memory()) {
      throw InputError(fmt::format(
          "schedule pipelined keeps everything in memory: {}, of {}; without it the file may be larger",
          size_text(needed), size_text(frame().memory())));
    }
    return needed;
  }

  std::vector<work::PassSummary> passes() const override {
    const plan::Device& device = frame().options.device;
    const uint64_t read = frame().input_bytes(), written = frame().output.bytes;
    return {{.tiles = 1,
             .tile_bytes = written,
             .source_block_bytes = written,
             .target_block_bytes = written,
             .memory = needed_,
             .bytes_read = read,
             .bytes_written = written,
             .predicted_seconds = device.read_seconds(1, read) + device.write_seconds(1, written)}};
  }
  void move(work::Run& run) override;
  void compute(work::Run& run, Storage& storage);
  void load(work::Run& run, Storage& storage, std::byte* records);

  std::unique_ptr<descend::Computation> what_;
  uint64_t element_bytes_;
  uint64_t count_;
  int lg_processors_;
  uint64_t needed_;
  schedule::Descend schedule_;
};

void PipelinedDescend::load(work::Run& run, Storage& storage, std::byte* records) {
  const std::vector<io::ArrayFile>& inputs = frame().inputs;
  // One input of elements as large as records is the array of records already.
  const bool same = inputs.size() == 1 && inputs[0].description.dtype.bytes == what_->record_bytes();
  std::vector<io::BlockMemory> arrays;
  std::vector<const std::byte*> pointers;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const uint64_t bytes = count_ * inputs[i].description.dtype.bytes;
    if (!same) arrays.emplace_back(bytes);
    std::byte* const to = same ? records : arrays.back().data();
    storage.read(run.source(i), 0, to, bytes);
    pointers.push_back(to);
  }
  what_->load(0, count_, pointers, records);
  what_->check();
}

void PipelinedDescend::compute(work::Run& run, Storage& storage) {
  const std::size_t record = what_->record_bytes();
  const uint64_t per_node = uint64_t{1} << schedule_.lg_per_node(), blocks = schedule_.network().nodes();
  io::BlockMemory records(count_ * record);
  load(run, storage, records.data());
  Records slots(schedule_, *what_);
  for (uint64_t i = 0; i < blocks; ++i) {
    std::memcpy(slots.block(i), records.data() + i * per_node * record, per_node * record);
  }
  Machine machine(schedule_);
  work::Traffic traffic = machine.run(slots, run.stop());
  traffic.schedule = "pipelined";
  run.traffic = traffic;
  for (uint64_t i = 0; i < blocks; ++i) {
    std::memcpy(records.data() + i * per_node * record, slots.block(i), per_node * record);
  }
  what_->check();
  const bool same = element_bytes_ == record;
  io::BlockMemory made(same ? 0 : frame().output.bytes);
  std::byte* const output = same ? records.data() : made.data();
  what_->store(0, count_, records.data(), output);
  storage.write(run.target(), 0, output, frame().output.bytes);
}

void PipelinedDescend::move(work::Run& run) {
  Storage storage(run.stop());
  task::Workers workers = transfer_workers(frame());
  run.begin(frame().input_bytes() + frame().output.bytes, 1);
  run.with(workers, [&] { compute(run, storage); });
}

}  // namespace

std::unique_ptr<work::Work> pipelined_descend(std::vector<io::ArrayFile> inputs,
                                              std::unique_ptr<descend::Computation> what,
                                              const io::DType& element, const std::vector<uint64_t>& extents,
                                              std::filesystem::path output, work::Options options,
                                              uint64_t processors) {
  uint64_t working = 0;
  const uint64_t count = inputs.front().description.elements();
  for (const io::ArrayFile& input : inputs) working += count * input.description.dtype.bytes;
  working += count * (2 * what->record_bytes() + element.bytes);
  work::Frame frame =
      work::settle(std::move(inputs), std::move(output), element, extents, std::move(options), working);
  return std::make_unique<PipelinedDescend>(std::move(frame), std::move(what), element.bytes, processors);
}

}  // namespace xorder::machine
