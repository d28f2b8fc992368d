#include "pipeline.hpp"

#include <oneapi/tbb/task_group.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <optional>

#include "carry.hpp"
#include "kernel_layout.hpp"
#include "xorder/error.hpp"
#include "xorder/io/memory.hpp"
#include "xorder/kernel/kernel.hpp"

namespace xorder::run {
namespace {

using std::size_t;
using std::uint64_t;

constexpr uint64_t largest_transfer = 1 << 20;

uint64_t round_down(uint64_t a, uint64_t multiple) { return a / multiple * multiple; }
uint64_t round_up(uint64_t a, uint64_t multiple) { return round_down(a + multiple - 1, multiple); }

// A token says what has completed: its kind in the low bits, the number of a slot or transfer above.
enum class Event : uint64_t { read, write, permuted, wake };
uint64_t token(Event event, uint64_t number) { return number << 2 | static_cast<uint64_t>(event); }
Event event_of(uint64_t token) { return static_cast<Event>(token & 3); }
uint64_t number_of(uint64_t token) { return token >> 2; }

// A group on its way: its runs are read into `memory`, then permuted into its tile's slot.
struct GroupSlot {
  std::byte* memory = nullptr;
  size_t tile_slot = 0;
  plan::Group group;
  std::vector<plan::Run> runs;
  std::vector<const std::byte*> sources;
  std::vector<std::byte*> targets;
  std::vector<uint64_t> lengths;
  uint64_t reads_in_flight = 0;
};

// A tile on its way: assembled in `memory` run by run, then written.
struct TileSlot {
  std::byte* memory = nullptr;
  plan::Tile tile;
  std::vector<plan::Run> runs;
  std::vector<std::byte*> places;  // where each run is assembled
  uint64_t groups_missing = 0;
  uint64_t writes_in_flight = 0;
  bool all_submitted = false;
};

// What one write borrowed from the carry.
struct WriteRecord {
  size_t tile_slot = 0;
  std::byte* head = nullptr;
  std::byte* tail = nullptr;
};

template <typename Slot>
class Slots {
 public:
  Slots(uint64_t count, uint64_t bytes_each) : memory_(count * bytes_each), slots_(count) {
    for (uint64_t i = 0; i < count; ++i) {
      slots_[i].memory = memory_.data() + i * bytes_each;
      free_.push_back(count - 1 - i);
    }
  }
  bool available() const { return !free_.empty(); }
  size_t take() {
    const size_t i = free_.back();
    free_.pop_back();
    return i;
  }
  void give_back(size_t i) { free_.push_back(i); }
  void leak() { static_cast<void>(new io::BlockMemory(std::move(memory_))); }
  Slot& operator[](size_t i) { return slots_[i]; }

 private:
  io::BlockMemory memory_;
  std::vector<Slot> slots_;
  std::vector<size_t> free_;
};

class Conductor {
 public:
  Conductor(const plan::Pass& pass, Place source, Place target, uint64_t read_alignment, uint64_t write_alignment,
            io::Queue& queue, oneapi::tbb::task_arena& arena, std::stop_token stop)
      : pass_(pass),
        tiling_(pass.tiling),
        source_(source),
        target_(target),
        read_alignment_(read_alignment),
        write_alignment_(write_alignment),
        memory_alignment_(target.file.memory_alignment()),
        element_bytes_(tiling_.what().element_bytes),
        queue_(queue),
        arena_(arena),
        stop_(std::move(stop)),
        kernel_(kernel_layout(tiling_)),
        tile_count_(tiling_.tile_count()),
        groups_(pass.group_slots, pass.group_slot_bytes()),
        tiles_(pass.tile_slots, pass.tile_slot_bytes()),
        carry_(target.file, target.offset, target.offset + tiling_.what().bytes(), write_alignment, pass.carry_bytes),
        most_in_flight_(std::max(1u, queue.depth() / 2)) {}

  PassCounters run(const std::function<void(const PassCounters&)>& progress) {
    const std::stop_callback wake_up(stop_, [this] { queue_.post(token(Event::wake, 0)); });
    std::vector<io::Completion> done;
    while (!finished()) {
      if (!failure_) {
        try {
          pump_reads();
          pump_writes();
        } catch (...) {
          failure_ = std::current_exception();
        }
      }
      if (in_flight() == 0) {
        if (failure_) break;
        continue;  // the pumps moved on without a transfer (everything of a tile went through the carry)
      }
      done.clear();
      wait(done);
      for (const io::Completion& completion : done) handle(completion);
      if (stop_.stop_requested() && !failure_) failure_ = std::make_exception_ptr(Cancelled());
      progress(counters_);
    }
    arena_.execute([this] { tasks_.wait(); });
    if (failure_) std::rethrow_exception(failure_);
    if (carry_.waiting() != 0) throw Error("internal error: blocks were left incomplete");
    return counters_;
  }

 private:
  // A queue that cannot even wait has lost track of its transfers: they may still reach into the slots, so these stay.
  void wait(std::vector<io::Completion>& done) {
    try {
      queue_.wait(done);
    } catch (...) {
      arena_.execute([this] { tasks_.wait(); });
      groups_.leak();
      tiles_.leak();
      carry_.leak();
      throw;
    }
  }

  bool finished() const { return tiles_finished_ == tile_count_; }
  uint64_t in_flight() const { return reads_in_flight_ + writes_in_flight_ + permuting_; }

  // --- reading: group by group, run by run, request by request

  void pump_reads() {
    while (reads_in_flight_ < most_in_flight_) {
      if (!reading_ && !begin_group()) return;
      submit_next_read();
    }
  }

  bool begin_group() {
    if (!groups_.available()) return false;
    if (!filling_ || next_group_ == tiles_[*filling_].tile.groups) {
      if (next_tile_ == tile_count_ || !tiles_.available()) return false;
      filling_ = tiles_.take();
      begin_tile(tiles_[*filling_], next_tile_++);
      next_group_ = 0;
    }
    reading_ = groups_.take();
    next_run_ = 0;
    next_in_run_ = 0;
    GroupSlot& slot = groups_[*reading_];
    slot.tile_slot = *filling_;
    slot.group = tiling_.group(tiles_[*filling_].tile, next_group_++);
    tiling_.source_runs(slot.group, slot.runs);
    slot.sources.assign(slot.runs.size(), nullptr);
    for (size_t r = 0; r < slot.runs.size(); ++r) {
      slot.sources[r] = slot.memory + r * pass_.group_pitch + source_begin(slot.runs[r]) % read_alignment_;
    }
    slot.reads_in_flight = 1;  // held until all have been submitted
    return true;
  }

  void begin_tile(TileSlot& slot, uint64_t number) {
    slot.tile = tiling_.tile(number);
    tiling_.target_runs(slot.tile, slot.runs);
    slot.places.resize(slot.runs.size());
    const bool padded = pass_.tile_pitch != tiling_.target_shape().run_elements * element_bytes_;
    for (size_t r = 0; r < slot.runs.size(); ++r) {
      const uint64_t shift = padded ? target_begin(slot.runs[r]) % memory_alignment_ : 0;
      slot.places[r] = slot.memory + r * pass_.tile_pitch + shift;
    }
    slot.groups_missing = slot.tile.groups;
    slot.writes_in_flight = 0;
    slot.all_submitted = false;
  }

  uint64_t source_begin(const plan::Run& run) const { return source_.offset + run.offset * element_bytes_; }
  uint64_t target_begin(const plan::Run& run) const { return target_.offset + run.offset * element_bytes_; }

  void submit_next_read() {
    GroupSlot& slot = groups_[*reading_];
    while (next_run_ < slot.runs.size() && slot.runs[next_run_].length == 0) ++next_run_;
    if (next_run_ < slot.runs.size()) {
      const plan::Run& run = slot.runs[next_run_];
      const uint64_t begin = source_begin(run), end = begin + run.length * element_bytes_;
      const uint64_t first = round_down(begin, read_alignment_), last = round_up(end, read_alignment_);
      io::Transfer read;
      read.kind = io::Transfer::Kind::read;
      read.file = &source_.file;
      read.offset = first + next_in_run_;
      const uint64_t bytes = std::min(largest_transfer, last - read.offset);
      read.pieces[0] = {slot.memory + next_run_ * pass_.group_pitch + next_in_run_, bytes};
      read.piece_count = 1;
      read.required_bytes = std::min(bytes, end - read.offset);
      read.token = token(Event::read, *reading_);
      queue_.submit(read);
      ++slot.reads_in_flight;
      ++reads_in_flight_;
      ++counters_.reads;
      counters_.bytes_read += bytes;
      next_in_run_ += bytes;
      if (first + next_in_run_ == last) {
        ++next_run_;
        next_in_run_ = 0;
      }
    }
    if (next_run_ == slot.runs.size()) {
      const size_t whole = *reading_;
      reading_.reset();
      read_finished(whole);
    }
  }

  // --- permuting

  void read_finished(size_t slot) {
    if (--groups_[slot].reads_in_flight > 0 || failure_) return;
    ++permuting_;
    arena_.enqueue(tasks_.defer([this, slot] {
      permute(groups_[slot]);
      queue_.post(token(Event::permuted, slot));
    }));
  }

  void permute(GroupSlot& slot) {
    const TileSlot& tile = tiles_[slot.tile_slot];
    const plan::RunStride& shift = slot.group.target_shift;
    slot.targets.resize(tile.places.size() - shift.runs);
    for (size_t r = 0; r < slot.targets.size(); ++r) {
      slot.targets[r] = tile.places[r + shift.runs] + shift.elements * element_bytes_;
    }
    kernel_lengths(tiling_, slot.group, slot.lengths);
    kernel_(slot.sources.data(), slot.targets.data(), slot.lengths, slot.group.target_offset);
  }

  void permuted(size_t slot) {
    --permuting_;
    const size_t tile = groups_[slot].tile_slot;
    groups_.give_back(slot);
    if (--tiles_[tile].groups_missing == 0) complete_.push_back(tile);
  }

  // --- writing: tile by tile, run by run; see Carry for what happens where runs meet inside a block

  void pump_writes() {
    while (writes_in_flight_ < most_in_flight_ && !complete_.empty()) {
      const size_t number = complete_.front();
      TileSlot& slot = tiles_[number];
      while (writing_run_ < slot.runs.size() && slot.runs[writing_run_].length == 0) ++writing_run_;
      if (writing_run_ < slot.runs.size()) submit_next_write(number);
      if (writing_run_ == slot.runs.size()) {
        complete_.pop_front();
        writing_run_ = 0;
        slot.all_submitted = true;
        if (slot.writes_in_flight == 0) tile_finished(number);
      }
    }
  }

  void submit_next_write(size_t number) {
    TileSlot& slot = tiles_[number];
    const plan::Run& run = slot.runs[writing_run_];
    std::byte* const data = slot.places[writing_run_];
    const uint64_t begin = target_begin(run), end = begin + run.length * element_bytes_;
    const uint64_t body_begin = round_up(begin, write_alignment_), body_end = round_down(end, write_alignment_);
    WriteRecord record{number, nullptr, nullptr};
    if (body_begin > body_end) {  // all inside one block
      record.head = carry_.add(begin, data, end - begin);
      if (record.head) submit_write(record, round_down(begin, write_alignment_), nullptr, 0);
      ++writing_run_;
      return;
    }
    if (written_in_run_ == 0 && begin < body_begin) record.head = carry_.add(begin, data, body_begin - begin);
    const uint64_t position = body_begin + written_in_run_;
    const uint64_t bytes = std::min(largest_transfer, body_end - position);
    const bool last = position + bytes == body_end;
    if (last && body_end < end) record.tail = carry_.add(body_end, data + (body_end - begin), end - body_end);
    if (record.head || bytes > 0 || record.tail) {
      submit_write(record, position - (record.head ? write_alignment_ : 0), data + (position - begin), bytes);
    }
    written_in_run_ += bytes;
    if (last) {
      ++writing_run_;
      written_in_run_ = 0;
    }
  }

  // Up to three neighbouring pieces of the file: a carried block, whole blocks of the tile, a carried block.
  void submit_write(const WriteRecord& record, uint64_t offset, std::byte* body, uint64_t body_bytes) {
    io::Transfer write;
    write.kind = io::Transfer::Kind::write;
    write.file = &target_.file;
    write.offset = offset;
    const auto append = [&](std::byte* data, uint64_t bytes) {
      if (bytes > 0) write.pieces[static_cast<size_t>(write.piece_count++)] = {data, bytes};
    };
    append(record.head, record.head ? write_alignment_ : 0);
    append(body, body_bytes);
    append(record.tail, record.tail ? write_alignment_ : 0);
    if (free_records_.empty()) {
      free_records_.push_back(records_.size());
      records_.emplace_back();
    }
    const size_t id = free_records_.back();
    free_records_.pop_back();
    records_[id] = record;
    write.token = token(Event::write, id);
    queue_.submit(write);
    ++tiles_[record.tile_slot].writes_in_flight;
    ++writes_in_flight_;
    ++counters_.writes;
    counters_.bytes_written += write.bytes();
  }

  void write_finished(size_t id) {
    const WriteRecord record = records_[id];
    free_records_.push_back(id);
    if (record.head) carry_.release(record.head);
    if (record.tail) carry_.release(record.tail);
    TileSlot& slot = tiles_[record.tile_slot];
    if (--slot.writes_in_flight == 0 && slot.all_submitted) tile_finished(record.tile_slot);
  }

  void tile_finished(size_t slot) {
    tiles_.give_back(slot);
    ++tiles_finished_;
  }

  // --- completions

  void handle(const io::Completion& completion) {
    const uint64_t number = number_of(completion.token);
    switch (event_of(completion.token)) {
      case Event::read:
        --reads_in_flight_;
        if (completion.error) fail(source_.file, "read", completion);
        read_finished(number);
        break;
      case Event::write:
        --writes_in_flight_;
        if (completion.error) fail(target_.file, "write", completion);
        write_finished(number);
        break;
      case Event::permuted: permuted(number); break;
      case Event::wake: break;
    }
  }

  void fail(const io::File& file, const char* operation, const io::Completion& completion) {
    if (failure_) return;
    failure_ = std::make_exception_ptr(IoError(file.name(), operation, completion.error, completion.offset));
  }

  const plan::Pass& pass_;
  const plan::Tiling& tiling_;
  Place source_, target_;
  uint64_t read_alignment_, write_alignment_, memory_alignment_, element_bytes_;
  io::Queue& queue_;
  oneapi::tbb::task_arena& arena_;
  std::stop_token stop_;
  kernel::Kernel kernel_;
  oneapi::tbb::task_group tasks_;

  uint64_t tile_count_;
  Slots<GroupSlot> groups_;
  Slots<TileSlot> tiles_;
  Carry carry_;
  uint64_t most_in_flight_;

  std::optional<size_t> filling_;  // the tile whose groups are being read
  uint64_t next_tile_ = 0, next_group_ = 0;
  std::optional<size_t> reading_;  // the group whose runs are being submitted
  uint64_t next_run_ = 0, next_in_run_ = 0;
  std::deque<size_t> complete_;    // tiles to be written; the first one is being submitted
  uint64_t writing_run_ = 0, written_in_run_ = 0;
  std::vector<WriteRecord> records_;
  std::vector<size_t> free_records_;

  uint64_t reads_in_flight_ = 0, writes_in_flight_ = 0, permuting_ = 0;
  uint64_t tiles_finished_ = 0;
  PassCounters counters_;
  std::exception_ptr failure_;
};

}  // namespace

PassCounters run_pass(const plan::Pass& pass, Place source, Place target, std::uint64_t read_alignment,
                      std::uint64_t write_alignment, io::Queue& queue, oneapi::tbb::task_arena& arena,
                      const std::function<void(const PassCounters&)>& progress, std::stop_token stop) {
  return Conductor(pass, source, target, read_alignment, write_alignment, queue, arena, std::move(stop)).run(progress);
}

}  // namespace xorder::run
