#include "tiles/in_place_pass.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "rounding.hpp"
#include "run/executor.hpp"
#include "run/numbers.hpp"

namespace xorder::tiles {

using std::size_t;
using std::uint64_t;

namespace {

// Where slots lie in the memory.
struct InPlaceMemory {
  explicit InPlaceMemory(const plan::InPlacePass& p)
      : results(p.halves * p.tile_slots * p.slot_bytes()),
        patches(results + p.results * p.slot_bytes()),
        bytes(patches + plan::patch_slots * plan::patched_at_once * p.block) {}
  uint64_t results, patches, bytes;
};

using How = plan::InPlaceHop::How;

class MovingPass final : public run::Pass {
 public:
  MovingPass(const plan::InPlacePass& plan, io::Location file, const io::File& undo, std::byte* memory,
             const InPlaceKernels& kernels, const std::vector<TileLoad>& loads,
             const std::vector<TileMove>& moves)
      : plan_(plan),
        file_(file),
        undo_(undo),
        memory_(memory),
        kernels_(kernels),
        loads_(loads),
        moves_(moves),
        rules_{.read_alignment = plan.block,
               .write_alignment = plan.block,
               .read_bytes = plan.run_bytes,
               .write_bytes = plan.run_bytes,
               .decodes = true},
        free_results_(plan.results),
        results_(plan.results),
        result_of_(moves.size()) {}

  const run::Rules& rules() const override { return rules_; }

  // Steps are moves, followed by loads. As many moves begin as there is room for results.
  Next next_unit(run::Unit& unit) override {
    if (next_run_ == 0 && move_ < moves_.size() && (part_ > 0 || free_results_.available() > 0)) {
      if (part_ == 0) begin_move();
      const Result& result = results_[result_of_[move_]];
      unit.step = move_;
      unit.slot = part_++;
      unit.last = part_ == result.parts;
      if (unit.last) ++move_, part_ = 0;
      return Next::ready;
    }
    if (load_ == loads_.size()) return move_ < moves_.size() ? Next::later : Next::end;
    unit.step = moves_.size() + load_;
    unit.last = loads_[load_].from == TileLoad::From::undo ? read_undo(unit) : read_runs(unit);
    if (unit.last) ++load_;
    return Next::ready;
  }

  void decode(run::Unit& unit) override {
    if (unit.step >= moves_.size()) return;
    const plan::InPlaceHop& hop = moves_[unit.step].hop;
    const Result& result = results_[result_of_[unit.step]];
    if (hop.how != How::unchanged)
      kernels_[hop.how == How::back]->permute(result.tile, unit.slot);
    else if (hop.from != hop.to)
      copy(result);
  }

  Next next_write(uint64_t step, run::Write& write) override {
    if (step >= moves_.size()) {  // a whole slot, or nothing
      const TileLoad& load = loads_[step - moves_.size()];
      if (load.from != TileLoad::From::file_saving || std::exchange(saved_, !saved_)) return Next::end;
      write.range = {&undo_, load.undo_slot * plan_.slot_bytes(), plan_.slot_bytes(), slot(load.slot)};
      write.slot = results_.size();
      return Next::ready;
    }
    Result& result = results_[result_of_[step]];
    while (run_ < result.runs.size() && result.runs[run_].length == 0) ++run_;
    if (run_ == result.runs.size()) {
      run_ = 0;
      release(result_of_[step]);
      return Next::end;
    }
    write.range = range(result.runs[run_], result.tile.targets[run_]);
    write.slot = result_of_[step];
    ++result.uses;
    ++run_;
    return Next::ready;
  }

  void written(const run::Write& write) override {
    if (write.slot < results_.size()) release(write.slot);
  }

 private:
  struct Result {
    std::vector<plan::Run> runs;  // to be written
    InPlaceTile tile;
    uint64_t parts = 1;
    uint64_t uses = 0;  // writes in flight, and one more until all have begun
  };

  void release(size_t result) {
    if (--results_[result].uses == 0) free_results_.give_back(result);
  }
  std::byte* slot(uint64_t number) const { return memory_ + number * plan_.slot_bytes(); }
  uint64_t begin(const plan::Run& run) const {
    return file_.offset + run.offset * plan_.tiles.what().element_bytes;
  }
  run::Range range(const plan::Run& run, std::byte* data) const {
    return {&file_.file, begin(run), run.length * plan_.tiles.what().element_bytes, data};
  }
  // Each run lies as in the blocks of the file.
  std::byte* place(std::byte* slot, uint64_t number, const plan::Run& run) const {
    return run.length == 0 ? nullptr : slot + number * plan_.pitch + begin(run) % plan_.block;
  }

  void begin_move() {
    const TileMove& move = moves_[move_];
    const plan::InPlaceHop& hop = move.hop;
    const size_t number = result_of_[move_] = free_results_.take();
    Result& result = results_[number];
    InPlaceTile& tile = result.tile;
    plan_.tiles.runs(hop.from, result.runs);
    const size_t runs = result.runs.size();
    tile.sources.resize(runs);
    tile.targets.resize(runs);
    for (size_t r = 0; r < runs; ++r)
      tile.sources[r] = tile.targets[r] = place(slot(move.slot), r, result.runs[r]);
    result.parts = result.uses = 1;
    if (hop.how == How::unchanged && hop.from == hop.to) return;
    std::byte* const memory = memory_ + InPlaceMemory(plan_).results + number * plan_.slot_bytes();
    plan_.tiles.runs(hop.to, result.runs);
    for (size_t r = 0; r < runs; ++r) tile.targets[r] = place(memory, r, result.runs[r]);
    if (hop.how == How::unchanged) return;
    const bool back = hop.how == How::back;
    tile.number = hop.from;
    tile.lengths = plan_.tiles.lengths(hop.from, back);
    tile.offset = hop.offset;
    result.parts = kernels_[back]->parts(tile);
  }

  void copy(const Result& result) const {
    for (size_t r = 0; r < result.runs.size(); ++r) {
      if (result.runs[r].length > 0)
        std::memcpy(result.tile.targets[r], result.tile.sources[r],
                    result.runs[r].length * plan_.tiles.what().element_bytes);
    }
  }

  bool read_undo(run::Unit& unit) const {
    const TileLoad& load = loads_[load_];
    unit.reads.push_back({&undo_, load.undo_slot * plan_.slot_bytes(), plan_.slot_bytes(), slot(load.slot)});
    return true;
  }

  bool read_runs(run::Unit& unit) {
    const TileLoad& load = loads_[load_];
    if (next_run_ == 0) plan_.tiles.runs(load.tile, runs_);
    for (uint64_t i = 0; i < plan::runs_at_once && next_run_ < runs_.size(); ++next_run_) {
      const plan::Run& run = runs_[next_run_];
      if (run.length == 0) continue;
      unit.reads.push_back(range(run, place(slot(load.slot), next_run_, run)));
      ++i;
    }
    if (next_run_ < runs_.size()) return false;
    next_run_ = 0;
    return true;
  }

  const plan::InPlacePass& plan_;
  io::Location file_;
  const io::File& undo_;
  std::byte* memory_;
  const InPlaceKernels& kernels_;
  const std::vector<TileLoad>& loads_;
  const std::vector<TileMove>& moves_;
  run::Rules rules_;
  run::Numbers free_results_;
  std::vector<Result> results_;
  std::vector<size_t> result_of_;  // by moves

  size_t move_ = 0, load_ = 0;  // the next ones to begin
  uint64_t part_ = 0;           // of the move
  std::vector<plan::Run> runs_;
  uint64_t next_run_ = 0;  // of the load
  uint64_t run_ = 0;       // of the move that is being written
  bool saved_ = false;     // the load that is being written
};

// Reads blocks of which parts have other bytes now, and writes them.
class BlockPatchPass final : public run::Pass {
 public:
  BlockPatchPass(const io::File& file, uint64_t block, std::byte* memory, std::vector<io::BlockPart> parts)
      : file_(file),
        block_(block),
        memory_(memory),
        parts_(std::move(parts)),
        rules_{.read_alignment = block,
               .write_alignment = block,
               .read_bytes = block,
               .write_bytes = block,
               .decodes = true},
        free_(plan::patch_slots),
        slots_(plan::patch_slots) {
    std::ranges::sort(parts_, {}, &io::BlockPart::from);
  }

  const run::Rules& rules() const override { return rules_; }
  Next next_unit(run::Unit& unit) override {
    if (next_ == parts_.size()) return Next::end;
    if (free_.available() == 0) return Next::later;
    unit.step = free_.take();
    Slot& slot = slots_[unit.step];
    slot = {{}, next_, next_, 0, 1};
    while (slot.end < parts_.size()) {
      const uint64_t block = round_down(parts_[slot.end].from, block_);
      if (slot.blocks.empty() || slot.blocks.back() != block) {
        if (slot.blocks.size() == plan::patched_at_once) break;
        unit.reads.push_back({&file_, block, block_, data(unit.step, slot.blocks.size())});
        slot.blocks.push_back(block);
      }
      ++slot.end;
    }
    next_ = slot.end;
    return Next::ready;
  }
  void decode(run::Unit& unit) override {
    const Slot& slot = slots_[unit.step];
    for (size_t i = slot.begin, b = 0; i < slot.end; ++i) {
      const io::BlockPart& part = parts_[i];
      if (part.from >= slot.blocks[b] + block_) ++b;
      std::memcpy(data(unit.step, b) + (part.from - slot.blocks[b]), part.data.data(), part.data.size());
    }
  }
  Next next_write(uint64_t step, run::Write& write) override {
    Slot& slot = slots_[step];
    if (slot.writing == slot.blocks.size()) {
      release(step);
      return Next::end;
    }
    write.slot = step;
    write.range = {&file_, slot.blocks[slot.writing], block_, data(step, slot.writing)};
    ++slot.writing;
    ++slot.uses;
    return Next::ready;
  }
  void written(const run::Write& write) override { release(write.slot); }

 private:
  struct Slot {
    std::vector<uint64_t> blocks;
    size_t begin = 0, end = 0;  // their parts
    size_t writing = 0;         // the next block to be written
    uint64_t uses = 0;          // writes in flight, and one more until all have begun
  };
  void release(uint64_t slot) {
    if (--slots_[slot].uses == 0) free_.give_back(slot);
  }
  std::byte* data(uint64_t slot, uint64_t block) const {
    return memory_ + (slot * plan::patched_at_once + block) * block_;
  }

  const io::File& file_;
  uint64_t block_;
  std::byte* memory_;
  std::vector<io::BlockPart> parts_;
  run::Rules rules_;
  run::Numbers free_;
  std::vector<Slot> slots_;
  size_t next_ = 0;
};

}  // namespace

InPlaceMover::InPlaceMover(const plan::InPlacePass& plan, io::Location file, const io::File& undo)
    : plan_(plan),
      file_(file),
      undo_(undo),
      memory_(InPlaceMemory(plan).bytes, io::BlockMemory::Resident::as_used),
      kernels_(make_in_place_kernels(plan)) {}

InPlaceMover::~InPlaceMover() = default;

void InPlaceMover::perform(const std::vector<TileLoad>& loads, const std::vector<TileMove>& moves,
                           io::Queue& queue, task::Workers& workers, const std::function<void()>& tick,
                           std::stop_token stop) {
  const run::Environment environment{memory_, workers, tick, std::move(stop)};
  const uint64_t begin = file_.offset, end = begin + plan_.tiles.what().bytes();
  io::Carry carry(begin, end, plan_.block, plan_.carry_bytes);
  MovingPass pass(plan_, file_, undo_, memory_.data(), kernels_, loads, moves);
  run::execute(pass, carry, queue, environment);
  std::vector<io::BlockPart> rest = carry.take_rest();
  std::erase_if(rest, [&](const io::BlockPart& part) {  // the file may end within its block
    const bool last = round_down(part.from, plan_.block) + plan_.block > end;
    if (last) file_.file.write_exactly(part.data.data(), part.data.size(), part.from);
    return last;
  });
  if (rest.empty()) return;
  std::byte* const patches = memory_.data() + InPlaceMemory(plan_).patches;
  BlockPatchPass patch(file_.file, plan_.block, patches, std::move(rest));
  io::Carry none(begin, end, plan_.block, 0);
  run::execute(patch, none, queue, environment);
}

}  // namespace xorder::tiles
