// The errors xorder throws. The library prints nothing and never aborts; the command line turns each of
// these into one line on standard error and an exit code.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

namespace xorder {

/// Root of the hierarchy.
class Error : public std::runtime_error {
 public:
  /// `code` is the errno value behind the failure, if there is one.
  explicit Error(const std::string& what, int code = 0) : std::runtime_error(what), code_(code) {}

  /// The errno value, or 0 if the failure has none.
  int code() const { return code_; }

 private:
  int code_;
};

/// The request cannot be carried out as stated: a bad argument, a malformed file, a size that does not fit.
/// It may come in the middle of a run, if only the data show the fault (unsorted halves, a zero pivot).
/// Either way no output gets its name, and no partial output is left. The text says what was wrong, where,
/// and what would be right. code() is EEXIST if the output exists and may not be overwritten, ENOENT if a
/// file is missing, ENOSPC if there is no room, and so on. Exit code 2.
class InputError : public Error {
 public:
  using Error::Error;
};

/// The operating system refused an operation. The text is "PATH: OPERATION at OFFSET: REASON". Exit code 1.
class IoError : public Error {
 public:
  /// `code` is an errno value; `offset` in bytes, where the operation has one.
  IoError(std::string path, std::string operation, int code, std::optional<std::uint64_t> offset = {});
  /// For failures that have no errno, such as an input that changed while it was read.
  IoError(std::string path, const std::string& reason);

  const std::string& path() const { return path_; }
  std::optional<std::uint64_t> offset() const { return offset_; }

 private:
  std::string path_;
  std::optional<std::uint64_t> offset_;
};

/// The caller requested a stop through its stop token. Nothing is left behind. The command line then ends by
/// the signal that requested it.
class Cancelled : public Error {
 public:
  Cancelled() : Error("interrupted") {}
};

}  // namespace xorder
