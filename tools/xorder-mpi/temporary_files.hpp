// Files that have names only for now, and go first when this process is told to end.
#pragma once

#include <filesystem>
#include <vector>

namespace xorder::cli {

/// From now on these, in place of those before.
void set_temporary_files(const std::vector<std::filesystem::path>& files);

/// SIGINT, SIGTERM and SIGHUP remove the temporary files and end the process, at once and without a word:
/// MPI's launcher sends them to all ranks when one of them has died, or ctrl-C was pressed, allows about a
/// second, and says itself what has happened. The main thread may then be waiting for a rank that is no more.
void remove_temporary_files_on_signals();

}  // namespace xorder::cli
