// In each round of a run in place, one batch of tiles (or one half of it) is written to its places while the
// next one is read and saved. A round ends when both have been synced and the journal says so.
//
// A batch goes through two phases. In phase 1 the places of saved tiles are overwritten, in phase 2 those of
// the others. Nothing is lost at any moment:
//   - A saved tile is in the undo area, which was synced before phase 1.
//   - Another one is at its place throughout phase 1. What comes after it in its cycle is saved, so its
//     permuted content was written there in phase 1, and synced; that stays throughout phase 2. The inverse
//     permutation makes the tile from it.
//   - What comes before it is saved, so phase 2 needs only the undo area.
// So a batch can be finished or restored from either phase. To restore it, phase 2 is undone first.
#include "xorder/tiles/in_place.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>

#include "io/create.hpp"
#include "io/disk.hpp"
#include "io/kept.hpp"
#include "plan/tiles/in_place.hpp"
#include "task/workers.hpp"
#include "text/count_text.hpp"
#include "text/size_text.hpp"
#include "tiles/in_place_pass.hpp"
#include "work/frame.hpp"
#include "work/resuming.hpp"
#include "work/run.hpp"
#include "xorder/error.hpp"

namespace xorder::tiles {

using std::uint64_t;

namespace {

using Loads = std::vector<TileLoad>;
using Moves = std::vector<TileMove>;
using From = TileLoad::From;
using How = TileMove::How;

How permuted(bool back) { return back ? How::back : How::forward; }

// One batch of a plan: what is to be loaded and moved in each phase.
class Batch {
 public:
  Batch(const plan::InPlacePlan& plan, uint64_t number) : plan_(plan) {
    const uint64_t half = number % plan.halves();
    uint64_t slot = half * plan.tile_slots, undo_slot = half * plan.undo_slots;
    for (uint64_t i = plan.batches[number]; i < plan.batches[number + 1]; ++i) {
      const bool saved = plan.saved[i];
      members_.push_back({plan.order[i], slot++, saved, undo_slot});
      saved_.emplace(plan.order[i], saved);
      undo_slot += saved;
    }
  }

  bool has_phases() const {
    return std::ranges::any_of(members_, [](const Member& m) { return !m.saved; });
  }
  void load_saved(From from, Loads& loads) const {
    for (const Member& m : members_) {
      if (m.saved) loads.push_back({m.slot, m.tile, from, m.undo_slot});
    }
  }
  void load_others(Loads& loads) const {
    for (const Member& m : members_) {
      if (!m.saved) loads.push_back({m.slot, m.tile, From::file, 0});
    }
  }
  // Loads what has become of them.
  void load_others_permuted(bool back, Loads& loads) const {
    for (const Member& m : members_) {
      if (!m.saved) loads.push_back({m.slot, plan_.tiles.target(m.tile, back).tile, From::file, 0});
    }
  }
  Moves permute(bool back, int phase) const {
    Moves moves;
    for (const Member& m : members_) {
      if (saved_.at(plan_.tiles.target(m.tile, back).tile) == (phase == 1))
        moves.push_back({m.slot, m.tile, permuted(back)});
    }
    return moves;
  }
  Moves restore(bool back, int phase) const {
    Moves moves;
    for (const Member& m : members_) {
      if (phase == 1 && m.saved) moves.push_back({m.slot, m.tile, How::unchanged});
      if (phase == 2 && !m.saved)
        moves.push_back({m.slot, plan_.tiles.target(m.tile, back).tile, permuted(!back)});
    }
    return moves;
  }

 private:
  struct Member {
    uint64_t tile, slot;
    bool saved;
    uint64_t undo_slot;
  };
  const plan::InPlacePlan& plan_;
  std::vector<Member> members_;
  std::map<uint64_t, bool> saved_;  // by tile
};

const char* word_for(InPlace how) {
  return how == InPlace::begin ? nullptr : how == InPlace::resume ? "resume" : "roll back";
}

work::Frame framed_in_place(const io::ArrayFile& file, const Reordering& what,
                            const std::vector<uint64_t>& extents, work::Options options, InPlace how) {
  work::check_sizes(what.bytes(), {&file, 1}, extents);
  if (extents != file.description.extents)
    throw InputError(
        fmt::format("{}: the result has the shape ({}), the file has ({}); in place the shape stays; name "
                    "another file as "
                    "OUT",
                    file.path.string(), fmt::join(extents, ", "), fmt::join(file.description.extents, ", ")));
  work::Frame frame = work::settle_in_place(file, std::move(options));
  work::settle_in_place_journal(frame, what, extents, word_for(how));
  return frame;
}

// Whether all elements stay where they are.
bool is_identity(const Reordering& what) {
  const Reordering r = canonical(what);
  return r.elements() <= 1 || (!r.mapped && std::ranges::is_sorted(r.order));
}

}  // namespace

InPlaceJob::InPlaceJob(const io::ArrayFile& file, const Permutation& permutation, work::Options options,
                       InPlace how)
    : InPlaceJob(permutation(file.description.shape()), file, std::move(options), how) {}

InPlaceJob::InPlaceJob(const Permuted& permuted, const io::ArrayFile& file, work::Options options,
                       InPlace how)
    : InPlaceJob(file, stored_in(file.description.order(), permuted.reordering, permuted.extents),
                 permuted.extents, std::move(options), how) {}

InPlaceJob::InPlaceJob(const io::ArrayFile& file, const Reordering& what,
                       const std::vector<uint64_t>& extents, work::Options options, InPlace how)
    : Work(framed_in_place(file, what, extents, std::move(options), how)), how_(how) {
  if (is_identity(what)) return;
  try {
    plan_ = std::make_unique<plan::InPlacePlan>(plan::make_in_place_plan(what, frame().setting));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", file.path.string(), error.what()));
  }
  if (plan_->memory() > frame().allowed_memory)
    throw InputError(fmt::format("to go on with the earlier run takes {} of memory; {} can be used",
                                 size_text(plan_->memory()), size_text(frame().allowed_memory)));
}

InPlaceJob::~InPlaceJob() = default;
InPlaceJob::InPlaceJob(InPlaceJob&&) noexcept = default;
InPlaceJob& InPlaceJob::operator=(InPlaceJob&&) noexcept = default;

std::string InPlaceJob::describe() const {
  if (!plan_) return "nothing moves\n";
  const plan::PassSummary pass = plan_->summary();
  return fmt::format(
      "{} of data in place: {} of {} in {}, read and written in blocks of {}\n"
      "        undo area of {} in {}\n"
      "        memory {}\n"
      "        about {:.3g} s on {}\n",
      size_text(plan_->tiles.what().bytes()), count_text(pass.tiles, "tile"), size_text(pass.tile_bytes),
      count_text(plan_->batch_count(), "batch"), size_text(plan_->run_bytes), size_text(scratch_bytes()),
      frame().scratch_directory().string(), size_text(pass.memory), plan_->seconds,
      frame().setting.device.name);
}

std::vector<work::PassSummary> InPlaceJob::passes() const {
  if (!plan_) return {};
  return {plan_->summary()};
}

uint64_t InPlaceJob::scratch_bytes() const { return plan_ ? plan_->undo_bytes() : 0; }

void InPlaceJob::move(work::Run& run) {
  if (!plan_) return;
  const auto begun = std::chrono::steady_clock::now();
  const bool back = how_ == InPlace::roll_back;
  const io::File& file = run.target().file;
  io::Disk& disk = file.disk();
  const std::filesystem::path& path = frame().output.path;
  work::Journal& journal = *frame().journal;
  work::begin_in_place(frame(), plan_->text(), plan_->batch_count());
  work::InPlaceProgress& at = *journal.in_place;
  const std::filesystem::path area = journal.scratch.front();
  const uint64_t batches = plan_->batch_count(), bytes = plan_->summary().bytes_read + plan_->bytes_written();
  const auto done_bytes = [&] { return bytes / batches * (back ? batches - at.done : at.done); };
  run.begin(bytes, 1, done_bytes());
  if (how_ != InPlace::begin)
    run.say(fmt::format("{} of {} had the new order", at.done, count_text(batches, "batch")));

  try {
    const io::File undo =
        io::File::kept(area.parent_path(), area.filename().string(), "undo area", plan_->undo_bytes(),
                       frame().access.target, at.saved ? io::Kept::opened : io::Kept::made, disk);
    if (undo.stamp().size != plan_->undo_bytes() || undo.offset_alignment() > plan_->block)
      throw InputError(fmt::format("{}: is not the undo area that the run needs", area.string()));
    if (!at.saved) {  // its name must not be lost
      const io::Descriptor directory = io::open_directory(disk, area.parent_path(), "undo area");
      if (const int code = disk.sync(directory.get()); code != 0 && code != EINVAL && code != ENOTSUP)
        throw IoError(area.parent_path().string(), "fsync", code);
    }

    task::Workers workers(frame().options.threads);
    run.say(workers.note());
    const auto queue = run.queue(static_cast<unsigned>(2 * frame().setting.device.depth));
    InPlaceMover mover(*plan_, run.target(), undo);
    const auto perform = [&](const Loads& loads, const Moves& moves) {
      mover.perform(
          loads, moves, *queue, workers, [&] { run.tick(); }, run.stop());
      if (!moves.empty()) file.sync();
      if (std::ranges::find(loads, From::file_saving, &TileLoad::from) != loads.end()) undo.sync();
    };
    const auto record = [&] {
      journal.bytes_done = done_bytes();
      journal.bytes_total = bytes;
      journal.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
      work::write_journal(journal, path, disk);
      journal.exists = true;
    };

    // The batch in flight, and whether it gets back what was saved or goes on as it was to.
    const auto make = [&](const std::optional<uint64_t>& number) {
      return number ? std::make_unique<Batch>(*plan_, *number) : nullptr;
    };
    std::unique_ptr<Batch> batch = make(at.saved);
    bool restores = batch && at.back != back;
    if (batch) {
      Loads loads;
      batch->load_saved(From::undo, loads);
      if (!restores && at.phase == 1) batch->load_others(loads);
      if (restores && at.phase == 2) batch->load_others_permuted(at.back, loads);
      perform(loads, {});
    }
    bool next_is_saved = false;
    for (;;) {
      const uint64_t done = !batch || restores ? at.done : back ? at.done - 1 : at.done + 1;
      std::optional<uint64_t> next;
      if (back ? done > 0 : done < batches) next = back ? done - 1 : done;
      if (!batch && !next) break;
      const bool last = !batch || !batch->has_phases() || at.phase == (restores ? 1 : 2);
      Loads loads;
      std::unique_ptr<Batch> coming = make(next);
      if (coming && !std::exchange(next_is_saved, !last)) coming->load_saved(From::file_saving, loads);
      if (coming && last) coming->load_others(loads);
      Moves moves;
      if (batch) moves = restores ? batch->restore(at.back, at.phase) : batch->permute(back, at.phase);
      perform(loads, moves);
      if (last) {
        at = {batches, done, next, back, 1};
        batch = std::move(coming);
        restores = false;
      } else {
        at.phase = restores ? 1 : 2;
      }
      record();
    }
    work::discard(journal, path, disk);
    journal.exists = false;
  } catch (...) {
    if (!journal.exists) {  // nothing has been overwritten
      try {
        work::discard(journal, path, disk);
      } catch (const Error&) {  // the first failure is the one to tell
      }
    }
    throw;
  }
}

}  // namespace xorder::tiles
