// Files with temporary names, which are removed if this process ends suddenly.
#pragma once

#include <filesystem>
#include <vector>

namespace xorder::cli {

/// Sets the temporary files; replaces those set before.
void set_temporary_files(const std::vector<std::filesystem::path>& files);

/// Makes the handler of std::terminate() remove the temporary files first. Makes SIGINT, SIGTERM and SIGHUP
/// remove them and end the process at once, without a message. MPI's launcher sends these signals to all
/// ranks when one of them has died or ctrl-C was pressed. It allows about a second, and reports itself what
/// happened. The main thread may be waiting for a rank that has died.
void remove_temporary_files_at_sudden_ends();

}  // namespace xorder::cli
