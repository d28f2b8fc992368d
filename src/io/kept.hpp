// Files that a resumable run keeps beside its output until it has ended: what is there of the output, scratch
// files, and the journal that says how much of them is finished.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "io/descriptor.hpp"

namespace xorder::io {

class Disk;

/// The name of such a file: ".NAME.xorder-WHAT".
std::string kept_name(int directory_fd, const std::string& name, const std::string& what);

/// Tells a file or directory from others, for WHAT in a directory where others of the same NAME may lie.
/// Throws IoError.
std::string identity(const std::filesystem::path& path);

enum class Kept { made, opened };

/// Makes an empty file of this name in place of one that may be there, or opens the one that is there, for
/// reading and writing. The file is locked as long as it is open: throws InputError if another run has the
/// lock, or the file cannot be made or opened.
Descriptor open_kept(Disk& disk, int directory_fd, const std::filesystem::path& directory,
                     const std::string& kept, mode_t mode, Kept how);

/// Locks a file as long as it is open. Throws InputError if another run has the lock. (Some network file
/// systems have no locks.)
void lock_file(int fd, const std::string& path);

/// Whether a run has the lock of this file.
bool in_use(const std::filesystem::path& kept);

}  // namespace xorder::io
