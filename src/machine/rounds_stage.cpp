#include "machine/rounds_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "io/memory.hpp"
#include "machine/storage.hpp"
#include "task/in_turn.hpp"
#include "task/workers.hpp"
#include "xorder/error.hpp"
#include "xorder/machine/machine.hpp"

namespace xorder::machine {
namespace {

using gf2::Word;
using std::uint64_t;

// A group of blocks is being written while the next one is made, and that has as many bytes on their way to
// it.
constexpr uint64_t groups_in_memory = 3;

/// The rounds as far as some processors receive in them.
class RoundsFor final : public schedule::Schedule {
 public:
  RoundsFor(const schedule::Rounds& rounds, uint64_t count)
      : Schedule(rounds.network(), rounds.slots(), rounds.steps(), rounds.lower_bound()),
        rounds_(rounds),
        count_(count) {}
  void begin(schedule::Node first) { first_ = first; }
  void messages(uint64_t step, std::vector<schedule::Message>& out) const override {
    out.clear();
    for (schedule::Node k = first_; k < first_ + count_; ++k) {
      out.push_back({{rounds_.source(k, step), step}, {k, step}, k});
    }
  }
  std::optional<schedule::Place> goal(schedule::Place start) const override {
    const auto place = rounds_.goal(start);
    return place && place->node - first_ < count_ ? place : std::nullopt;
  }

 private:
  const schedule::Rounds& rounds_;
  schedule::Node first_ = 0;
  uint64_t count_;
};

// Run i of `from` goes to run places(i) ⊕ offset of `to`.
template <typename CopyRun>
void scatter_runs(const std::byte* from, std::byte* to, std::span<const Word> places, Word offset,
                  uint64_t run_bytes, const CopyRun& copy) {
  // Counting up flips the bits up to the lowest 0; steps[t] is what that does to the place.
  std::array<Word, 64> steps{};
  Word sum = 0;
  for (std::size_t t = 0; t < places.size(); ++t) steps[t] = sum ^= places[t];
  const uint64_t runs = uint64_t{1} << places.size();
  Word at = offset;
  for (uint64_t i = 0;;) {
    copy(to + at * run_bytes, from + i * run_bytes);
    if (++i == runs) return;
    at ^= steps[static_cast<std::size_t>(std::countr_zero(i))];
  }
}

void scatter(const std::byte* from, std::byte* to, std::span<const Word> places, Word offset,
             uint64_t run_bytes) {
  const auto fixed = [&]<std::size_t bytes>(std::integral_constant<std::size_t, bytes>) {
    scatter_runs(from, to, places, offset, bytes,
                 [](std::byte* t, const std::byte* f) { std::memcpy(t, f, bytes); });
  };
  switch (run_bytes) {
    case 1:
      return fixed(std::integral_constant<std::size_t, 1>());
    case 2:
      return fixed(std::integral_constant<std::size_t, 2>());
    case 4:
      return fixed(std::integral_constant<std::size_t, 4>());
    case 8:
      return fixed(std::integral_constant<std::size_t, 8>());
    case 16:
      return fixed(std::integral_constant<std::size_t, 16>());
    default:
      scatter_runs(from, to, places, offset, run_bytes,
                   [&](std::byte* t, const std::byte* f) { std::memcpy(t, f, run_bytes); });
  }
}

}  // namespace

ChunkOrder chunk_order(const gf2::BitMatrix& alpha_1) {
  const int k = alpha_1.cols();
  // Reduces the columns to ones whose highest bits differ, and are 0 in all others. If all of the places'
  // lowest s bits can be reached alone, the first s of these, by highest bit, are the unit vectors.
  std::vector<Word> places = alpha_1.columns(), order = gf2::BitMatrix::identity(k).columns();
  std::vector<std::pair<Word, Word>> reduced;  // place, order
  for (std::size_t j = 0; j < places.size(); ++j) {
    for (const auto& [place, combination] : reduced) {
      if (places[j] & std::bit_floor(place)) places[j] ^= place, order[j] ^= combination;
    }
    const Word highest = std::bit_floor(places[j]);
    for (auto& [place, combination] : reduced) {
      if (place & highest) place ^= places[j], combination ^= order[j];
    }
    reduced.emplace_back(places[j], order[j]);
  }
  std::ranges::sort(reduced);
  ChunkOrder result;
  for (std::size_t j = 0; j < reduced.size(); ++j) std::tie(places[j], order[j]) = reduced[j];
  while (result.lg_run < k && places[static_cast<std::size_t>(result.lg_run)] == gf2::unit(result.lg_run)) {
    ++result.lg_run;
  }
  result.places = gf2::BitMatrix(alpha_1.rows(), std::move(places));
  result.order = gf2::BitMatrix(k, std::move(order));
  return result;
}

namespace {

// What the processors take for themselves while so many blocks are made. Nobody waits for those that only
// send, so that all of their messages, one for each of the blocks, can be on their way at once.
uint64_t bookkeeping(int lg_processors, uint64_t blocks) {
  constexpr uint64_t each_message = 512, each_step = 256;
  return Machine::memory(schedule::Network::crossbar(lg_processors)) +
         ((each_step + each_message * blocks) << lg_processors);
}

}  // namespace

bool RoundsStage::fits(uint64_t bytes, int lg_processors, uint64_t memory, uint64_t blocks) {
  const uint64_t own = bookkeeping(lg_processors, blocks) + storage_overhead(memory);
  return own <= memory && bytes >> lg_processors <= (memory - own) / (groups_in_memory * blocks);
}

RoundsStage::RoundsStage(schedule::Rounds rounds, uint64_t element_bytes, uint64_t memory)
    : rounds_(std::move(rounds)),
      chunk_(chunk_order(rounds_.factors().alpha_1)),
      element_bytes_(element_bytes),
      memory_(memory) {
  const uint64_t processors = rounds_.network().nodes();
  const uint64_t bytes = block_bytes() * processors;
  const int lg_processors = std::countr_zero(processors);
  const uint64_t own = bookkeeping(lg_processors, 1);
  if (own > memory / 4) {
    throw InputError(
        fmt::format("{} virtual processors take about {} bytes for themselves, too much for {} bytes of "
                    "memory; take fewer processors or more memory",
                    processors, own, memory));
  }
  if (!fits(bytes, lg_processors, memory)) {
    throw InputError(
        fmt::format("a block of {} bytes for each of {} virtual processors is too much for {} bytes of "
                    "memory, which have to hold {} of them; take more processors or more memory",
                    block_bytes(), processors, memory, groups_in_memory));
  }
  while (group_ < processors && fits(bytes, lg_processors, memory, 2 * group_)) group_ *= 2;
}

gf2::AffineMap RoundsStage::before() const {
  const int n = rounds_.factors().n, k = rounds_.lg_chunk();
  std::vector<Word> columns = gf2::BitMatrix::identity(n).columns();
  const gf2::BitMatrix to_order = chunk_.order.inverse().value();
  for (int j = 0; j < k; ++j) columns[static_cast<std::size_t>(j)] = to_order.column(j);
  return {gf2::BitMatrix(n, std::move(columns)) * rounds_.factors().within * rounds_.layout(), 0};
}

std::vector<plan::PassSummary> RoundsStage::passes() const {
  const uint64_t bytes = block_bytes() * rounds_.network().nodes();
  return {{.tiles = rounds_.network().nodes() / group_,
           .tile_bytes = group_ * block_bytes(),
           .source_block_bytes = element_bytes_ << rounds_.lg_chunk(),
           .target_block_bytes = block_bytes(),
           .memory = groups_in_memory * group_ * block_bytes() + storage_overhead(memory_) +
                     bookkeeping(std::countr_zero(rounds_.network().nodes()), group_),
           .bytes_read = bytes,
           .bytes_written = bytes}};
}

std::string RoundsStage::describe() const {
  return fmt::format(
      "{} rounds (rank \u03b3 = {}) among {} virtual processors, whose blocks of {} bytes are made {} at a "
      "time; "
      "chunks of {} bytes, put in runs of {}\n",
      rounds_.steps(), rounds_.factors().rank, rounds_.network().nodes(), block_bytes(), group_,
      element_bytes_ << rounds_.lg_chunk(), element_bytes_ << chunk_.lg_run);
}

/// Some processors' blocks, in memory.
class RoundsStage::Group final : public Program {
 public:
  Group(const RoundsStage& stage, io::Location source, Storage& storage)
      : stage_(stage), source_(source), storage_(storage), memory_(stage.group_ * stage.block_bytes()) {}

  void begin(schedule::Node first) { first_ = first; }
  schedule::Node first() const { return first_; }
  const std::byte* data() const { return memory_.data(); }

  void send(schedule::Place from, uint64_t, Payload& payload) override {
    const uint64_t bytes = stage_.element_bytes_ << stage_.rounds_.lg_chunk();
    storage_.read(source_, from.node * stage_.block_bytes() + from.slot * bytes, payload.reset(bytes), bytes);
  }

  void receive(const schedule::Message& message, uint64_t round, Payload& payload) override {
    const ChunkOrder& chunk = stage_.chunk_;
    const auto columns = std::span(chunk.places.columns()).subspan(static_cast<std::size_t>(chunk.lg_run));
    std::vector<Word> runs;
    for (const Word column : columns) runs.push_back(column >> chunk.lg_run);
    const Word offset = stage_.rounds_.scatter(message.from.node, round).complement;
    std::byte* const block = memory_.data() + (message.to.node - first_) * stage_.block_bytes();
    // The offset's low bits can only be 0 in what a whole run keeps: they say which element of a run comes
    // first.
    const Word within = offset & gf2::low_mask(chunk.lg_run);
    if (within == 0) {
      return scatter(payload.data(), block, runs, offset >> chunk.lg_run,
                     stage_.element_bytes_ << chunk.lg_run);
    }
    // A complement reverses runs: element by element then.
    scatter(payload.data(), block, chunk.places.columns(), offset, stage_.element_bytes_);
  }

 private:
  const RoundsStage& stage_;
  io::Location source_;
  Storage& storage_;
  io::BlockMemory memory_;
  schedule::Node first_ = 0;
};

void RoundsStage::move(work::Run& run, io::Location source, io::Location target, std::size_t pass) {
  const uint64_t processors = rounds_.network().nodes();
  Storage storage(run.stop());
  task::Workers workers(storage_threads(run.frame().options.threads, memory_));
  Group groups[] = {Group(*this, source, storage), Group(*this, source, storage)};
  work::Traffic traffic{.schedule = "rounds", .processors = processors, .steps = rounds_.steps()};

  run.begin(2 * block_bytes() * processors, pass);
  run.with(workers, [&] {
    schedule::Node next = 0;
    RoundsFor receivers(rounds_, group_);
    Machine machine(receivers);
    const auto make = [&](Group& group) {
      if (next == processors) return false;
      group.begin(next);
      receivers.begin(next);
      traffic += machine.run(group, run.stop());
      next += group_;
      return true;
    };
    const auto write = [&](const Group& group) {
      storage.write(target, group.first() * block_bytes(), group.data(), group_ * block_bytes());
    };
    task::in_turn(groups, make, write);
  });
  run.traffic = traffic;
}

}  // namespace xorder::machine
