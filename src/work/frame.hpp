// The inputs, the output and the options of a run, settled before anything is written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "work/access.hpp"
#include "work/journal.hpp"
#include "work/profiles.hpp"
#include "xorder/io/array_file.hpp"
#include "xorder/work/work.hpp"

namespace xorder::work {

class Team;

/// What this process is in a run of several.
struct Membership {
  Team* team = nullptr;  ///< that makes the output; nullptr: this process alone. Must outlive the work
  bool parts = false;    ///< each member has its own input and output, which are parts of two arrays
};

struct Frame {
  std::vector<io::ArrayFile> inputs;  ///< at least one
  Destination output;
  Options options;
  Membership membership;
  FileAccess access;
  Disks disks;
  plan::Setting setting;               ///< what all of the run's plans are made for
  std::string note;                    ///< requests that cannot be met, and fallbacks; or empty
  std::shared_ptr<Journal> journal{};  ///< of a resumable run
  std::uint64_t allowed_memory = 0;    ///< that of the setting, unless the run goes on with an earlier one

  std::uint64_t memory() const { return setting.memory; }
  /// Whether the run goes on with an earlier one.
  bool resumes() const { return journal && journal->exists; }
  /// Whether the input is reordered in place: there is no output.
  bool in_place() const { return journal && journal->in_place; }
  /// The processes that run this together, or nullptr.
  Team* team() const { return membership.team; }
  /// The processes that write one file together, or nullptr.
  Team* sharing() const { return membership.parts ? nullptr : membership.team; }
  const io::ArrayFile& input() const { return inputs.front(); }
  std::uint64_t input_bytes() const;
  /// The one that was asked for, or the output's.
  std::filesystem::path scratch_directory() const;
  /// Through which all files are accessed: that of the first input.
  io::Disk& disk() const { return input().file->disk(); }
};

/// Describes an output of this type and shape. The path's extension decides its format, or else the input's
/// format does. The data of a raw file begin at options.output_offset. The header of an HDF5 file is made by
/// a process (io/container/hdf5.hpp). Throws InputError for an .npy file with an offset, for what no HDF5
/// file can hold, for an extension of a format that is not written, unless there is an offset, for more than
/// 2^63 − 1 bytes, and for a result that cannot be split.
Destination destination(std::filesystem::path path, const io::ArrayFile& input, const io::DType& dtype,
                        const std::vector<std::uint64_t>& extents, const Options& options);

/// Whether the output's header file may replace one that is there: it may say the same.
bool may_replace_header(const Frame& frame);

/// Options::kept_axes of an output that this makes of one input.
std::vector<int> kept_axes(const Reordering& what);

/// Throws InputError unless a reordering of this many bytes moves all inputs, which are of one type, and the
/// output's shape has room for exactly these elements.
void check_sizes(std::uint64_t bytes, std::span<const io::ArrayFile> inputs,
                 const std::vector<std::uint64_t>& extents);

/// Throws InputError if the input's elements do not lie in C order in its file. (An array with at most one
/// axis longer than 1 has the same file in both orders.)
void check_c_order(const io::ArrayFile& input);

/// What an engine can do.
struct Abilities {
  bool strided = false;  ///< read inputs whose elements do not follow each other in C or Fortran order
};

/// How the inputs are read one after the other, or null if that is one file whose elements follow each other.
/// Leaves out inputs without elements.
std::shared_ptr<const plan::SourceFiles> source_files(const std::vector<io::ArrayFile>& inputs);

/// Makes the frame for an output of this type and shape. `working` is as for choose_access(). Throws
/// InputError if the engine cannot read an input like these, if the memory is below minimum_memory, or if the
/// output or scratch files cannot be made. The checks make no file.
Frame settle(std::vector<io::ArrayFile> inputs, std::filesystem::path output, const io::DType& dtype,
             const std::vector<std::uint64_t>& extents, Options options, std::uint64_t working,
             const Membership& membership = {}, Abilities engine = {});

/// The same for a file that is reordered in place. Throws InputError if the file or an option does not allow
/// that.
Frame settle_in_place(const io::ArrayFile& file, Options options);

}  // namespace xorder::work
