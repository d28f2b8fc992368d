#include "work/resuming.hpp"

#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>

#include "io/create.hpp"
#include "io/format/npy_header.hpp"
#include "io/kept.hpp"
#include "io/output.hpp"
#include "permutation/reordering_text.hpp"
#include "text/size_text.hpp"
#include "work/frame.hpp"
#include "work/remembered.hpp"
#include "xorder/error.hpp"

namespace xorder::work {
namespace {

// What is to be made, as texts that are the same only for the same bytes in the same files.

std::string of_output(const Frame& frame) {
  // An HDF5 header follows from the rest, but libhdf5 may fill its gaps with anything.
  const bool npy = frame.output.header.starts_with(io::npy_magic);
  return fmt::format("{} bytes at {}, header {}", frame.output.bytes, frame.output.offset,
                     npy ? frame.output.header : frame.options.dataset);
}

std::string of_inputs(const Frame& frame) {
  std::string text;
  for (const io::ArrayFile& input : frame.inputs) {
    const io::ArrayDescription& a = input.description;
    text += fmt::format("; {} of shape ({}) at {} by {}", a.dtype.descr, fmt::join(a.extents, ", "), a.offset,
                        fmt::join(a.strides, " "));
    for (const ElementPiece& piece : a.pieces)
      text += fmt::format(", {} bytes from {} by {}", piece.bytes, piece.offset, piece.reversed);
  }
  return text;
}

std::string request_of(const Frame& frame, const Reordering& what,
                       const std::vector<std::uint64_t>& extents) {
  return fmt::format("{}, shape ({}), {}{}", text_of(what), fmt::join(extents, ", "), of_output(frame),
                     of_inputs(frame));
}

void remember(Journal& journal, const Frame& frame, std::string job) {
  if (!frame.options.command.empty()) {
    journal.words = frame.options.command;
    journal.directory = std::filesystem::current_path().string();
  }
  journal.job = std::move(job);
  journal.process = static_cast<std::uint64_t>(getpid());
  journal.bytes_before = journal.bytes_done;
  journal.seconds = 0;
}

// Of a run with an output.
void settle(Frame& frame, const std::string& request, std::string job) {
  Journal& journal = *frame.journal;
  std::vector<io::FileStamp> stamps;
  for (const io::ArrayFile& input : frame.inputs) stamps.push_back(input.stamp);
  for (const io::ArrayFile& input : frame.inputs) {
    if (input.header) stamps.push_back(input.header_stamp);
  }
  for (io::FileStamp& stamp : stamps) stamp.device = 0;
  const std::string output = frame.output.path.string();
  if (frame.resumes()) {
    const auto refuse = [&](const std::string& why) {
      throw InputError(fmt::format(
          "{}: an earlier run is not finished, but {}; `xorder discard {}` removes it", output, why, output));
    };
    if (journal.request != request) refuse("it makes something else");
    if (journal.inputs.size() != stamps.size()) refuse("it reads other files");
    for (std::size_t i = 0; i < frame.inputs.size(); ++i) {
      if (journal.inputs[i] != stamps[i])
        refuse(fmt::format("{} is another file or has changed since", frame.inputs[i].path.string()));
    }
    if (journal.inputs != stamps) refuse("a header has changed since");
  }
  journal.request = request;
  journal.inputs = std::move(stamps);
  if (!frame.resumes()) journal.setting = frame.setting;
  remember(journal, frame, std::move(job));
}

}  // namespace

std::string half_done(const std::string& path, const std::string& name) {
  return fmt::format(
      "{}: is half done in place: `xorder resume {}` finishes it, `xorder rollback {}` restores it", path,
      name, name);
}

Journal unfinished(const std::string& output, bool back) {
  std::optional<Journal> journal = read_journal(output);
  if (!journal)
    throw InputError(
        fmt::format("{}: nothing to {}: there is no journal of a run with --resumable or --in-place", output,
                    back ? "roll back" : "resume"));
  if (back && !journal->in_place)
    throw InputError(
        fmt::format("{}: nothing to roll back: its run is not in place; `xorder discard` removes "
                    "its files",
                    output));
  if (is_running(output, &*journal))
    throw InputError(fmt::format("{}: its run is still going on (process {})", output, journal->process));
  return *std::move(journal);
}

void find_journal(Frame& frame) {
  if (frame.options.access == AccessChoice::automatic) frame.options.access = AccessChoice::direct;
  std::optional<Journal> found = read_journal(frame.output.path);
  if (found && !can_go_on(*found, frame.output.path)) found.reset();
  frame.journal = std::make_shared<Journal>(found ? *std::move(found) : Journal{});
}

void settle_journal(Frame& frame, const Reordering& what, const std::vector<std::uint64_t>& extents) {
  if (frame.journal) settle(frame, request_of(frame, what, extents), job_text(frame, what, extents));
}

void settle_journal(Frame& frame, const std::string& what) {
  if (frame.journal) settle(frame, fmt::format("{}, {}{}", what, of_output(frame), of_inputs(frame)), {});
}

void require_memory_to_go_on(const Frame& frame, std::uint64_t needed) {
  if (frame.resumes() && needed > frame.allowed_memory)
    throw InputError(fmt::format("to go on with the earlier run takes {} of memory; {} can be used",
                                 size_text(needed), size_text(frame.allowed_memory)));
}

void refuse_half_done(const std::filesystem::path& path, bool needed) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return;
  std::optional<Journal> journal;
  try {
    journal = read_journal(path);
  } catch (const DamagedJournal& damaged) {
    if (needed)
      throw InputError(fmt::format("{}: may be half done in place: {}", path.string(), damaged.what()));
  } catch (const InputError&) {  // another user's, perhaps
  }
  if (journal && journal->in_place && journal->in_place->is_half_done() && status.st_ino == journal->inode)
    throw InputError(half_done(path.string(), path.string()));
}

void settle_in_place_journal(Frame& frame, const Reordering& what, const std::vector<std::uint64_t>& extents,
                             const char* word) {
  const std::string path = frame.input().path.string();
  const std::string request = "in place: " + request_of(frame, what, extents);
  std::optional<Journal> found = read_journal(path);
  if (found && !found->in_place)
    throw InputError(
        fmt::format("{}: an earlier run that makes it is not finished; `xorder resume {}` goes on "
                    "with it, `xorder discard {}` removes its files",
                    path, path, path));
  if (!found && word != nullptr)
    throw InputError(fmt::format("{}: nothing to {}: there is no journal of a run in place", path, word));
  if (found && word == nullptr) throw InputError(half_done(path, path));
  const io::FileStamp& stamp = frame.input().stamp;
  if (!found) {
    Journal journal;
    journal.request = request;
    journal.inputs = {stamp};
    journal.setting = frame.setting;
    journal.inode = stamp.inode;
    journal.in_place.emplace();
    if (const std::size_t bytes = frame.output.header.size(); bytes > 0) {
      journal.old_header.resize(bytes);
      frame.input().file->read_exactly(journal.old_header.data(), bytes, 0);
    }
    const std::filesystem::path directory = std::filesystem::absolute(frame.scratch_directory());
    const io::Descriptor opened = io::open_directory(frame.disk(), directory, "the undo area");
    const std::string name = io::followed_links(frame.output.path).filename().string();
    // Others of this name may have their undo areas there, too.
    const std::string own = "undo-" + io::identity(frame.output.path);
    journal.scratch = {directory / io::kept_name(opened.get(), name, own)};
    found = std::move(journal);
  } else if (found->inode != stamp.inode || found->inputs.at(0).size != stamp.size) {
    throw InputError(fmt::format("{}: is another file than the one that is half done in place", path));
  } else if (found->request != request) {
    throw InputError(fmt::format("{}: the run that has left it half done makes something else", path));
  }
  frame.setting = found->setting;
  frame.journal = std::make_shared<Journal>(*std::move(found));
  remember(*frame.journal, frame, job_text(frame, what, extents));
}

void begin_in_place(const Frame& frame, const std::string& plan, std::uint64_t batches) {
  Journal& journal = *frame.journal;
  const std::string path = frame.output.path.string();
  const std::optional<Journal> now = read_journal(path);
  if (now.has_value() != journal.exists || (now && now->in_place != journal.in_place))
    throw InputError(fmt::format("{}: another run in place has worked on it meanwhile", path));
  if (journal.exists && journal.plan != plan)
    throw InputError(
        fmt::format("{}: is half done in place, but this version of xorder plans otherwise; "
                    "finish or restore it with the version that began",
                    path));
  journal.plan = plan;
  journal.in_place->batches = batches;
}

}  // namespace xorder::work
