// An output that gets its name only when it is whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/file.hpp"

namespace xorder::io {

/// A file that is being made. It is nameless (O_TMPFILE) until commit(), so that not even SIGKILL leaves
/// anything behind. On file systems without O_TMPFILE it has a name ".NAME.xorder-PID-N" beside the
/// destination, which the destructor removes.
class Output {
 public:
  /// automatic: nameless where the file system supports it. temporary: always with a temporary name (for
  /// teams and tests). kept: with the name of kept_name(), locked, for a run that can be resumed. resumed:
  /// the same, and the file is that of an earlier run, whose space is reserved.
  enum class Naming { automatic, temporary, kept, resumed };

  /// Makes the file in the destination's directory and reserves `bytes` bytes. A destination that is a
  /// symbolic link is followed, but not another user's in a directory like /tmp: its target will be replaced,
  /// or made if it does not exist. Throws InputError if the destination exists and `overwrite` is false, is
  /// not a regular file, or is the same file as `input` (also by symbolic or hard link); if its directory is
  /// missing or not writable; or if there is no room (the message says how much is needed and how much is
  /// free). The file is made on the input's disk. A new file gets `permissions` without the umask.
  Output(const std::filesystem::path& destination, std::uint64_t bytes, bool overwrite, Access access,
         const File& input, Naming naming = Naming::automatic, mode_t permissions = 0666);
  /// The same on a given disk. `input` may be null, for an output that is made from no input file.
  Output(const std::filesystem::path& destination, std::uint64_t bytes, bool overwrite, Access access,
         Disk& disk, const File* input, Naming naming = Naming::automatic, mode_t permissions = 0666);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  const File& file() const { return *file_; }
  File& file() { return *file_; }
  /// Where the file can be opened until commit(); empty if it is nameless.
  std::filesystem::path temporary_path() const;
  /// Syncs the data, gives the file its name and syncs the directory. An old file is replaced atomically;
  /// take_over.hpp says what the new one gets from it. Without permission to overwrite, a destination that
  /// has appeared meanwhile is an error. Throws IoError and leaves the destination as it was. There are two
  /// exceptions, of which the message says that the file is complete: if syncing the directory failed, it is
  /// in place but may not survive a crash of the machine; if the directory has another path by now, it is
  /// there.
  void commit();

  /// Whether commit() has given the file its name, even if it failed after that.
  bool has_name() const { return has_name_; }

  /// From now on the file stays under its temporary name if it is not committed.
  void keep() { keeps_ = true; }

  /// After commit(): removes the file's name again. Does nothing if an older file was replaced, or if the
  /// name by now leads to another file.
  void withdraw();

  /// The checks of the constructor that need no new file; for --dry-run and for failing early.
  static void check(const std::filesystem::path& destination, std::uint64_t bytes, bool overwrite,
                    const File& input);

 private:
  /// Replaces the file that has the name. Throws IoError.
  void replace_old();
  [[noreturn]] void fail(const char* operation, int code) const;

  Disk* disk_;                         // the input's
  std::filesystem::path destination_;  // symbolic links followed
  bool overwrite_;
  // Names are looked up in the directory that was checked, even if its path changes.
  Descriptor directory_;
  std::string temporary_;  // name in the directory; empty while nameless
  bool keeps_ = false;
  bool has_name_ = false;
  bool is_new_ = false;  // has its name, and no older file was replaced
  std::optional<File> file_;
};

/// The file that the destination leads to, symbolic links followed, and its directory. Throw InputError.
std::filesystem::path followed_links(const std::filesystem::path& destination);
std::filesystem::path directory_of_output(const std::filesystem::path& destination);

/// Temporary files beside this destination: of runs that were killed, or of runs that are still going on.
/// Which it is cannot be known: the process may be in another container or on another machine. Looks at no
/// more than 10,000 names, so that a large directory delays nobody.
std::vector<std::filesystem::path> left_over(const std::filesystem::path& destination);

}  // namespace xorder::io
