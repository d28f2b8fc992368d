#include "tiles/tile_pass.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "kernel/kernel.hpp"
#include "kernel/unpack.hpp"
#include "rounding.hpp"
#include "tiles/kernel_layout.hpp"
#include "tiles/slots.hpp"
#include "xorder/error.hpp"

namespace xorder::tiles {
namespace {

using std::size_t;
using std::uint64_t;

class TilePass final : public run::Pass {
 public:
  TilePass(const plan::Pass& pass, TileRange range, const PassFiles& files, io::BlockMemory& memory)
      : pass_(pass),
        tiling_(pass.tiling),
        sources_(files.sources),
        target_(files.target),
        comparison_(files.comparison),
        parts_(files.parts),
        part_bytes_(files.part_bytes),
        element_bytes_(tiling_.what().element_bytes),
        rules_{.read_alignment = files.read_alignment,
               .write_alignment = files.write_alignment,
               .read_bytes = pass.source_block_bytes,
               .write_bytes = pass.target_block_bytes,
               .decodes = true},
        kernel_(kernel_layout(tiling_, pass.chunk)),
        where_(pass),
        group_memory_(memory, where_.groups, pass.group_slots, pass.group_slot_bytes()),
        chunks_(memory, where_.chunks, pass.chunk_count, pass.chunk_bytes()),
        writes_(memory, where_.writes, pass.write_slots, pass.write_slot_bytes),
        groups_(pass.group_slots),
        free_tiles_(pass.tile_slots),
        tiles_(pass.tile_slots),
        written_parts_(pass.write_slots),
        next_tile_(range.first),
        last_tile_(range.last) {}

  const run::Rules& rules() const override { return rules_; }

  // --- reading: groups begin in order and take all their chunks at once

  Next next_unit(run::Unit& unit) override {
    if (!prepared_) {
      if (const Next next = prepare_group(); next != Next::ready) return next;
    }
    if (group_memory_.available() == 0 || chunks_.available() < prepared_->missing) return Next::later;
    unit.step = *filling_;
    unit.slot = group_memory_.take();
    GroupSlot& slot = groups_[unit.slot];
    slot.group = std::move(prepared_->group);
    take_chunks(slot, tiles_[*filling_], prepared_->chunks);
    prepared_.reset();
    tiling_.source_runs(slot.group, slot.runs);
    slot.sources.assign(slot.runs.size(), nullptr);
    pass_.strided ? list_spans(unit, slot) : list_runs(unit, slot);
    unit.last = next_group_ == tiles_[*filling_].tile.groups;
    if (unit.last) filling_.reset();
    return Next::ready;
  }

  void decode(run::Unit& unit) override {
    GroupSlot& slot = groups_[unit.slot];
    if (pass_.strided) unpack(slot, group_memory_[unit.slot]);
    if (comparison_ != nullptr)
      for (size_t r = 0; r < slot.runs.size(); ++r)
        comparison_->subtract_source(slot.runs[r].offset * element_bytes_, slot.sources[r],
                                     slot.runs[r].length * element_bytes_);
    kernel_lengths(tiling_, slot.group, slot.lengths);
    kernel_(slot.sources.data(), slot.targets.data(), slot.lengths, slot.group.target_offset);
  }

  void decoded(run::Unit& unit) override { group_memory_.give_back(unit.slot); }

  // --- writing: run by run; runs that follow each other are one

  // Gathers the next bytes of the target from their chunks into a slot, and frees the chunks. The slot is
  // laid out like the file's blocks.
  Next next_write(uint64_t number, run::Write& write) override {
    TileSlot& tile = tiles_[number];
    writing_.skip_empty(tile.runs);
    if (writing_.run == tile.runs.size()) {
      free_tiles_.give_back(number);
      writing_ = {};
      return Next::end;
    }
    if (writes_.available() == 0) return Next::later;
    const uint64_t from = target_begin(tile.runs[writing_.run]) + writing_.bytes;
    const uint64_t part = parts_ == nullptr ? 0 : from / part_bytes_;
    const io::File* const file = parts_ == nullptr ? &target_.file : parts_->use(part);
    if (file == nullptr) return Next::later;
    write.slot = writes_.take();
    written_parts_[write.slot] = part;
    const uint64_t offset = target_.offset + from - part * part_bytes_;
    const uint64_t within = offset % rules_.write_alignment;
    std::byte* const data = writes_[write.slot] + within;
    uint64_t most = std::min(plan::largest_request, pass_.write_slot_bytes) - within;
    if (parts_ != nullptr) most = std::min(most, (part + 1) * part_bytes_ - from);
    const uint64_t to = gather_runs(tile, from, from + most, data);
    write.range = {file, offset, to - from, data};
    return Next::ready;
  }

  void written(const run::Write& write) override {
    if (parts_ != nullptr) parts_->release(written_parts_[write.slot]);
    writes_.give_back(write.slot);
  }

 private:
  void list_runs(run::Unit& unit, GroupSlot& slot) {
    for (size_t r = 0; r < slot.runs.size(); ++r) {
      const uint64_t begin = sources_[0].offset + slot.runs[r].offset * element_bytes_;
      std::byte* const data =
          group_memory_[unit.slot] + r * pass_.group_pitch + begin % rules_.read_alignment;
      slot.sources[r] = data;
      unit.reads.push_back({&sources_[0].file, begin, slot.runs[r].length * element_bytes_, data});
    }
  }

  // The spans of a run follow each other in the run's part of the slot, each with room for whole blocks.
  void list_spans(run::Unit& unit, GroupSlot& slot) {
    const uint64_t block = rules_.read_alignment;
    slot.spans.clear();
    for (size_t r = 0; r < slot.runs.size(); ++r) {
      std::byte* place = group_memory_[unit.slot] + r * pass_.group_pitch;
      const auto add = [&](size_t file, const plan::StridedSource&, const plan::StridedSource::Box& box) {
        const uint64_t begin = sources_[file].offset + box.begin, within = begin % block;
        unit.reads.push_back({&sources_[file].file, begin, box.bytes, place + within});
        slot.spans.push_back(place + within);
        place += round_up(within + box.bytes, block);
      };
      pass_.strided->for_each_box(slot.runs[r].offset * element_bytes_, slot.runs[r].length * element_bytes_,
                                  add);
    }
  }

  // Puts what was read for each run together behind it.
  void unpack(GroupSlot& slot, std::byte* memory) const {
    const std::byte* const* span = slot.spans.data();
    for (size_t r = 0; r < slot.runs.size(); ++r) {
      std::byte* const end = memory + (r + 1) * pass_.group_pitch;
      slot.sources[r] =
          kernel::unpack_run(*pass_.strided, slot.runs[r].offset * element_bytes_,
                             slot.runs[r].length * element_bytes_, span, end - pass_.unpacked_bytes);
    }
  }

  // Begins the next group, or the next tile with its first group, but takes no memory yet.
  Next prepare_group() {
    if (!filling_) {
      if (next_tile_ == last_tile_) return Next::end;
      if (free_tiles_.available() == 0) return Next::later;
      filling_ = free_tiles_.take();
      next_group_ = 0;
      begin_tile(tiles_[*filling_], next_tile_++);
    }
    const TileSlot& tile = tiles_[*filling_];
    prepared_ = Prepared{};
    prepared_->group = tiling_.group(tile.tile, next_group_++);
    plan::target_chunks(tiling_, pass_.chunk, prepared_->group, prepared_->chunks);
    const auto is_missing = [&](uint64_t chunk) { return tile.chunks[chunk] == nullptr; };
    prepared_->missing = static_cast<size_t>(std::ranges::count_if(prepared_->chunks, is_missing));
    return Next::ready;
  }

  void begin_tile(TileSlot& slot, uint64_t number) {
    slot.tile = tiling_.tile(number);
    tiling_.target_runs(slot.tile, slot.runs);
    slot.chunks.assign(slot.runs.size() * pass_.chunk.per_run, nullptr);
  }

  // The kernel numbers chunks from the group's first. It gets its own array of pointers, because later groups
  // add chunks to the tile's array while it runs.
  void take_chunks(GroupSlot& slot, TileSlot& tile, const std::vector<uint64_t>& chunks) {
    const plan::RunStride& shift = slot.group.target_shift;
    const uint64_t first = shift.runs * pass_.chunk.per_run + shift.elements / pass_.chunk.elements;
    const uint64_t within = shift.elements % pass_.chunk.elements * element_bytes_;
    slot.targets.resize(tile.chunks.size());
    for (const uint64_t chunk : chunks) {
      if (tile.chunks[chunk] == nullptr) tile.chunks[chunk] = chunks_[chunks_.take()];
      slot.targets[chunk - first] = tile.chunks[chunk] + within;
    }
  }

  // Bytes of the target are counted from where its data begin.
  uint64_t target_begin(const plan::Run& run) const { return run.offset * element_bytes_; }

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

  // How far the runs of a tile have been gathered.
  struct Cursor {
    uint64_t run = 0, bytes = 0;  // the next run, and the bytes of it already gathered

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
  // The next group, until there is room for it.
  struct Prepared {
    plan::Group group;
    std::vector<uint64_t> chunks;  // those it touches
    size_t missing = 0;            // of these, how many no earlier group has touched
  };

  const plan::Pass& pass_;
  const plan::Tiling& tiling_;
  std::vector<io::Location> sources_;
  io::Location target_;
  verify::Comparison* comparison_;
  io::OutputFiles* parts_;
  uint64_t part_bytes_;
  uint64_t element_bytes_;
  run::Rules rules_;
  kernel::Kernel kernel_;

  PassMemory where_;
  Pool group_memory_, chunks_, writes_;
  std::vector<GroupSlot> groups_;
  run::Numbers free_tiles_;
  std::vector<TileSlot> tiles_;
  std::vector<uint64_t> written_parts_;  // by the slots of writes

  uint64_t next_tile_, last_tile_;
  std::optional<size_t> filling_;  // the tile whose groups are being read
  uint64_t next_group_ = 0;        // of it
  std::optional<Prepared> prepared_;
  Cursor writing_;  // in the tile that is being written
};

}  // namespace

io::BlockMemory memory_for(const std::vector<plan::Pass>& passes) {
  uint64_t most = 0;
  for (const plan::Pass& pass : passes) most = std::max(most, PassMemory(pass).bytes);
  return io::BlockMemory(most, io::BlockMemory::Resident::as_used);
}

void run_pass(const plan::Pass& pass, const PassFiles& files, io::Queue& queue,
              const run::Environment& environment) {
  if (!run_tiles(pass, {0, pass.tiling.tile_count()}, files, queue, environment).empty())
    throw Error("internal error: blocks were left incomplete");
}

std::vector<io::BlockPart> run_tiles(const plan::Pass& pass, TileRange tiles, const PassFiles& files,
                                     io::Queue& queue, const run::Environment& environment) {
  if (tiles.first == tiles.last) return {};
  TilePass tile_pass(pass, tiles, files, environment.memory);
  const uint64_t begin = files.target.offset;
  const uint64_t end = begin + (files.parts == nullptr ? pass.tiling.what().bytes() : files.part_bytes);
  io::Carry carry(begin, end, files.write_alignment, pass.carry_bytes);
  run::execute(tile_pass, carry, queue, environment);
  return carry.take_rest();
}

}  // namespace xorder::tiles
