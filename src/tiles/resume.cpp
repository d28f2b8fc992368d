#include "xorder/tiles/resume.hpp"

#include <fmt/format.h>

#include <optional>

#include "io/disk.hpp"
#include "text/json_text.hpp"
#include "tiles/state_json.hpp"
#include "work/journal.hpp"
#include "work/remembered.hpp"
#include "work/resuming.hpp"
#include "xorder/error.hpp"
#include "xorder/tiles/in_place.hpp"
#include "xorder/tiles/job.hpp"

namespace xorder::tiles {
namespace {

std::unique_ptr<work::Work> job_of(const std::filesystem::path& path, InPlace how) {
  const work::Journal journal = work::unfinished(path.string(), how == InPlace::roll_back);
  if (work::is_complete(journal, path)) {
    work::discard(journal, path, io::system_disk());
    throw InputError(fmt::format("{}: was complete already", path.string()));
  }
  work::Remembered job = work::remembered(journal, path.string());
  if (!journal.in_place)
    return std::make_unique<Job>(std::move(job.inputs), job.what, std::move(job.extents), path,
                                 std::move(job.options));
  return std::make_unique<InPlaceJob>(job.inputs.front(), job.what, job.extents, std::move(job.options), how);
}

}  // namespace

std::unique_ptr<work::Work> resume(const std::filesystem::path& path) {
  return job_of(path, InPlace::resume);
}

std::unique_ptr<work::Work> roll_back(const std::filesystem::path& file) {
  return job_of(file, InPlace::roll_back);
}

RunState state_of_run(const std::filesystem::path& path) {
  const std::optional<work::Journal> found = work::read_journal(path);
  if (!found)
    throw InputError(fmt::format(
        "{}: nothing to show: there is no journal of a run with --resumable or --in-place", path.string()));
  const work::Journal& journal = *found;
  const auto bytes = static_cast<double>(journal.bytes_done - journal.bytes_before);
  return {.running = work::is_running(path, &journal),
          .complete = work::is_complete(journal, path),
          .in_place = journal.in_place.has_value(),
          .process = journal.process,
          .bytes_done = journal.bytes_done,
          .bytes_total = journal.bytes_total,
          .seconds = journal.seconds,
          .rate = journal.seconds > 0 ? bytes / journal.seconds : 0,
          .words = journal.words,
          .directory = journal.directory};
}

std::string state_json(const std::string& output, const RunState& state) {
  return json_text(nlohmann::json{{"output", output},
                                  {"running", state.running},
                                  {"complete", state.complete},
                                  {"in_place", state.in_place},
                                  {"process", state.process},
                                  {"bytes_done", state.bytes_done},
                                  {"bytes_total", state.bytes_total},
                                  {"seconds", state.seconds},
                                  {"words", state.words},
                                  {"directory", state.directory}});
}

// A run that was killed as it began has an output, but no journal.
void discard_run(const std::filesystem::path& path) {
  const std::string name = path.string();
  if (work::is_running(path)) throw InputError(fmt::format("{}: its run is still going on", name));
  const std::optional<work::Journal> journal = work::read_journal(path);
  if (journal && journal->in_place) throw InputError(work::half_done(name, name));
  if (!journal && !work::has_output(path))
    throw InputError(
        fmt::format("{}: nothing to discard: there are no files of a run with --resumable", name));
  work::discard(journal.value_or(work::Journal{}), path, io::system_disk());
}

}  // namespace xorder::tiles
