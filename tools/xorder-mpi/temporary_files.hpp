// Files with temporary names, which are removed if a signal ends this process.
#pragma once

#include <filesystem>
#include <vector>

namespace xorder::cli {

/// Sets the temporary files; replaces those set before.
void set_temporary_files(const std::vector<std::filesystem::path>& files);

/// Makes SIGINT, SIGTERM and SIGHUP remove the temporary files and end the process at once, without a
/// message. MPI's launcher sends these signals to all ranks when one of them has died or ctrl-C was pressed.
/// It allows about a second, and reports itself what happened. The main thread may be waiting for a rank that
/// has died.
void remove_temporary_files_on_signals();

}  // namespace xorder::cli
