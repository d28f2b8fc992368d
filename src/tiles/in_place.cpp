// In each round of a run in place, one batch of tiles (or one half of it) is written to its places while the
// next one is read and saved. A round ends when both have been synced and the journal says so. Batches are
// numbered through all passes. The last one may be that of the header, which has no tiles.
#include "xorder/tiles/in_place.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>

#include "io/create.hpp"
#include "io/disk.hpp"
#include "io/format/npy_header.hpp"
#include "io/kept.hpp"
#include "plan/tiles/in_place.hpp"
#include "task/workers.hpp"
#include "text/count_text.hpp"
#include "text/seconds_text.hpp"
#include "text/size_text.hpp"
#include "tiles/in_place_batch.hpp"
#include "tiles/in_place_pass.hpp"
#include "work/frame.hpp"
#include "work/remembered.hpp"
#include "work/resuming.hpp"
#include "work/run.hpp"
#include "xorder/error.hpp"

namespace xorder::tiles {

using std::size_t;
using std::uint64_t;

namespace {

using Loads = std::vector<TileLoad>;
using Moves = std::vector<TileMove>;
using From = TileLoad::From;

const char* word_for(InPlace how) {
  return how == InPlace::begin ? nullptr : how == InPlace::resume ? "resume" : "roll back";
}

work::Frame framed_in_place(const io::ArrayFile& file, const Reordering& what,
                            const std::vector<uint64_t>& extents, work::Options options, InPlace how) {
  work::check_sizes(what.bytes(), {&file, 1}, extents);
  work::Frame frame = work::settle_in_place(file, std::move(options));
  const io::ArrayDescription& array = file.description;
  try {
    if (file.format == io::Format::npy && extents != array.extents)
      frame.output.header = io::npy_header_of(array.offset, array.dtype, extents, array.order());
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}; name another file as OUT", file.path.string(), error.what()));
  }
  work::settle_in_place_journal(frame, what, extents, word_for(how));
  return frame;
}

// Whether all elements stay where they are.
bool is_identity(const Reordering& what) {
  const Reordering r = canonical(what);
  return r.elements() <= 1 || (!r.mapped && std::ranges::is_sorted(r.order));
}

// The undo area, new or an earlier run's.
io::File undo_area(const work::Frame& frame, const plan::InPlacePlan& plan, bool exists) {
  const uint64_t bytes = plan.undo_bytes(), block = plan.passes.empty() ? bytes : plan.passes.front().block;
  const std::filesystem::path& area = frame.journal->scratch.front();
  io::File undo =
      io::File::kept(area.parent_path(), area.filename().string(), "undo area", bytes, frame.access.target,
                     exists ? io::Kept::opened : io::Kept::made, frame.disk());
  if (undo.stamp().size != bytes || undo.offset_alignment() > block)
    throw InputError(fmt::format("{}: is not the undo area that the run needs", area.string()));
  if (!exists) {  // its name must not be lost
    const io::Descriptor directory = io::open_directory(frame.disk(), area.parent_path(), "undo area");
    if (const int code = frame.disk().sync(directory.get()); code != 0 && code != EINVAL && code != ENOTSUP)
      throw IoError(area.parent_path().string(), "fsync", code);
  }
  return undo;
}

// What a run moves, in the file and in the undo area.
class MovedFile {
 public:
  MovedFile(const plan::InPlacePlan& plan, work::Run& run, io::File undo, unsigned depth, unsigned threads)
      : plan_(plan), run_(run), undo_(std::move(undo)), workers_(threads), queue_(run.queue(depth)) {
    run.say(workers_.note());
  }

  /// Loads what belongs to one pass, or moves it, or both; and syncs that.
  void perform(size_t pass, const Loads& loads, const Moves& moves) {
    if (loads.empty() && moves.empty()) return;
    if (!mover_ || pass_ != pass) {
      mover_.reset();
      mover_.emplace(plan_.passes[pass_ = pass], run_.target(), undo_);
    }
    mover_->perform(
        loads, moves, *queue_, workers_, [&] { run_.tick(); }, run_.stop());
    if (!moves.empty()) run_.target().file.sync();
    if (std::ranges::find(loads, From::file_saving, &TileLoad::from) != loads.end()) undo_.sync();
  }

  void write_header(const std::string& header) {
    const io::File& file = run_.target().file;
    file.write_exactly(header.data(), header.size(), 0);
    file.sync();
  }

 private:
  const plan::InPlacePlan& plan_;
  work::Run& run_;
  io::File undo_;
  task::Workers workers_;
  std::unique_ptr<io::Queue> queue_;
  size_t pass_ = 0;
  std::optional<InPlaceMover> mover_;  // of that pass
};

}  // namespace

// The array as it was, and what becomes of it.
struct InPlaceJob::Begun {
  Begun(const io::ArrayFile& given, const Permutation& permutation, InPlace how)
      : file(how == InPlace::begin ? given : work::as_begun(given)),
        permuted(permutation(file.description.shape())) {}
  io::ArrayFile file;
  Permuted permuted;
};

InPlaceJob::InPlaceJob(const io::ArrayFile& file, const Permutation& permutation, work::Options options,
                       InPlace how)
    : InPlaceJob(Begun(file, permutation, how), std::move(options), how) {}

InPlaceJob::InPlaceJob(const Begun& begun, work::Options options, InPlace how)
    : InPlaceJob(begun.file,
                 stored_in(begun.file.description.order(), begun.permuted.reordering, begun.permuted.extents),
                 begun.permuted.extents, std::move(options), how) {}

InPlaceJob::InPlaceJob(const io::ArrayFile& file, const Reordering& what,
                       const std::vector<uint64_t>& extents, work::Options options, InPlace how)
    : Work(framed_in_place(file, what, extents, std::move(options), how)), how_(how) {
  const bool moves = !is_identity(what), header = !frame().output.header.empty();
  if (!moves && !header) return;
  try {
    plan_ = std::make_unique<plan::InPlacePlan>(moves ? plan::make_in_place_plan(what, frame().setting)
                                                      : plan::InPlacePlan());
    plan_->header = header;
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", file.path.string(), error.what()));
  }
  work::require_memory_to_go_on(frame(), plan_->memory());
}

InPlaceJob::~InPlaceJob() = default;
InPlaceJob::InPlaceJob(InPlaceJob&&) noexcept = default;
InPlaceJob& InPlaceJob::operator=(InPlaceJob&&) noexcept = default;

std::string InPlaceJob::describe() const {
  if (!plan_) return "nothing moves\n";
  if (plan_->passes.empty()) return "nothing moves but the header\n";
  std::string text = fmt::format("{} of data in place, in {}:\n", size_text(frame().output.bytes),
                                 count_text(plan_->passes.size(), "pass"));
  for (const plan::InPlacePass& pass : plan_->passes) {
    const plan::PassSummary figures = pass.summary();
    text += fmt::format("        {} of {} {} in {}, read and written in blocks of {}\n",
                        count_text(figures.tiles, "tile"), size_text(figures.tile_bytes),
                        pass.stays() ? "stay" : "change places", count_text(pass.batch_count(), "batch"),
                        size_text(pass.run_bytes));
  }
  return text + fmt::format(
                    "        undo area of {} in {}\n"
                    "        memory {}\n"
                    "        about {} on {}\n",
                    size_text(scratch_bytes()), frame().scratch_directory().string(),
                    size_text(plan_->memory()), seconds_text(plan_->seconds()), frame().setting.device.name);
}

std::vector<work::PassSummary> InPlaceJob::passes() const {
  std::vector<work::PassSummary> all;
  if (!plan_) return all;
  for (const plan::InPlacePass& pass : plan_->passes) all.push_back(pass.summary());
  return all;
}

uint64_t InPlaceJob::scratch_bytes() const { return plan_ ? plan_->undo_bytes() : 0; }

void InPlaceJob::move(work::Run& run) {
  if (!plan_) return;
  const auto begun = std::chrono::steady_clock::now();
  const bool back = how_ == InPlace::roll_back;
  work::Journal& journal = *frame().journal;
  work::begin_in_place(frame(), plan_->text(), plan_->batch_count());
  work::InPlaceProgress& at = *journal.in_place;
  const uint64_t batches = plan_->batch_count();
  if (how_ != InPlace::begin)
    run.say(fmt::format("{} of {} had the new order", at.done, count_text(batches, "batch")));
  try {
    MovedFile moved(*plan_, run, undo_area(frame(), *plan_, at.saved.has_value()),
                    static_cast<unsigned>(2 * frame().setting.device.depth), frame().options.threads);
    size_t entered = back ? plan_->passes.size() : ~size_t{0};
    const auto record = [&] {
      journal.pass = std::min(entered, plan_->passes.size());
      journal.bytes_total = plan_->bytes_at(batches);
      journal.bytes_done = back ? journal.bytes_total - plan_->bytes_at(at.done) : plan_->bytes_at(at.done);
      journal.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
      work::write_journal(journal, frame().output.path, frame().disk());
      journal.exists = true;
    };

    const auto enter = [&](size_t pass) {
      while (entered != pass && pass < plan_->passes.size()) {
        back ? --entered : ++entered;
        const uint64_t first = plan_->first_batch(entered), end = plan_->first_batch(entered + 1);
        const uint64_t before = plan_->bytes_at(first), bytes = plan_->bytes_at(end) - before;
        const uint64_t moved_bytes = plan_->bytes_at(std::clamp(at.done, first, end)) - before;
        run.begin(bytes, entered + 1, back ? bytes - moved_bytes : moved_bytes);
      }
    };

    // The batch in flight, and whether it gets back what was saved or goes on as it was to.
    const auto make = [&](const std::optional<uint64_t>& number, bool is_back) {
      return number ? std::make_unique<InPlaceBatch>(*plan_, *number, is_back) : nullptr;
    };
    std::unique_ptr<InPlaceBatch> batch = make(at.saved, at.back);
    bool restores = batch && at.back != back;
    if (batch) {
      Loads loads;
      batch->load_saved(From::undo, loads);
      if (!restores && at.phase == 1) batch->load_others(loads);
      if (restores && at.phase == 2) batch->load_others_moved(loads);
      moved.perform(batch->pass(), loads, {});
    }
    bool next_is_saved = false;
    for (;;) {
      const uint64_t done = !batch || restores ? at.done : back ? at.done - 1 : at.done + 1;
      std::optional<uint64_t> next;
      if (back ? done > 0 : done < batches) next = back ? done - 1 : done;
      if (!batch && !next) break;
      const bool last = !batch || !batch->has_phases() || at.phase == (restores ? 1 : 2);
      Loads loads;
      std::unique_ptr<InPlaceBatch> coming = make(next, back);
      if (coming && !std::exchange(next_is_saved, !last)) coming->load_saved(From::file_saving, loads);
      if (coming && last) coming->load_others(loads);
      Moves moves;
      if (batch) moves = restores ? batch->restore(at.phase) : batch->move(at.phase);
      const size_t pass = (loads.empty() && batch ? batch : coming)->pass();
      enter(pass);
      if (batch && batch->pass() == plan_->passes.size())
        moved.write_header(back ? journal.old_header : frame().output.header);
      moved.perform(pass, loads, moves);
      if (last) {
        at = {batches, done, next, back, 1};
        batch = std::move(coming);
        restores = false;
      } else {
        at.phase = restores ? 1 : 2;
      }
      record();
    }
    work::discard(journal, frame().output.path, frame().disk());
    journal.exists = false;
  } catch (...) {
    if (!journal.exists) {  // nothing has been overwritten
      try {
        work::discard(journal, frame().output.path, frame().disk());
      } catch (const Error&) {  // the first failure is the one to tell
      }
    }
    throw;
  }
}

}  // namespace xorder::tiles
