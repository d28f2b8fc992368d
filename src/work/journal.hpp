// What a resumable run has finished.
//
// A run with Options::resumable keeps what there is of its output and of its scratch files under names of
// their own (io/kept.hpp). Beside the output lies its journal: what is to be made of which inputs, the
// setting of its plan, and how many steps of which pass are finished (tiles, say), which means that they have
// been synced. The same job finds the journal, makes the same plan and goes on behind them. A new journal
// replaces the old one by its rename, so whatever happens, a journal is whole and is not ahead of the data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/setting.hpp"
#include "xorder/error.hpp"
#include "xorder/io/array_file.hpp"

namespace xorder::io {
class Disk;
}

namespace xorder::work {

/// How far a run in place is (tiles/in_place.hpp). The first batches, through all passes, have been moved,
/// the others not, except for a batch in flight, of which the undo area has what was there before.
struct InPlaceProgress {
  std::uint64_t batches = 0, done = 0;
  std::optional<std::uint64_t> saved{};  ///< the batch in flight
  bool back = false;                     ///< it was saved to get the old order back
  int phase = 1;                         ///< 1: places of its saved tiles are overwritten; 2: the others

  bool is_half_done() const { return saved || (done != 0 && done != batches); }
  bool operator==(const InPlaceProgress&) const = default;
};

struct Journal {
  /// The command line and where it was given, for `xorder resume`; may be empty.
  std::vector<std::string> words;
  std::string directory;
  /// Of what the run's job is made, as JSON (work/remembered.hpp). Empty if it is not a reordering by tiles.
  std::string job;

  std::string request;  ///< what is to be made, as text to be compared
  std::vector<io::FileStamp> inputs;
  plan::Setting setting;
  std::string plan;  ///< as text to be compared; empty before the first pass

  std::uint64_t inode = 0;  ///< of the output, under its temporary name and later under its own
  std::vector<std::filesystem::path> scratch;

  std::size_t pass = 0;     ///< that is being made; those before it are finished
  std::uint64_t steps = 0;  ///< of it that are finished, the first ones

  std::optional<InPlaceProgress> in_place{};  ///< the run has no output; `inode` is the file's
  std::string old_header{};                   ///< of a file in place whose header changes

  bool exists = false;  ///< its files are there: it is not that of a new run

  // For people.
  std::uint64_t process = 0;
  std::uint64_t bytes_done = 0, bytes_total = 0;  ///< read and written, as Progress counts them
  std::uint64_t bytes_before = 0;                 ///< of them by runs before the last
  double seconds = 0;                             ///< of the last run

  /// Whether there is something to go on with.
  bool has_progress() const { return pass > 0 || steps > 0; }
};

/// Nobody can tell what its run has done.
class DamagedJournal : public InputError {
 public:
  using InputError::InputError;
};

/// The journal as JSON, and back. Throws DamagedJournal, and InputError if it is of a version of xorder that
/// writes other journals, which begin with `path`.
std::string journal_text(const Journal& journal);
Journal parse_journal(std::string_view text, const std::string& path);

/// The journal of a run that makes this output, if there is one. Throws as parse_journal() does,
/// DamagedJournal also if its checksum is wrong, and InputError if it is another user's.
std::optional<Journal> read_journal(const std::filesystem::path& output);

/// Replaces the journal atomically, and syncs it. Throws InputError and IoError.
void write_journal(const Journal& journal, const std::filesystem::path& output, io::Disk& disk);

/// Whether the output is complete and only its journal has been left.
bool is_complete(const Journal& journal, const std::filesystem::path& output);

/// Whether what there is of the output is still there.
bool can_go_on(const Journal& journal, const std::filesystem::path& output);

/// Whether there is an output under its temporary name, with or without a journal.
bool has_output(const std::filesystem::path& output);

/// Whether its run is going on, or one of this journal in place.
bool is_running(const std::filesystem::path& output, const Journal* journal = nullptr);

/// Removes the files of the run, the journal last, and syncs that. Throws IoError. Its run must have ended.
void discard(const Journal& journal, const std::filesystem::path& output, io::Disk& disk);

}  // namespace xorder::work
