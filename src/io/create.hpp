// Makes new files in a directory: nameless where the file system supports it, with their space reserved.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "io/descriptor.hpp"

namespace xorder::io {

class Disk;

/// Opens a directory to create files in. Throws InputError if it is missing, not a directory or not writable.
/// The message mentions `name`.
Descriptor open_directory(Disk& disk, const std::filesystem::path& directory, const std::string& name);

struct NewFile {
  Descriptor descriptor;
  /// The name in the directory; empty if it has none.
  std::string temporary;
};

/// Makes an empty file and opens it for reading and writing. It is nameless if the file system supports that
/// and `named` is false; otherwise its name is ".NAME.xorder-PID-N". `mode` is subject to the umask. Throws
/// InputError.
NewFile create_in(Disk& disk, int directory_fd, const std::filesystem::path& directory,
                  const std::string& name, mode_t mode, bool named);

/// ".NAME" and the suffix, with NAME cut to the directory's limit.
std::string hidden_name(int directory_fd, const std::string& name, const std::string& suffix);
/// The hidden name ".NAME.xorder-PID-N". Each call returns another name.
std::string temporary_name(int directory_fd, const std::string& name);
/// Whether `candidate` may be a name that temporary_name() has made of `name`, in this or another process.
bool is_temporary_name(std::string_view candidate, std::string_view name);

/// Throws InputError if `bytes` certainly do not fit in the directory's file system.
void require_free(int directory_fd, const std::filesystem::path& directory, const std::string& name,
                  std::uint64_t bytes);
/// The same for one file, whose size must not exceed a limit on file sizes either.
void require_room(int directory_fd, const std::filesystem::path& directory, const std::string& name,
                  std::uint64_t bytes);

/// Bytes free for this process in the file system of `fd`, if the file system reports them. In tmpfs no more
/// than there is memory and swap space.
std::optional<std::uint64_t> free_bytes(int fd);

/// Gives the new file its size and reserves its blocks. Throws InputError if there is no room.
void reserve(Disk& disk, int fd, const std::filesystem::path& directory, const std::string& name,
             std::uint64_t bytes);

/// The path under /proc of an open file of this process.
std::string proc_path(int fd);

/// "123 bytes", "1048577 bytes (1 MiB)".
std::string describe_bytes(std::uint64_t bytes);

/// What is not a regular file: "a FIFO".
const char* kind_of_file(mode_t mode);

}  // namespace xorder::io
