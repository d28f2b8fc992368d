// Several outputs in one directory, one for each number, that get their names together.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/file.hpp"

namespace xorder::io {

/// Names with a number in them, as printf makes them: "out.%04d.npy".
class NumberedName {
 public:
  /// Throws InputError unless the name of the file, behind the last slash, has exactly one %d or %0Nd (%% is
  /// a % that stays).
  explicit NumberedName(const std::filesystem::path& pattern);

  std::string name(std::uint64_t number) const;
  std::filesystem::path path(std::uint64_t number) const { return directory_ / name(number); }
  std::filesystem::path directory() const { return directory_.empty() ? "." : directory_; }
  /// The pattern, without the directory.
  const std::string& pattern() const { return pattern_; }

 private:
  std::filesystem::path directory_;
  std::string pattern_, before_, after_;
  std::size_t digits_ = 1;
};

/// Files of one size that are being made. They are nameless until commit(), as far as the file system and the
/// number of descriptors allow. Otherwise each has a name ".PATTERN.xorder-PID-N", which the destructor
/// removes, and only some of them are open at a time.
class OutputFiles {
 public:
  /// Makes `count` files (at least one), reserves `bytes` for each and writes their headers. Calls `adapt`
  /// with each file whenever it was opened. Throws InputError as check() does, if there is no room, or if the
  /// files cannot be made. Files get `permissions` without the umask.
  OutputFiles(const std::filesystem::path& pattern, std::uint64_t count, std::uint64_t bytes,
              const std::string& header, Access access, Disk& disk, mode_t permissions,
              std::function<void(File&)> adapt);
  ~OutputFiles();
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;

  /// Always open.
  File& first() const;
  /// The file of this number, opened again if need be; or nullptr, if too many are in use. It stays open
  /// until as many calls of release(). Closing another one waits until what went through the page cache is on
  /// the disk. Throws IoError.
  const File* use(std::uint64_t number);
  void release(std::uint64_t number);

  /// Syncs all files, then gives them their names and syncs the directory. No file may be in use. If a name
  /// is taken by now or cannot be given, removes those that were given. Throws IoError, for the directory as
  /// Output::commit() does, with all files complete.
  void commit();

  /// The checks of the constructor that need no new file. Throws InputError if any of the files exists, the
  /// directory is missing or not writable, or there is no room for all of them.
  static void check(const std::filesystem::path& pattern, std::uint64_t count, std::uint64_t bytes,
                    Disk& disk);

 private:
  struct Part;
  OutputFiles(const std::filesystem::path& pattern, std::uint64_t count, std::uint64_t bytes, Access access,
              Disk& disk, std::function<void(File&)> adapt);
  void make(Part& part, std::uint64_t number, const std::string& header, mode_t permissions);
  void opened(Part& part, std::uint64_t number, File file);
  /// Closes a file that is not in use, if too many are open. False if all are in use.
  bool make_room();

  NumberedName names_;
  std::uint64_t bytes_;
  Access access_;
  Disk* disk_;
  std::function<void(File&)> adapt_;
  Descriptor directory_;
  std::vector<Part> parts_;
  std::size_t most_open_;
  std::vector<std::uint64_t> open_;  // their numbers
  std::size_t next_ = 0;             // of these to be closed
};

}  // namespace xorder::io
