// Goes on with runs that have not ended, whoever began them: a program, the command, the library of another
// language.
#pragma once

#include <filesystem>
#include <memory>

#include "xorder/work/work.hpp"

namespace xorder::tiles {

/// Makes the job again whose run, with work::Options::resumable or in place (in_place.hpp), has not ended.
/// `path` is its output, or the file in place. Its options are those of the run. run() goes on where the run
/// was and does nothing again that was finished. Throws InputError if there is no journal of such a run, it
/// is still going on, its output is complete (then only the journal was left, and is removed), or its inputs
/// are not what they were; and as the constructor of the job does.
std::unique_ptr<work::Work> resume(const std::filesystem::path& path);

/// The same for a run in place: run() puts back what has been moved.
std::unique_ptr<work::Work> roll_back(const std::filesystem::path& file);

}  // namespace xorder::tiles

namespace xorder {
using tiles::resume;
using tiles::roll_back;
}  // namespace xorder
