#include "descend/sweeps.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>

#include "rounding.hpp"
#include "run/numbers.hpp"

namespace xorder::descend {
namespace {

using plan::Sweep;
using plan::SweepPlan;
using std::size_t;
using std::uint64_t;
using Buffer = std::shared_ptr<std::byte>;

constexpr uint64_t cache_line = 64;  // enough for elements of any type

std::byte* aligned(std::byte* data) { return data - reinterpret_cast<std::uintptr_t>(data) % cache_line; }

/// What a sweep reads, or what it writes. A slice is transferred in parts: straight from or to its memory, or
/// through slots if elements have another size than records, or other places within blocks than in the file.
class Side {
 public:
  /// The slots begin at `begin` of the pass's memory.
  Side(const Records& records, const SweepPlan& plan, const Sweep& sweep, bool reads, uint64_t begin);

  uint64_t alignment() const { return alignment_; }
  uint64_t part() const { return part_; }  ///< in records
  uint64_t part_bytes() const { return part_ * largest_; }
  /// Whether load() or store() has something to do.
  bool converts() const { return converter_ != nullptr || slot_bytes_ != 0; }
  /// How many parts may be on their way, and where the memory of their slots ends.
  uint64_t slots() const { return slots_; }
  uint64_t end() const {
    return round_up(begin_ + slots_ * slot_bytes_, std::max(plan::file_block, alignment_));
  }

  /// The ranges of the part from record `index` on, and their places in memory.
  std::vector<run::Range> ranges(uint64_t index, std::byte* records, std::byte* memory, size_t slot) const;
  /// Makes the part's records of what was read.
  void load(uint64_t index, const std::vector<run::Range>& from, std::byte* records) const;
  /// Makes of the part's records, which may change, what is to be written.
  void store(uint64_t index, std::byte* records, const run::Range& to) const;

 private:
  bool are_records() const { return arrays_.size() == 1 && largest_ == record_; }
  /// How many records of the part from record `index` on are in the arrays.
  uint64_t there(uint64_t index) const { return std::min(part_, elements_ - std::min(elements_, index)); }
  /// Of a part of elements of `bytes` bytes, with blocks at both ends.
  uint64_t room(uint64_t bytes) const {
    const uint64_t unit = std::max(alignment_, cache_line);
    return round_up(part_ * bytes, unit) + unit;
  }

  const std::vector<Elements>& arrays_;
  Computation* converter_;
  uint64_t record_, largest_ = 0;  // bytes of a record, and of an element
  uint64_t elements_;
  uint64_t alignment_ = 1, part_;
  uint64_t begin_, slots_ = 64, slot_bytes_ = 0;
};

Side::Side(const Records& records, const SweepPlan& plan, const Sweep& sweep, bool reads, uint64_t begin)
    : arrays_(records.arrays),
      converter_(records.converter),
      record_(plan.task.record_bytes),
      elements_(plan.task.elements()),
      begin_(begin) {
  uint64_t all = 0;
  for (const Elements& array : arrays_) {
    const io::File& file = array.begin.file;
    all += array.bytes;
    largest_ = std::max(largest_, array.bytes);
    alignment_ = std::max<uint64_t>(
        {alignment_, file.memory_alignment(), reads ? file.offset_alignment() : file.write_alignment()});
  }
  // A part is contiguous in the files. It has a power of two of records, so that parts begin at whole blocks
  // whatever the size of a record.
  const bool rows = sweep.lg_columns < sweep.iterations.low;
  part_ = std::min(uint64_t{1} << (rows ? sweep.lg_columns : sweep.lg_slice),
                   std::bit_floor(std::max<uint64_t>(1, plan.request_bytes / all)));
  if (are_records() && (arrays_.front().begin.offset | part_ * record_) % alignment_ == 0) return;
  // A part and the blocks at both ends should be one request.
  while (part_ > 1 && part_ * largest_ + alignment_ > plan::largest_request) part_ /= 2;
  for (const Elements& array : arrays_) slot_bytes_ += room(array.bytes);
  slots_ = std::clamp<uint64_t>(plan.slots * plan.slot_bytes / slot_bytes_, 1, slots_);
}

std::vector<run::Range> Side::ranges(uint64_t index, std::byte* records, std::byte* memory,
                                     size_t slot) const {
  std::vector<run::Range> all;
  std::byte* free = memory + begin_ + slot * slot_bytes_;
  for (const auto& [begin, bytes] : arrays_) {
    const uint64_t offset = begin.offset + index * bytes;
    std::byte* const data = slot_bytes_ == 0 ? records : free + offset % alignment_;
    all.push_back({&begin.file, offset, there(index) * bytes, data});
    free += room(bytes);
  }
  return all;
}

void Side::load(uint64_t index, const std::vector<run::Range>& from, std::byte* records) const {
  std::vector<const std::byte*> inputs;
  for (const run::Range& range : from) {
    std::byte* const to = are_records() ? records : aligned(range.data);
    if (to != range.data) std::memmove(to, range.data, range.bytes);
    inputs.push_back(to);
  }
  if (converter_ != nullptr) converter_->load(index, there(index), inputs, records);
}

void Side::store(uint64_t index, std::byte* records, const run::Range& to) const {
  std::byte* const output = are_records() ? records : aligned(to.data);
  if (converter_ != nullptr) converter_->store(index, there(index), records, output);
  if (output != to.data) std::memmove(to.data, output, to.bytes);
}

/// Where everything is in the memory of a pass.
struct Areas {
  Areas(const SweepPlan& plan, const Sweep& sweep, const Records& from, const Records& to)
      : source(from, plan, sweep, true, 0),
        target(to, plan, sweep, false, source.end()),
        buffers(sweep.slices / (sweep.two_buffers ? 2 : 1)),
        buffer_bytes(
            round_up((sweep.two_buffers ? 2 : 1) * plan.task.record_bytes << sweep.lg_slice, cache_line)) {}
  uint64_t end() const { return target.end() + buffers * buffer_bytes; }

  Side source, target;
  uint64_t buffers, buffer_bytes;  // for slices
};

/// Memory for slices. May be used by several threads at once.
class Slices {
 public:
  Slices(std::byte* memory, const Areas& where)
      : memory_(memory + where.target.end()), bytes_(where.buffer_bytes), free_(where.buffers) {}
  /// Requires that one is free.
  Buffer take() {
    const std::lock_guard lock(mutex_);
    const size_t number = free_.take();
    return {memory_ + number * bytes_, [this, number](std::byte*) {
              const std::lock_guard locked(mutex_);
              free_.give_back(number);
            }};
  }

 private:
  std::byte* memory_;
  uint64_t bytes_;
  std::mutex mutex_;
  run::Numbers free_;
};

// Some rows of a strip.
struct Slice {
  uint64_t number = 0;  // mod 2^64: slices before the first one have numbers below 0
  Buffer data;          // empty if there is no slice
};

// The slices made by the group before that one group needs.
class Window {
 public:
  Window(Groups& groups, const Sweep& sweep, const Strip& strip, Iterations group, Slices& memory)
      : groups_(groups),
        strip_(strip),
        lg_slice_(sweep.lg_slice),
        group_(group),
        halo_(sweep.halo_slices(group)),
        memory_(memory) {}

  /// Takes the next slice. Returns the group's result for the slice `halo` before it, or nothing at the
  /// beginning.
  Slice push(Slice slice) {
    slices_.push_back(std::move(slice));
    if (slices_.size() <= 2 * halo_) return {};
    Pieces from{.pieces = {}, .lg_piece = lg_slice_, .first = slices_.front().number << lg_slice_};
    for (const Slice& one : slices_) from.pieces.push_back(one.data.get());
    Slice made{slices_[halo_].number, memory_.take()};
    groups_.with_halo(strip_, group_, from, made.number << lg_slice_, uint64_t{1} << lg_slice_,
                      made.data.get());
    slices_.pop_front();
    return made;
  }

 private:
  Groups& groups_;
  Strip strip_;
  int lg_slice_;
  Iterations group_;
  uint64_t halo_;
  Slices& memory_;
  std::deque<Slice> slices_;
};

// A step reads a slice. If the sweep is gathered, the slice is a strip, which it computes and writes.
// Otherwise what is written of a strip, usually all of it, needs slices before and behind, which at the
// strip's ends are those from its other end; a step passes its slice through the windows of the groups, and
// writes the slice that comes out of the last one.
class SweepPass final : public run::Pass {
 public:
  SweepPass(const SweepPlan& plan, const Sweep& sweep, SliceRange range, Groups& groups, const Records& from,
            const Records& to, std::byte* memory, task::Workers& computing, const ComputeStrip& compute_strip)
      : sweep_(sweep),
        groups_(groups),
        computing_(computing),
        compute_strip_(compute_strip),
        record_(plan.task.record_bytes),
        count_(uint64_t{1} << sweep.lg_slice),
        halo_(sweep.gathered ? 0 : sweep.halo_slices()),
        in_strip_(slices(plan, sweep) >> (sweep.iterations.low - sweep.lg_columns)),
        where_(plan, sweep, from, to),
        rules_{.read_alignment = where_.source.alignment(),
               .write_alignment = where_.target.alignment(),
               .read_bytes = where_.source.part_bytes(),
               .write_bytes = where_.target.part_bytes(),
               .most_steps = sweep.in_flight,
               .decodes = where_.source.converts(),
               .compute = run::Rules::Compute::one_by_one,
               .encodes = where_.target.converts()},
        memory_(memory),
        slices_(memory_, where_),
        steps_(sweep.in_flight),
        free_reads_(where_.source.slots()),
        free_writes_(where_.target.slots()),
        reads_(where_.source.slots()),
        writes_(where_.target.slots()),
        range_(range) {
    enter_strip();
  }

  const run::Rules& rules() const override { return rules_; }

  Next next_unit(run::Unit& unit) override {
    if (range_.first == range_.end) return Next::end;
    if (free_reads_.available() == 0) return Next::later;
    Step& step = steps_[next_ % steps_.size()];
    if (read_ == 0) begin(step);
    unit.step = next_;
    unit.slot = free_reads_.take();
    reads_[unit.slot] = part(step, read_);
    if (!step.is_kept) {
      const auto& [index, records] = reads_[unit.slot];
      unit.reads = where_.source.ranges(index, records.get(), memory_, unit.slot);
      read_ += where_.source.part();
    }
    unit.last = step.is_kept || read_ == count_;
    if (!unit.last) return Next::ready;
    read_ = 0;
    ++next_;
    if (++slice_ == last_slice_) {
      range_.first = end_of_strip();
      if (range_.first < range_.end) enter_strip();
    }
    return Next::ready;
  }

  void decode(run::Unit& unit) override {
    if (unit.reads.empty()) return;
    const auto& [index, records] = reads_[unit.slot];
    where_.source.load(index, unit.reads, records.get());
  }

  void decoded(run::Unit& unit) override {
    reads_[unit.slot] = {};
    free_reads_.give_back(unit.slot);
  }

  void compute(uint64_t number) override {
    Step& step = steps_[number % steps_.size()];
    computing_.execute([&] {
      if (!sweep_.gathered) return pass_through_windows(step);
      const Buffer buffer = step.slice.data;
      if (compute_strip_) return compute_strip_(step.strip, buffer.get());
      std::byte* const other = buffer.get() + count_ * record_;
      step.slice.data = Buffer(buffer, groups_.all(step.strip, sweep_.groups, buffer.get(), other));
    });
  }

  Next next_write(uint64_t number, run::Write& write) override {
    Step& step = steps_[number % steps_.size()];
    if (!step.slice.data || written_ == count_) {
      step.slice.data.reset();
      written_ = 0;
      return Next::end;
    }
    if (free_writes_.available() == 0) return Next::later;
    write.slot = free_writes_.take();
    const auto& [index, records] = writes_[write.slot] = part(step, written_);
    write.range = where_.target.ranges(index, records.get(), memory_, write.slot).front();
    written_ += where_.target.part();
    return Next::ready;
  }

  void encode(run::Write& write) override {
    const auto& [index, records] = writes_[write.slot];
    where_.target.store(index, records.get(), write.range);
  }

  void written(const run::Write& write) override {
    writes_[write.slot] = {};
    free_writes_.give_back(write.slot);
  }

 private:
  struct Step {
    Strip strip;
    Slice slice;            // that is read, and then that is written
    bool is_kept = false;   // it was read before
    bool is_first = false;  // of what is read of the strip
  };
  /// What is transferred at once.
  struct Part {
    uint64_t index = 0;  // of its first record in the array
    Buffer records;
  };

  // Up to where the range goes in the strip in which it begins.
  uint64_t end_of_strip() const { return std::min(range_.end, (range_.first / in_strip_ + 1) * in_strip_); }
  void enter_strip() {
    strip_ = range_.first / in_strip_;
    first_slice_ = range_.first % in_strip_ - halo_;
    last_slice_ = end_of_strip() - strip_ * in_strip_ + halo_;
    slice_ = first_slice_;
    kept_.assign(sweep_.in_place ? std::min(halo_, in_strip_) : 0, {});
  }

  // What is to be read again at the end of a strip is kept if it may be overwritten.
  void begin(Step& step) {
    step.strip = {sweep_.iterations.low, sweep_.lg_columns, strip_ << sweep_.lg_columns};
    step.is_first = slice_ == first_slice_;
    const bool again = last_slice_ - slice_ <= halo_;  // the last ones are those behind the strip's end
    step.is_kept = !kept_.empty() && again;
    step.slice = {slice_, step.is_kept ? kept_[slice_ & (in_strip_ - 1)] : slices_.take()};
    if (slice_ < kept_.size()) kept_[slice_] = step.slice.data;
  }

  Part part(const Step& step, uint64_t from) const {
    const uint64_t place = (step.slice.number & (in_strip_ - 1)) << sweep_.lg_slice;
    return {step.strip.index(place + from), Buffer(step.slice.data, step.slice.data.get() + from * record_)};
  }

  void pass_through_windows(Step& step) {
    if (step.is_first) {
      windows_.clear();
      for (const Iterations group : sweep_.groups)
        windows_.emplace_back(groups_, sweep_, step.strip, group, slices_);
    }
    for (Window& window : windows_) {
      if (step.slice.data) step.slice = window.push(std::move(step.slice));
    }
  }

  const Sweep& sweep_;
  Groups& groups_;
  task::Workers& computing_;
  const ComputeStrip& compute_strip_;
  uint64_t record_, count_;  // bytes of a record, records of a slice
  uint64_t halo_;            // slices that are read again at either end of a strip
  uint64_t in_strip_;        // slices
  Areas where_;
  run::Rules rules_;
  std::byte* memory_;
  Slices slices_;
  std::vector<Step> steps_;
  run::Numbers free_reads_, free_writes_;
  std::vector<Part> reads_, writes_;
  SliceRange range_;    // of which what is being read begins at its first slice
  uint64_t strip_ = 0;  // that is being read: slices from this to that one, and the next. Those before its
                        // beginning have numbers below 0, mod 2^64
  uint64_t first_slice_ = 0, last_slice_ = 0, slice_ = 0;
  uint64_t next_ = 0;           // step
  uint64_t read_ = 0;           // records of it, so far
  uint64_t written_ = 0;        // records of the step that is being written
  std::vector<Buffer> kept_;    // the first slices of the strip that is being read
  std::deque<Window> windows_;  // of the strip that is being computed
};

}  // namespace

uint64_t memory_for(const SweepPlan& plan, const Sweep& sweep, const Records& from, const Records& to) {
  return Areas(plan, sweep, from, to).end();
}

uint64_t slices(const SweepPlan& plan, const Sweep& sweep) {
  return uint64_t{1} << (plan.task.lg_size - sweep.lg_slice);
}

std::unique_ptr<run::Pass> make_pass(const SweepPlan& plan, const Sweep& sweep, SliceRange range,
                                     Groups& groups, const Records& from, const Records& to,
                                     std::byte* memory, task::Workers& computing,
                                     const ComputeStrip& compute_strip) {
  return std::make_unique<SweepPass>(plan, sweep, range, groups, from, to, memory, computing, compute_strip);
}

}  // namespace xorder::descend
