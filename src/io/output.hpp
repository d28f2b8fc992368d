// An output that exists under its name only when it is whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/file.hpp"

namespace xorder::io {

/// A file that is being made. Nothing of it can be seen until commit(): it is nameless (O_TMPFILE), so that
/// not even SIGKILL leaves anything behind; on file systems without O_TMPFILE it has a name
/// ".NAME.xorder-PID-N" beside the destination, which the destructor removes.
class Output {
 public:
  /// automatic: nameless where the file system can do that; temporary: as where it cannot (for tests).
  enum class Naming { automatic, temporary };

  /// Makes the file in the destination's directory and reserves `bytes` bytes. A destination that is a
  /// symbolic link is followed: its target will be replaced, or made if it does not exist. Throws InputError
  /// if the destination exists and `overwrite` is false, is not a regular file, or is the same file as
  /// `input` (also by symbolic or hard link); if its directory is missing or not writable; or if there is no
  /// room (how much is needed, how much is free). It is made on the input's disk.
  Output(const std::filesystem::path& destination, std::uint64_t bytes, bool overwrite, Access access,
         const File& input, Naming naming = Naming::automatic);
  /// The same for an output that is made from one input file or, where `input` is null, from none.
  Output(const std::filesystem::path& destination, std::uint64_t bytes, bool overwrite, Access access,
         Disk& disk, const File* input, Naming naming = Naming::automatic);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  const File& file() const { return *file_; }
  File& file() { return *file_; }
  /// Where the file can be opened until then; empty if it is nameless.
  std::filesystem::path temporary_path() const;
  /// Syncs the data, gives the file its name (atomically replacing an old one, whose permissions and, if
  /// allowed, owner it takes over) and syncs the directory. Without permission to overwrite, a destination
  /// that has appeared meanwhile is an error. Throws IoError; the destination is then as before, unless what
  /// failed was the last step, syncing the directory: then the new file is in place, but may not survive a
  /// crash of the machine.
  void commit();

  /// After commit(): takes the name away again, unless it was that of an older file, which is no more, or by
  /// now means another one.
  void withdraw();

  /// The checks of the constructor that need no new file; for --dry-run and for failing early.
  static void check(const std::filesystem::path& destination, std::uint64_t bytes, bool overwrite,
                    const File& input);

 private:
  /// Gives the file its name if that is free. Returns 0 or an errno.
  int link_new();
  /// Puts the file in the place of the one that has its name. Throws IoError.
  void replace_old();
  /// Gives a file without a name one that is free. Returns 0 or an errno.
  int link_nameless(const std::string& name);
  [[noreturn]] void fail(const char* operation, int code) const;

  Disk* disk_;                         // the input's
  std::filesystem::path destination_;  // symbolic links followed
  bool overwrite_;
  // Names are looked up in the directory that was checked, whatever happens to its own path.
  Descriptor directory_;
  std::string temporary_;  // in the directory; empty while nameless
  bool is_new_ = false;    // committed, and no older file was replaced
  std::optional<File> file_;
};

/// Files that runs for this destination which were killed have left beside it, or that runs which go on are
/// making.
std::vector<std::filesystem::path> left_over(const std::filesystem::path& destination);

}  // namespace xorder::io
