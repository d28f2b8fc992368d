// A descend or ascend computation by Hu's schedule itself: the machine of virtual processors sends every record that
// another one needs, step by step.
#include <fmt/format.h>

#include <chrono>
#include <cstring>

#include "io/memory.hpp"
#include "machine/storage.hpp"
#include "task/workers.hpp"
#include "work/access.hpp"
#include "work/delivery.hpp"
#include "xorder/descend/job.hpp"
#include "xorder/error.hpp"
#include "xorder/machine/machine.hpp"
#include "xorder/machine/pipelined.hpp"
#include "xorder/permutation/reordering.hpp"
#include "xorder/schedule/descend.hpp"

namespace xorder::machine {
namespace {

using schedule::Node;
using std::uint64_t;

constexpr uint64_t pipelined_processors = 16;
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
  PipelinedDescend(std::vector<io::ArrayFile> inputs, std::unique_ptr<descend::Computation> what,
                   const io::DType& element, const std::vector<uint64_t>& extents,
                   std::filesystem::path output, work::Options options, uint64_t processors)
      : inputs_(std::move(inputs)),
        what_(std::move(what)),
        element_bytes_(element.bytes),
        output_(work::destination(std::move(output), inputs_.front(), element, extents)),
        options_(std::move(options)),
        memory_(work::effective_memory(options_.memory)),
        count_(inputs_.front().description.elements()),
        schedule_(make_schedule(processors)) {
    work::check_delivery(output_, inputs_, options_);
    if (needed() > memory_) {
      throw InputError(
          fmt::format("schedule pipelined keeps everything in memory: {} bytes, of {}; without it the "
                      "file may be larger",
                      needed(), memory_));
    }
  }

  work::Summary summary() const override {
    work::Summary all{.bytes = output_.bytes,
                      .bytes_read = input_bytes(),
                      .bytes_written = output_.bytes,
                      .memory = memory_,
                      .device = options_.device.name,
                      .engine = options_.engine == work::EngineChoice::mapped ? "mapped" : "direct",
                      .passes = {}};
    all.passes.push_back(
        {1, output_.bytes, output_.bytes, output_.bytes, needed(),
         options_.device.read_seconds(1, input_bytes()) + options_.device.write_seconds(1, output_.bytes)});
    return all;
  }

  std::string describe() const override {
    return fmt::format(
        "{} records on {} virtual processors in {} steps: {} messages, {} link crossings; all in memory\n",
        count_, schedule_.network().nodes(), schedule_.steps(), schedule_.total().messages,
        schedule_.total().crossings);
  }

  work::Report run(const work::ProgressCallback& progress, std::stop_token stop) override;

 private:
  schedule::Descend make_schedule(uint64_t processors) const {
    const int lg_count = exact_lg(count_, inputs_.front().path.string() + ": the number of elements");
    if (processors == 0) processors = std::min(pipelined_processors, count_);
    const int n = exact_lg(processors, "--processors");
    if (n > lg_count) {
      throw InputError(fmt::format("{} virtual processors are too many for {} elements", processors, count_));
    }
    using Order = schedule::Descend::Order;
    return {n, lg_count - n,
            what_->direction() == descend::Direction::descend ? Order::descend : Order::ascend};
  }
  uint64_t input_bytes() const {
    uint64_t bytes = 0;
    for (const io::ArrayFile& input : inputs_)
      bytes += input.description.elements() * input.description.dtype.bytes;
    return bytes;
  }
  // Inputs and records; the slots; the records again, and the output; the machine and what is on its links.
  uint64_t needed() const {
    return input_bytes() + 2 * count_ * what_->record_bytes() + output_.bytes +
           schedule_.network().nodes() * (schedule_.slots() * what_->record_bytes() + each_processor) +
           Machine::memory(schedule_.network());
  }
  void load(work::Delivery& delivery, Storage& storage, std::byte* records);

  std::vector<io::ArrayFile> inputs_;
  std::unique_ptr<descend::Computation> what_;
  uint64_t element_bytes_;
  work::Destination output_;
  work::Options options_;
  uint64_t memory_;
  uint64_t count_;
  schedule::Descend schedule_;
};

void PipelinedDescend::load(work::Delivery& delivery, Storage& storage, std::byte* records) {
  // One input of elements as large as records is the array of records already.
  const bool same = inputs_.size() == 1 && inputs_[0].description.dtype.bytes == what_->record_bytes();
  std::vector<io::BlockMemory> arrays;
  std::vector<const std::byte*> pointers;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const io::ArrayDescription& array = inputs_[i].description;
    const uint64_t bytes = count_ * array.dtype.bytes;
    if (!same) arrays.emplace_back(bytes);
    std::byte* const to = same ? records : arrays.back().data();
    storage.read({delivery.source(i), array.offset}, 0, to, bytes);
    pointers.push_back(to);
  }
  what_->load(0, count_, pointers, records);
  what_->check();
}

work::Report PipelinedDescend::run(const work::ProgressCallback& progress, std::stop_token stop) {
  const auto begin = std::chrono::steady_clock::now();
  const io::Access access =
      options_.engine == work::EngineChoice::mapped ? io::Access::mapped : io::Access::direct;
  work::Delivery delivery(output_, inputs_, access, access, options_, memory_);
  task::Stopping stopping(std::move(stop));
  Storage storage(stopping.token());
  task::Workers workers(storage_threads(options_.threads, memory_));
  work::Report report{.passes = 1,
                      .engine = access == io::Access::mapped ? "mapped" : "threads",
                      .access = name(delivery.target().access()),
                      .note = work::fallback_note(delivery.source(), access, delivery.target(), access),
                      .traffic = {}};
  const work::Progress whole{input_bytes() + output_.bytes, input_bytes() + output_.bytes, 1, 1};
  workers.run(
      [&] {
        const std::size_t record = what_->record_bytes();
        const uint64_t per_node = uint64_t{1} << schedule_.lg_per_node(),
                       blocks = schedule_.network().nodes();
        io::BlockMemory records(count_ * record);
        load(delivery, storage, records.data());
        Records slots(schedule_, *what_);
        for (uint64_t i = 0; i < blocks; ++i) {
          std::memcpy(slots.block(i), records.data() + i * per_node * record, per_node * record);
        }
        Machine machine(schedule_);
        report.traffic = machine.run(slots, stopping.token());
        report.traffic->schedule = "pipelined";
        for (uint64_t i = 0; i < blocks; ++i) {
          std::memcpy(records.data() + i * per_node * record, slots.block(i), per_node * record);
        }
        what_->check();
        const bool same = element_bytes_ == record;
        io::BlockMemory made(same ? 0 : output_.bytes);
        std::byte* const output = same ? records.data() : made.data();
        what_->store(0, count_, records.data(), output);
        storage.write({delivery.target(), delivery.target_offset()}, 0, output, output_.bytes);
      },
      [&] {
        if (progress) progress({std::min(storage.bytes(), whole.bytes_total), whole.bytes_total, 1, 1});
      },
      stopping);
  delivery.commit(stopping.token());
  storage.add_to(report);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  report.peak_memory = io::peak_resident_memory();
  return report;
}

}  // namespace

std::unique_ptr<work::Work> pipelined_descend(std::vector<io::ArrayFile> inputs,
                                              std::unique_ptr<descend::Computation> what,
                                              const io::DType& element, const std::vector<uint64_t>& extents,
                                              std::filesystem::path output, work::Options options,
                                              uint64_t processors) {
  return std::make_unique<PipelinedDescend>(std::move(inputs), std::move(what), element, extents,
                                            std::move(output), std::move(options), processors);
}

}  // namespace xorder::machine
