// Whether a run goes on with an earlier one, and whether it may.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "xorder/permutation/reordering.hpp"

namespace xorder::work {

struct Frame;
struct Journal;

/// The journal of a run that has not ended, to go on with; or, if it is in place, to go back. Throws
/// InputError if there is none, or it cannot go back, or the run is still going on.
Journal unfinished(const std::string& output, bool back);

/// Sets the journal of a resumable run: that of an earlier one, if its output is still there, or a new one.
/// Such runs are for files that do not fit in memory, so automatic access becomes direct. Throws InputError
/// as read_journal() does.
void find_journal(Frame& frame);

/// Says in the journal, if there is one, what is to be made. Throws InputError if an earlier run was for
/// something else, or an input has changed since.
void settle_journal(Frame& frame, const Reordering& what, const std::vector<std::uint64_t>& extents);
/// The same for other work. `what` is a text, the same only for work that makes the same bytes of the same
/// inputs. Only the same work can go on with it, not `resume()` (tiles/resume.hpp).
void settle_journal(Frame& frame, const std::string& what);

/// Throws InputError if the run goes on with an earlier one whose plan needs more memory than is allowed now.
void require_memory_to_go_on(const Frame& frame, std::uint64_t needed);

/// What to say of a file that a run in place has left half done. `name` is the file's in a command line.
std::string half_done(const std::string& path, const std::string& name);

/// Throws InputError if a run in place has left this file half done; or if it may have, as the journal is
/// damaged, and something of the file is `needed`.
void refuse_half_done(const std::filesystem::path& path, bool needed = true);

/// Sets the journal of a run in place. `word` says what is done with an earlier one, "resume" or "roll back";
/// nullptr: begins a new one. Throws InputError if there is an earlier run but none is wanted, or the other
/// way round; or if it was of another file or reordering.
void settle_in_place_journal(Frame& frame, const Reordering& what, const std::vector<std::uint64_t>& extents,
                             const char* word);

/// To be called when the file is locked: the run has this plan, as a text, and so many batches. Throws
/// InputError if another run has changed the journal since, or the earlier run's plan was another one.
void begin_in_place(const Frame& frame, const std::string& plan, std::uint64_t batches);

}  // namespace xorder::work
