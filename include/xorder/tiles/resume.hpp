// Goes on with runs that have not ended, whoever began them: a program, the command, the library of another
// language.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "xorder/work/work.hpp"

namespace xorder::tiles {

/// Makes the job again whose run, with work::Options::resumable or in place (in_place.hpp), has not ended.
/// `path` is its output, or the file in place. Its options are those of the run. run() goes on where the run
/// was and does nothing again that was finished. Throws InputError if there is no journal of such a run, it
/// is still going on, its output is complete (then only the journal was left, and is removed), or its inputs
/// are not what they were; if it is no reordering by tiles (the same job made again goes on with others); and
/// as the constructor of the job does.
std::unique_ptr<work::Work> resume(const std::filesystem::path& path);

/// The same for a run in place: run() puts back what has been moved.
std::unique_ptr<work::Work> roll_back(const std::filesystem::path& file);

/// How far a run with work::Options::resumable, or in place, has come.
struct RunState {
  bool running = false;   ///< if not, resume() goes on with it
  bool complete = false;  ///< only its journal has been left
  bool in_place = false;  ///< roll_back() can restore the file, too
  std::uint64_t process = 0;
  std::uint64_t bytes_done = 0, bytes_total = 0;  ///< read and written, at its last checkpoint
  double seconds = 0;                             ///< since this process has begun or gone on with it
  double rate = 0;                                ///< bytes per second since then; 0 if nothing is known
  std::vector<std::string> words;                 ///< the command line; empty if it was no command
  std::string directory;                          ///< where that was given
};

/// Reads the journal beside `path`, the output of the run or the file in place. Throws InputError if there is
/// none, or it cannot be read.
RunState state_of_run(const std::filesystem::path& path);

/// Removes the files of a run that has not ended. Throws InputError if there are none, it is still going on,
/// or it is in place, and IoError.
void discard_run(const std::filesystem::path& path);

}  // namespace xorder::tiles

namespace xorder {
using tiles::discard_run;
using tiles::resume;
using tiles::roll_back;
using tiles::RunState;
using tiles::state_of_run;
}  // namespace xorder
