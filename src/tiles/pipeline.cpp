#include "tiles/pipeline.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "io/carry.hpp"
#include "kernel/kernel.hpp"
#include "rounding.hpp"
#include "task/tasks.hpp"
#include "tiles/kernel_layout.hpp"
#include "tiles/slots.hpp"
#include "xorder/error.hpp"

namespace xorder::tiles {
namespace {

using std::size_t;
using std::uint64_t;

// A token tells what has completed: its kind in the low bits, the number of a slot above.
enum class Event : uint64_t { read, write, permuted, wake };
uint64_t token(Event event, uint64_t number) { return number << 2 | static_cast<uint64_t>(event); }
Event event_of(uint64_t token) { return static_cast<Event>(token & 3); }
uint64_t number_of(uint64_t token) { return token >> 2; }

// Requests in flight in one direction: at most half of the queue's depth, and most_bytes_in_flight.
uint64_t most_in_flight(const io::Queue& queue, uint64_t block_bytes) {
  const uint64_t request = std::clamp<uint64_t>(block_bytes, 1, plan::largest_request);
  return std::max<uint64_t>(1, std::min<uint64_t>(queue.depth() / 2, plan::most_bytes_in_flight / request));
}

// Queue::post() must not throw.
static_assert(plan::most_group_slots + 1 < io::most_posts);

class Conductor {
 public:
  Conductor(const plan::Pass& pass, TileRange range, const PassFiles& files, io::Queue& queue,
            const PassSetting& setting)
      : pass_(pass),
        tiling_(pass.tiling),
        source_(files.source),
        target_(files.target),
        read_alignment_(files.read_alignment),
        write_alignment_(files.write_alignment),
        element_bytes_(tiling_.what().element_bytes),
        queue_(queue),
        setting_(setting),
        kernel_(kernel_layout(tiling_, pass.chunk)),
        tasks_(setting.workers),
        range_(range),
        where_(pass),
        group_memory_(setting.memory, where_.groups, pass.group_slots, pass.group_slot_bytes()),
        chunks_(setting.memory, where_.chunks, pass.chunk_count, pass.chunk_bytes()),
        writes_(setting.memory, where_.writes, pass.write_slots, pass.write_slot_bytes),
        groups_(pass.group_slots),
        free_tiles_(pass.tile_slots),
        tiles_(pass.tile_slots),
        carry_(target_.file, target_.offset, target_.offset + tiling_.what().bytes(), write_alignment_,
               pass.carry_bytes),
        most_reads_(most_in_flight(queue, pass.source_block_bytes)),
        most_writes_(most_in_flight(queue, pass.target_block_bytes)),
        next_tile_(range.first) {}

  // Returns the parts of blocks that are shared with tiles outside the range.
  std::vector<io::BlockPart> run() {
    const std::stop_callback wake_up(setting_.stop, [this] { queue_.post(token(Event::wake, 0)); });
    std::vector<io::Completion> done;
    while (!finished()) {
      const uint64_t written = tiles_written_;
      if (!failure_) {
        try {
          pump_reads();
          pump_writes();
        } catch (...) {
          failure_ = std::current_exception();
        }
      }
      if (in_flight() == 0) {
        if (!failure_ && tiles_written_ > written) continue;  // all that the pumps wrote went to the carry
        if (!failure_) failure_ = std::make_exception_ptr(Error("internal error: a tile exceeds its memory"));
        break;
      }
      done.clear();
      wait(done);
      for (const io::Completion& completion : done) {
        try {
          handle(completion);
        } catch (...) {  // other transfers still use the slots
          if (!failure_) failure_ = std::current_exception();
        }
      }
      if (setting_.stop.stop_requested() && !failure_) failure_ = std::make_exception_ptr(Cancelled());
      tick();
    }
    tasks_.wait();
    if (failure_) std::rethrow_exception(failure_);
    return carry_.take_rest();
  }

 private:
  // If the caller's function throws, the pass ends as after a failed transfer, because transfers in flight
  // still use the slots.
  void tick() {
    try {
      setting_.tick();
    } catch (...) {
      if (!failure_) failure_ = std::current_exception();
    }
  }

  // If the queue's wait() fails, the memory stays: transfers may still access it.
  void wait(std::vector<io::Completion>& done) {
    try {
      queue_.wait(done);
    } catch (...) {
      tasks_.wait();
      setting_.memory.abandon();
      throw;
    }
  }

  bool finished() const { return tiles_written_ == range_.last - range_.first && in_flight() == 0; }
  uint64_t in_flight() const { return reads_in_flight_ + writes_in_flight_ + permuting_; }

  // --- reading: group by group, run by run, request by request

  void pump_reads() {
    while (reads_in_flight_ < most_reads_) {
      if (!reading_ && !begin_group()) return;
      submit_next_read();
    }
  }

  // Groups begin in order and take all their chunks at once. So a tile that has begun never waits for a later
  // one.
  bool begin_group() {
    if (!prepared_ && !prepare_group()) return false;
    if (group_memory_.available() == 0 || chunks_.available() < prepared_->missing) return false;
    reading_ = Reading{group_memory_.take(), {}};
    GroupSlot& slot = groups_[reading_->slot];
    slot.tile_slot = filling_->slot;
    slot.group = std::move(prepared_->group);
    take_chunks(slot, prepared_->chunks);
    prepared_.reset();
    tiling_.source_runs(slot.group, slot.runs);
    slot.sources.assign(slot.runs.size(), nullptr);
    for (size_t r = 0; r < slot.runs.size(); ++r) {
      slot.sources[r] = group_memory_[reading_->slot] + r * pass_.group_pitch +
                        source_begin(slot.runs[r]) % read_alignment_;
    }
    slot.reads_in_flight = 1;  // extra count, released when all reads are submitted
    return true;
  }

  bool prepare_group() {
    if (!filling_ || filling_->next_group == tiles_[filling_->slot].tile.groups) {
      if (next_tile_ == range_.last || free_tiles_.available() == 0) return false;
      filling_ = Filling{free_tiles_.take(), 0};
      begin_tile(tiles_[filling_->slot], next_tile_++);
    }
    const TileSlot& tile = tiles_[filling_->slot];
    prepared_ = Prepared{};
    prepared_->group = tiling_.group(tile.tile, filling_->next_group++);
    plan::target_chunks(tiling_, pass_.chunk, prepared_->group, prepared_->chunks);
    const auto is_missing = [&](uint64_t chunk) { return tile.chunks[chunk] == nullptr; };
    prepared_->missing = static_cast<size_t>(std::ranges::count_if(prepared_->chunks, is_missing));
    return true;
  }

  // The kernel numbers chunks from the group's first. It gets its own array of pointers, because later groups
  // add chunks to the tile's array while it runs.
  void take_chunks(GroupSlot& slot, const std::vector<uint64_t>& chunks) {
    TileSlot& tile = tiles_[slot.tile_slot];
    const plan::RunStride& shift = slot.group.target_shift;
    const uint64_t first = shift.runs * pass_.chunk.per_run + shift.elements / pass_.chunk.elements;
    const uint64_t within = shift.elements % pass_.chunk.elements * element_bytes_;
    slot.targets.resize(tile.chunks.size());
    for (const uint64_t chunk : chunks) {
      if (tile.chunks[chunk] == nullptr) tile.chunks[chunk] = chunks_[chunks_.take()];
      slot.targets[chunk - first] = tile.chunks[chunk] + within;
    }
  }

  void begin_tile(TileSlot& slot, uint64_t number) {
    slot.tile = tiling_.tile(number);
    tiling_.target_runs(slot.tile, slot.runs);
    slot.chunks.assign(slot.runs.size() * pass_.chunk.per_run, nullptr);
    slot.groups_missing = slot.tile.groups;
  }

  uint64_t source_begin(const plan::Run& run) const { return source_.offset + run.offset * element_bytes_; }
  uint64_t target_begin(const plan::Run& run) const { return target_.offset + run.offset * element_bytes_; }

  void submit_next_read() {
    const size_t number = reading_->slot;
    GroupSlot& slot = groups_[number];
    Cursor& at = reading_->at;
    at.skip_empty(slot.runs);
    if (at.run < slot.runs.size()) {
      const plan::Run& run = slot.runs[at.run];
      const uint64_t begin = source_begin(run), end = begin + run.length * element_bytes_;
      const uint64_t first = round_down(begin, read_alignment_), last = round_up(end, read_alignment_);
      io::Transfer read;
      read.kind = io::Transfer::Kind::read;
      read.file = &source_.file;
      read.offset = first + at.bytes;
      const uint64_t bytes = std::min(plan::largest_request, last - read.offset);
      read.pieces[0] = {group_memory_[number] + at.run * pass_.group_pitch + at.bytes, bytes};
      read.piece_count = 1;
      read.required_bytes = std::min(bytes, end - read.offset);
      read.token = token(Event::read, number);
      queue_.submit(read);
      ++slot.reads_in_flight;
      ++reads_in_flight_;
      at.advance(bytes, last - first);
    }
    if (at.run == slot.runs.size()) {
      reading_.reset();
      read_finished(number);
    }
  }

  // --- permuting

  void read_finished(size_t slot) {
    if (--groups_[slot].reads_in_flight > 0 || failure_) return;
    tasks_.start([this, slot] {
      try {
        permute(groups_[slot]);
      } catch (...) {  // out of memory
        groups_[slot].failure = std::current_exception();
      }
      queue_.post(token(Event::permuted, slot));
    });
    ++permuting_;
  }

  void permute(GroupSlot& slot) {
    kernel_lengths(tiling_, slot.group, slot.lengths);
    kernel_(slot.sources.data(), slot.targets.data(), slot.lengths, slot.group.target_offset);
  }

  void permuted(size_t slot) {
    --permuting_;
    if (groups_[slot].failure) std::rethrow_exception(groups_[slot].failure);
    const size_t tile = groups_[slot].tile_slot;
    group_memory_.give_back(slot);
    if (--tiles_[tile].groups_missing == 0) complete_.push_back(tile);
  }

  // --- writing: tile by tile, run by run, request by request; runs that follow each other are one

  void pump_writes() {
    while (writes_in_flight_ < most_writes_ && writes_.available() > 0 && !complete_.empty()) {
      TileSlot& tile = tiles_[complete_.front()];
      writing_.skip_empty(tile.runs);
      if (writing_.run < tile.runs.size()) submit_next_write(tile);
      if (writing_.run == tile.runs.size()) {
        free_tiles_.give_back(complete_.front());
        complete_.pop_front();
        writing_ = {};
        ++tiles_written_;
      }
    }
  }

  // Gathers the next bytes of the target from their chunks into a slot, and frees the chunks. The slot is
  // laid out like the file's blocks. A part of a block at either end goes to the carry.
  void submit_next_write(TileSlot& tile) {
    const uint64_t from = target_begin(tile.runs[writing_.run]) + writing_.bytes;
    const uint64_t slot_begin = round_down(from, write_alignment_);
    const size_t number = writes_.take();
    std::byte* const memory = writes_[number];
    const uint64_t most = std::min(plan::largest_request, pass_.write_slot_bytes);
    const uint64_t to = gather_runs(tile, from, slot_begin + most, memory + (from - slot_begin));
    uint64_t first = slot_begin, last = round_up(to, write_alignment_);

    const uint64_t first_block_end = first + write_alignment_, last_block = last - write_alignment_;
    const bool single = last_block == first;
    const bool first_partial = from > first || to < first_block_end;
    const bool last_partial = !single && to < last;
    if (last_partial && !carry_.add(last_block, to, memory + (last_block - slot_begin))) last = last_block;
    if (first_partial && !carry_.add(from, std::min(to, first_block_end), memory)) first = first_block_end;
    if (first >= last) {
      writes_.give_back(number);
      return;
    }
    io::Transfer write;
    write.kind = io::Transfer::Kind::write;
    write.file = &target_.file;
    write.offset = first;
    write.pieces[0] = {memory + (first - slot_begin), last - first};
    write.piece_count = 1;
    write.token = token(Event::write, number);
    queue_.submit(write);
    ++writes_in_flight_;
  }

  // Copies the target's bytes from `from` on, which are the next to be written, up to `limit` or to where the
  // next run does not follow. Returns that place.
  uint64_t gather_runs(TileSlot& tile, uint64_t from, uint64_t limit, std::byte* out) {
    while (true) {
      const plan::Run& run = tile.runs[writing_.run];
      const uint64_t begin = target_begin(run), end = begin + run.length * element_bytes_;
      const uint64_t to = std::min(end, limit);
      gather(tile, from - begin, to - begin, end - begin, out);
      writing_.advance(to - from, end - begin);
      if (to == limit) return to;
      writing_.skip_empty(tile.runs);
      if (writing_.run == tile.runs.size() || target_begin(tile.runs[writing_.run]) != to) return to;
      out += to - from;
      from = to;
    }
  }

  // Copies the bytes [from, to) of the run that is being written, which has `run_bytes` bytes. Frees the
  // chunks whose end it reaches.
  void gather(TileSlot& tile, uint64_t from, uint64_t to, uint64_t run_bytes, std::byte* out) {
    const uint64_t chunk_bytes = pass_.chunk_bytes();
    std::byte** const chunks = tile.chunks.data() + writing_.run * pass_.chunk.per_run;
    while (from < to) {
      const uint64_t index = from / chunk_bytes, chunk_end = std::min((index + 1) * chunk_bytes, run_bytes);
      const uint64_t piece_end = std::min(chunk_end, to);
      std::memcpy(out, chunks[index] + from % chunk_bytes, piece_end - from);
      out += piece_end - from;
      from = piece_end;
      if (from == chunk_end) chunks_.give_back(std::exchange(chunks[index], nullptr));
    }
  }

  // --- completions

  void handle(const io::Completion& completion) {
    const uint64_t number = number_of(completion.token);
    switch (event_of(completion.token)) {
      case Event::read:
        --reads_in_flight_;
        if (completion.error) fail(source_.file, io::Transfer::Kind::read, completion);
        read_finished(number);
        break;
      case Event::write:
        --writes_in_flight_;
        if (completion.error) fail(target_.file, io::Transfer::Kind::write, completion);
        writes_.give_back(number);
        break;
      case Event::permuted:
        permuted(number);
        break;
      case Event::wake:
        break;
    }
  }

  void fail(const io::File& file, io::Transfer::Kind kind, const io::Completion& completion) {
    if (!failure_) failure_ = std::make_exception_ptr(file.failed(kind, completion));
  }

  // How far the runs of a group or a tile have been submitted.
  struct Cursor {
    uint64_t run = 0, bytes = 0;  // the next run, and the bytes of it already submitted

    void skip_empty(const std::vector<plan::Run>& runs) {
      while (run < runs.size() && runs[run].length == 0) ++run;
    }
    void advance(uint64_t more, uint64_t of) {
      bytes += more;
      if (bytes < of) return;
      ++run;
      bytes = 0;
    }
  };
  // The group whose runs are being read.
  struct Reading {
    size_t slot;
    Cursor at;
  };
  // The tile whose groups are being read.
  struct Filling {
    size_t slot;
    uint64_t next_group;
  };
  // The next group, until there is room for it.
  struct Prepared {
    plan::Group group;
    std::vector<uint64_t> chunks;  // those it touches
    size_t missing = 0;            // of these, how many no earlier group has touched
  };

  const plan::Pass& pass_;
  const plan::Tiling& tiling_;
  io::Location source_, target_;
  uint64_t read_alignment_, write_alignment_, element_bytes_;
  io::Queue& queue_;
  const PassSetting& setting_;
  kernel::Kernel kernel_;
  task::Tasks tasks_;

  TileRange range_;
  PassMemory where_;
  Pool group_memory_, chunks_, writes_;
  std::vector<GroupSlot> groups_;
  Numbers free_tiles_;
  std::vector<TileSlot> tiles_;
  io::Carry carry_;
  uint64_t most_reads_, most_writes_;  // in flight

  uint64_t next_tile_;
  std::optional<Filling> filling_;
  std::optional<Prepared> prepared_;
  std::optional<Reading> reading_;
  std::deque<size_t> complete_;  // slots of tiles to be written
  Cursor writing_;               // in the first of them

  uint64_t reads_in_flight_ = 0, writes_in_flight_ = 0, permuting_ = 0;
  uint64_t tiles_written_ = 0;  // all their writes submitted
  std::exception_ptr failure_;
};

}  // namespace

io::BlockMemory memory_for(const std::vector<plan::Pass>& passes) {
  uint64_t most = 0;
  for (const plan::Pass& pass : passes) most = std::max(most, PassMemory(pass).bytes);
  return io::BlockMemory(most, io::BlockMemory::Resident::as_used);
}

void run_pass(const plan::Pass& pass, const PassFiles& files, io::Queue& queue, const PassSetting& setting) {
  if (!run_tiles(pass, {0, pass.tiling.tile_count()}, files, queue, setting).empty())
    throw Error("internal error: blocks were left incomplete");
}

std::vector<io::BlockPart> run_tiles(const plan::Pass& pass, TileRange tiles, const PassFiles& files,
                                     io::Queue& queue, const PassSetting& setting) {
  if (tiles.first == tiles.last) return {};
  return Conductor(pass, tiles, files, queue, setting).run();
}

}  // namespace xorder::tiles
