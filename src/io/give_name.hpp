// How new files get their names, in a directory that is open: it stays the same even if its path changes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace xorder::io {

class Disk;

/// Gives a nameless file a name that is free. Returns 0 or an errno.
int link_nameless(Disk& disk, int directory, int descriptor, const std::string& name);

/// Gives a new file a name that is free: renames it if it has a `temporary` name, which then becomes empty,
/// and links it by its descriptor if it has none. Returns 0 or an errno, EEXIST if the name is taken.
int give_name(Disk& disk, int directory, int descriptor, std::string& temporary, const std::string& name);

/// Removes the name if it leads to this file.
void remove_name(Disk& disk, int directory, const std::string& name, std::uint64_t device,
                 std::uint64_t inode);

/// Syncs the directory of a file that has got its name. Throws IoError, saying that the file is complete, if
/// that fails, or if the directory has another path by now.
void sync_directory(Disk& disk, int directory, const std::filesystem::path& file);

}  // namespace xorder::io
