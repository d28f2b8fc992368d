#include "xorder/tiles/resume.hpp"

#include <fmt/format.h>

#include "io/disk.hpp"
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

}  // namespace xorder::tiles
