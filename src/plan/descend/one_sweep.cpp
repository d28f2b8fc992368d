#include "plan/descend/one_sweep.hpp"

#include <algorithm>
#include <bit>

#include "byte_units.hpp"
#include "rounding.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::plan {
namespace {

using std::uint64_t;

constexpr unsigned gathered_in_flight = 3, streamed_in_flight = 4;
constexpr uint64_t most_slots = 8;  // with as many requests each way, disks are busy
constexpr int lg_least_strips = 3;  // of gathered sweeps, so that reads, computing and writes overlap
constexpr uint64_t useful_run = 4 * MiB, least_run = 4 * KiB;  // bytes of a strip's row
// The rows that meet are read at once or, if that does not fit, in two slices. More slices would take still
// less memory; but for each of them the widest iterations need as many rows again on either side.
constexpr int lg_most_slices = 1;

uint64_t mask(int bits) { return (uint64_t{1} << bits) - 1; }

}  // namespace

SweepMaker::SweepMaker(const SweepTask& task, const Setting& setting, const SweepSizes& given)
    : given_(given), busy_((task.reads.plus | task.reads.minus) & mask(task.lg_size)) {
  if (busy_ == 0) busy_ = mask(task.lg_size);  // everything is to be copied
  plan_.task = task;
  plan_.setting = setting;
  plan_.cache.record_bytes = task.record_bytes;
  if (given.cache_bytes != 0) plan_.cache.bytes = given.cache_bytes;
  plan_.threads = static_cast<unsigned>(std::clamp<uint64_t>(setting.memory / (4 * MiB), 1, setting.threads));
  plan_.request_bytes = given.request_bytes != 0
                            ? given.request_bytes
                            : std::clamp<uint64_t>(std::bit_ceil(setting.memory / 128), 64 * KiB, MiB);
  const uint64_t most = std::max({plan_.request_bytes, record(), task.input_bytes, task.output_bytes});
  plan_.slot_bytes = round_up(most, file_block) + 2 * file_block * task.inputs;  // blocks at both ends
  const uint64_t usual = std::clamp<uint64_t>(setting.memory / (4 * MiB), 2, most_slots);
  plan_.slots = std::min(usual, ceil_div(usual * std::max(plan_.request_bytes, 64 * KiB), plan_.slot_bytes));
}

bool SweepMaker::is_idle(Iterations b) const {
  return b.low < b.high && (busy_ & mask(b.high) & ~mask(b.low)) == 0;
}

Nodes SweepMaker::nodes(int lg_block) const {
  return {plan_.task, lg_block, plan_.threads, given_.message_bytes};
}

std::optional<Sweep> SweepMaker::whole(int lg_block) const {
  constexpr int most_lg_records = 18;
  if (given_.columns != 0 || lg_size() > most_lg_records ||
      plan_.task.array_bytes() > plan_.setting.memory / 2)
    return std::nullopt;
  Sweep one = read_and_written({0, lg_size()});
  one.lg_slice = lg_size();
  one.in_flight = 1;
  one.nodes = whole_schedule(nodes(lg_block));
  if (!fits(one, 1)) return std::nullopt;
  set_load(one);
  return one;
}

double SweepMaker::seconds(const Sweep& sweep, uint64_t memory, uint64_t touched) const {
  Setting setting = plan_.setting.pass(sweep.reads_input, true);
  setting.touched_memory = touched;
  Load load = sweep.load;
  load.memory = memory;
  return price(load, setting);
}

// A sweep with what follows from its iterations alone.
Sweep SweepMaker::read_and_written(Iterations b) const {
  Sweep one;
  one.iterations = b;
  one.gathered = b.high == lg_size();
  const bool lowest = (busy_ & mask(b.low)) == 0, highest = (busy_ & ~mask(b.high)) == 0;
  const bool first = ascend() ? lowest : highest, last = ascend() ? highest : lowest;
  const SweepTask& task = plan_.task;
  one.reads_input = first;
  one.in_place = !task.resumable && !first && (!last || record() == task.output_bytes);
  one.pass.bytes_read = (first ? task.input_bytes : record()) * task.elements();
  one.pass.bytes_written = (last ? task.output_bytes : record()) * task.elements();
  return one;
}

std::optional<Sweep> SweepMaker::make(Iterations b, bool on_nodes) const {
  Sweep one = read_and_written(b);
  if (is_idle(b)) return one;
  const bool given = given_.columns != 0;
  one.lg_columns = given ? std::min(b.low, exact_lg(given_.columns, "columns of a strip")) : b.low;
  for (; one.lg_columns >= 0; --one.lg_columns) {
    if (!set_slices(one, on_nodes)) {
      if (given) break;
      continue;
    }
    const uint64_t run = record() << one.lg_columns;
    const bool enough = !one.gathered || b.low - one.lg_columns >= lg_least_strips;
    if (given || one.lg_columns == 0 || (run <= useful_run && enough) || run / 2 < least_run) {
      set_load(one);
      return one;
    }
  }
  return std::nullopt;
}

// Sets the largest slices that fit; false if none do.
bool SweepMaker::set_slices(Sweep& one, bool on_nodes) const {
  const int count = one.iterations.count(), top = one.lg_columns + count;
  const Iterations inside{one.lg_columns, top};
  if (one.gathered) {
    one.lg_slice = top;
    one.in_flight = static_cast<unsigned>(
        std::min<uint64_t>(gathered_in_flight, uint64_t{1} << (one.iterations.low - one.lg_columns)));
    if (on_nodes) {
      one.nodes = node_runs(nodes(one.iterations.low), one.lg_columns, plan_.setting.memory);
      return fits(one, one.in_flight);
    }
    // One patch of all rows, if it is not much larger than the cache; then a strip needs one buffer.
    const bool one_patch = one.iterations.low > 0 && !plan_.cache.record_by_record() &&
                           plan_.cache.cyclic_scratch(inside) <= 4 * plan_.cache.bytes;
    one.groups = one_patch ? std::vector<Iterations>{inside} : plan_.cache.groups(inside, ascend());
    one.two_buffers = one.groups.size() > 1 || plan_.cache.record_by_record();
    return fits(one, (one.two_buffers ? 2 : 1) * one.in_flight);
  }
  one.in_flight = streamed_in_flight;
  one.groups = plan_.cache.groups(inside, ascend());
  int least = one.lg_columns;  // whole rows of the strip and of every group
  for (const Iterations group : one.groups) least = std::max(least, group.low);
  const bool given = given_.slices != 0;
  int lg_slices = given ? exact_lg(given_.slices, "slices of the rows that meet") : 0;
  for (; given || lg_slices <= lg_most_slices; ++lg_slices) {
    one.lg_slice = std::max(least, top - lg_slices);
    const uint64_t halo = one.halo_slices();
    if (fits(one, one.in_flight + one.groups.size() + (one.in_place ? 3 : 2) * halo)) return true;
    if (given) break;
  }
  return false;
}

// Whether `slices` slices fit besides slots and the threads' own memory. If so, sets the pass's memory.
bool SweepMaker::fits(Sweep& one, uint64_t slices) const {
  const uint64_t memory = plan_.setting.memory;
  if (one.lg_slice >= 63 || record() > (memory >> one.lg_slice)) return false;
  uint64_t scratch = 0;
  for (const Iterations group : one.groups) {
    const bool cyclic = one.gathered && group.high == one.lg_slice;
    scratch = std::max(scratch, cyclic ? plan_.cache.cyclic_scratch(group)
                                       : plan_.cache.halo_scratch(group, uint64_t{1} << one.lg_slice));
  }
  const uint64_t own =
      plan_.threads * scratch + 2 * plan_.slots * plan_.slot_bytes + (one.nodes ? one.nodes->memory : 0);
  if (own > memory || slices > (memory - own) / (record() << one.lg_slice)) return false;
  one.slices = slices;
  one.pass.memory = own + slices * (record() << one.lg_slice);
  return true;
}

void SweepMaker::set_load(Sweep& one) const {
  const int lg_strips = one.iterations.low - one.lg_columns, lg_strip = lg_size() - lg_strips;
  const uint64_t slices = uint64_t{1} << (lg_strip - one.lg_slice);
  const uint64_t run = record() << (lg_strips == 0 ? one.lg_slice : one.lg_columns);
  // Whole records, a power of two of them.
  const uint64_t request =
      std::min(run, record() * std::bit_floor(std::max<uint64_t>(1, plan_.request_bytes / record())));
  one.pass.tiles = slices << lg_strips;
  one.pass.tile_bytes = record() << one.lg_slice;
  one.pass.source_block_bytes = one.pass.target_block_bytes = request;
  const uint64_t again = one.gathered ? 0 : one.halo_slices() * (one.in_place ? 1 : 2);
  const uint64_t read = one.pass.bytes_read + one.pass.bytes_read / slices * again;
  one.load = {.reads = {ceil_div(read, request), request},
              .writes = {ceil_div(one.pass.bytes_written, request), request},
              .copied = one.pass.bytes_written,
              .tiles = one.pass.tiles};
}

}  // namespace xorder::plan
