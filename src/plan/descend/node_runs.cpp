#include "plan/descend/node_runs.hpp"

#include <algorithm>
#include <bit>

#include "plan/processors/processors.hpp"
#include "rounding.hpp"
#include "schedule/descend/descend.hpp"
#include "schedule/descend/plus_minus.hpp"

namespace xorder::plan {
namespace {

using schedule::Descend;
using schedule::PlusMinus;
using std::uint64_t;

// Shorter messages cost more than their bytes; the data of longer ones leaves the cache on the way.
constexpr uint64_t usual_message = 16 << 10;

// The memory of a message, or of the slot that receives it.
uint64_t buffer_bytes(uint64_t bytes) {
  constexpr uint64_t small = 64, page = 4096, heap = 16;
  return round_up(bytes, bytes <= page ? small : page) + heap;
}

// The messages of a step: from one slot of each processor, or from one for each iteration in progress.
uint64_t step_messages(const Nodes& c) {
  return (c.task.between == Between::aspc ? uint64_t{1} : static_cast<uint64_t>(c.lg_processors() + 1))
         << c.lg_processors();
}

uint64_t memory_of(const Nodes& c, const NodeRuns& runs) {
  constexpr uint64_t each_arrival = 48;
  const int n = c.lg_processors();
  const auto network = schedule::Network::hypercube(n);
  const uint64_t rows = uint64_t{1} << runs.lg_runs, run = c.task.record_bytes << runs.lg_run;
  const bool aspc = c.task.between == Between::aspc;
  const uint64_t slots = aspc ? PlusMinus::slots_of_node : Descend::slots_of(n, runs.lg_runs);
  const uint64_t messages = 2 * (window_messages(network, slots) + step_messages(c));
  const uint64_t arrivals = network.nodes() * (slots - rows);
  // A processor keeps the results of a step's updates apart before it writes any: one for each iteration in
  // progress and, if the schedule is whole, one for each record of a class of its block, all of them at
  // worst.
  const uint64_t updates = runs.whole ? rows + static_cast<uint64_t>(n) : aspc ? 1 : static_cast<uint64_t>(n);
  const uint64_t results = std::min<uint64_t>(c.threads, network.nodes()) * updates * run;
  // machine_memory() counts the small buffers.
  return machine_memory(network, slots, network.links(), c.task.link_times) +
         messages * (buffer_bytes(run) - buffer_bytes(1)) + arrivals * (each_arrival + buffer_bytes(run)) +
         results + (runs.whole ? Descend::memory_of(n, runs.lg_runs) : 0);
}

}  // namespace

NodeRuns node_runs(const Nodes& c, int lg_row, uint64_t memory) {
  const uint64_t useful = c.message_bytes != 0 ? c.message_bytes : usual_message;
  NodeRuns runs;
  const uint64_t records = std::max<uint64_t>(useful / c.task.record_bytes, 1);
  for (runs.lg_run = std::min(lg_row, static_cast<int>(std::bit_width(records)) - 1);; --runs.lg_run) {
    runs.lg_runs = c.task.between == Between::aspc ? 0 : lg_row - runs.lg_run;
    runs.memory = memory_of(c, runs);
    if (runs.lg_run == 0 || runs.memory <= memory / 4) return runs;
  }
}

NodeRuns whole_schedule(const Nodes& c) {
  NodeRuns runs{.whole = true, .lg_run = 0, .lg_runs = c.lg_block};
  runs.memory = memory_of(c, runs);
  return runs;
}

std::shared_ptr<const schedule::Schedule> node_schedule(const Nodes& c, const NodeRuns& runs) {
  const int n = c.lg_processors(), lowest = c.lg_block - runs.lg_runs;  // what is iteration 0 of the schedule
  const schedule::Reads reads{c.task.reads.plus >> lowest, c.task.reads.minus >> lowest};
  if (c.task.between == Between::aspc) {
    return std::make_shared<PlusMinus>(n, schedule::Recurrence::all(n, 0, c.task.ascend, reads).iterations);
  }
  return std::make_shared<Descend>(n, runs.lg_runs,
                                   c.task.ascend ? Descend::Order::ascend : Descend::Order::descend,
                                   runs.whole ? Descend::Part::all : Descend::Part::between_nodes, reads);
}

}  // namespace xorder::plan
