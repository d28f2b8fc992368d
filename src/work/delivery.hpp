// What surrounds the work of every run: opens the inputs, reserves the output, and gives it its name only if
// all went well.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <vector>

#include "io/output.hpp"
#include "io/output_files.hpp"
#include "work/frame.hpp"

namespace xorder::work {

class Delivery {
 public:
  /// Opens the inputs on this disk, makes the output there and writes its header. Throws InputError if an
  /// input cannot be read or the output cannot be made, and IoError if an input has changed since it was
  /// described.
  Delivery(const Frame& frame, io::Disk& disk);
  ~Delivery();
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;

  const io::File& source(std::size_t i = 0) const { return sources_[i]; }
  /// If the output has several files, the first of them.
  io::File& target() { return parts_ ? parts_->first() : output_ ? output_->file() : *joined_; }
  io::OutputFiles* parts() { return parts_ ? &*parts_ : nullptr; }
  /// Where the output's data begins.
  std::uint64_t target_offset() const { return frame_.output.offset; }
  /// Throws InputError if scratch files of `bytes` bytes together do not fit. Where the output's space could
  /// not be reserved (ext2), it still counts as free, so they must fit beside it. Not for teams.
  void require_room_for_scratch(std::uint64_t bytes) const;
  /// Makes a file for the data between two passes, in the scratch directory, or opens that of an earlier run
  /// which this one goes on with.
  io::File scratch(std::uint64_t bytes);
  /// Requires a resumable run. Records that the first steps of a pass (counted from 0), of which `file` holds
  /// the data, are finished: syncs the file and writes the journal. Throws IoError.
  void checkpoint(std::size_t pass, std::uint64_t steps, const io::File& file);
  /// The run was interrupted: if it can be resumed, what it has begun stays, even if nothing is finished.
  void keep_begun() { keeps_begun_ = true; }

  /// Throws IoError if an input, or the header of one, has changed since the constructor.
  void require_unchanged_inputs() const;
  /// Syncs the output and gives it its name. Throws Cancelled if asked to stop, and IoError if an input has
  /// changed. In a team, all members sync and the first gives the name. (The constructor and scratch() are
  /// collective as well.)
  void commit(const std::stop_token& stop);

 private:
  io::File kept_scratch(const std::filesystem::path& directory, std::uint64_t bytes);
  void discard_quietly() const;
  io::File shared_scratch(const std::filesystem::path& directory, std::uint64_t bytes) const;

  const Frame& frame_;
  io::Disk& disk_;
  std::vector<io::File> sources_;      // the inputs, and headers of theirs
  std::vector<io::FileStamp> stamps_;  // of the sources, when reading began
  std::optional<io::OutputFiles> parts_;
  std::optional<io::Output> output_;  // in a team, only in the first member,
  std::optional<io::File> joined_;    // and opened by the others
  std::filesystem::path shared_;      // by this name
  std::optional<io::Output> header_;  // the file of its header, if there is one
  std::size_t kept_scratch_files_ = 0;
  bool keeps_begun_ = false;
  bool delivered_ = false;
};

}  // namespace xorder::work
