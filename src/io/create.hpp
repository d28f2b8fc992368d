// Making a new file in a directory: nameless where the file system can, and with its space reserved.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "io/descriptor.hpp"

namespace xorder::io {

class Disk;

/// Opens a directory to create in. Throws InputError (for `name`) if it is missing, no directory or not
/// writable.
Descriptor open_directory(Disk& disk, const std::filesystem::path& directory, const std::string& name);

struct NewFile {
  Descriptor descriptor;
  /// The name in the directory; empty if it has none.
  std::string temporary;
};

/// A new empty file, open for reading and writing: nameless, or, if `named` or where the file system cannot
/// do that, as ".NAME.xorder-PID-N". `mode` is subject to the umask. Throws InputError (it is always early).
NewFile create_in(Disk& disk, int directory_fd, const std::filesystem::path& directory,
                  const std::string& name, mode_t mode, bool named);

/// A name ".NAME.xorder-PID-N" that fits the directory's limits; another one at each call.
std::string temporary_name(int directory_fd, const std::string& name);

/// Throws InputError if `bytes` certainly do not fit in the directory's file system, or exceed a limit on
/// file sizes.
void require_room(int directory_fd, const std::filesystem::path& directory, const std::string& name,
                  std::uint64_t bytes);

/// Gives the new file its size and reserves its blocks. Throws InputError if there is no room.
void reserve(Disk& disk, int fd, const std::filesystem::path& directory, const std::string& name,
             std::uint64_t bytes);

/// The path through which the kernel shows an open file of this process.
std::string proc_path(int fd);

/// "123 bytes", "1048577 bytes (1 MiB)".
std::string describe_bytes(std::uint64_t bytes);

/// The text of an errno value.
std::string reason(int code);

}  // namespace xorder::io
