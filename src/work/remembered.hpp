// What a journal knows of its run's job, so that it can be made again without a command line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "xorder/io/array_file.hpp"
#include "xorder/permutation/reordering.hpp"
#include "xorder/work/work.hpp"

namespace xorder::work {

struct Frame;
struct Journal;

/// What the constructors of tiles::Job and tiles::InPlaceJob take, but for the output.
struct Remembered {
  std::vector<io::ArrayFile> inputs;
  Reordering what;
  std::vector<std::uint64_t> extents;
  Options options;
};

/// For Journal::job.
std::string job_text(const Frame& frame, const Reordering& what, const std::vector<std::uint64_t>& extents);

/// Opens the inputs again. Throws InputError if that fails, or if the run was begun by a version of xorder
/// that kept only its words. `output` is the run's, or the file in place, which may have been moved.
Remembered remembered(const Journal& journal, const std::string& output);

/// The array as it was when the run in place began that has left its file half done, if one has. Meanwhile
/// its header may say anything. Throws InputError as read_journal() and remembered() do.
io::ArrayFile as_begun(io::ArrayFile file);

}  // namespace xorder::work
