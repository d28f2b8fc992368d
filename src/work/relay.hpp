// The path of the data through the passes of a run. Each pass reads what the one before has written: from the
// input through scratch files, in turn, to the output.
#pragma once

#include <cstddef>
#include <vector>

#include "io/file.hpp"
#include "work/run.hpp"

namespace xorder::work {

/// Counts passes from 0. For the thread of its Run.
class Relay {
 public:
  /// Makes the scratch files, plan::scratch_files(passes) of them, each for as much data as the output has.
  /// Since they last as long as this does, a run that begins with it takes all its space before it moves
  /// data. Collective in a team that shares the files. Throws InputError if there is no room.
  Relay(Run& run, std::size_t passes);

  /// What a pass reads and writes.
  io::Location source(std::size_t pass) const;
  io::Location target(std::size_t pass) const;
  /// Makes sure that the next pass, if there is one, can read what this one has written. Collective in a team
  /// that shares the files. Throws IoError.
  void finish(std::size_t pass) const;

 private:
  Run& run_;
  std::size_t passes_;
  std::vector<io::File> scratch_;
};

}  // namespace xorder::work
