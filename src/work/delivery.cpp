#include "work/delivery.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "io/create.hpp"
#include "io/disk.hpp"
#include "io/kept.hpp"
#include "io/page_cache/page_cache.hpp"
#include "io/page_cache/residency.hpp"
#include "work/team.hpp"
#include "xorder/error.hpp"

namespace xorder::work {
namespace {

// A sixteenth of the memory may be in write-back, and as much may stay after it was read, in each file.
// Inputs share this, and so do the files of an output, though each may have some pages.
void bound_page_cache(io::File& file, const Frame& frame, std::size_t sharing = 1) {
  constexpr std::uint64_t most_read = std::uint64_t{4} << 20, most_written = std::uint64_t{32} << 20;
  const std::uint64_t share = frame.memory() / 16;
  const std::uint64_t written = std::min(share, most_written);
  file.set_windows(std::min(share, most_read) / sharing,
                   file.writable() ? std::max(written / sharing, 4 * io::page_bytes) : written);
}

// The inputs, and behind them the headers that are files of their own.
std::vector<io::File> open_all(const Frame& frame, io::Disk& disk) {
  std::vector<io::File> files;
  const auto open = [&](const io::File& file, const io::FileStamp& stamp, io::Access access) {
    files.push_back(file.reopen(access, disk));
    files.back().set_keep_cached(frame.access.keep_cached);
    bound_page_cache(files.back(), frame, frame.inputs.size());
    if (files.back().stamp() != stamp)
      throw IoError(files.back().name(), "the file has changed since it was first opened");
  };
  for (const io::ArrayFile& input : frame.inputs) open(*input.file, input.stamp, frame.access.source);
  for (const io::ArrayFile& input : frame.inputs) {
    if (input.header) open(*input.header, input.header_stamp, io::Access::buffered);
  }
  return files;
}

// What all inputs allow to group and others, as cp does; the owner may read and write.
mode_t permissions_of(const std::vector<io::File>& inputs) {
  mode_t permissions = 0666;
  for (const io::File& input : inputs) {
    struct stat status;
    if (fstat(input.plain_descriptor(), &status) == 0) permissions &= status.st_mode | 0600;
  }
  return permissions;
}

std::vector<io::FileStamp> stamps_of(const std::vector<io::File>& files,
                                     io::FileStamp (io::File::*stamp)() const) {
  std::vector<io::FileStamp> stamps;
  for (const io::File& file : files) {
    file.write_back_dirty_pages();
    stamps.push_back((file.*stamp)());
  }
  return stamps;
}

}  // namespace

Delivery::Delivery(const Frame& frame, io::Disk& disk)
    : frame_(frame),
      disk_(disk),
      sources_(open_all(frame, disk)),
      stamps_(stamps_of(sources_, &io::File::settled_stamp)) {
  Team* const team = frame.sharing();
  const io::Access access = frame.access.target;
  const std::uint64_t bytes = frame.output.file_bytes();
  if (frame.in_place()) {
    joined_ = sources_.front().reopen_for_writing(access, disk);
    bound_page_cache(*joined_, frame);
    io::lock_file(joined_->plain_descriptor(), joined_->name());
    return;
  }
  if (frame.options.into_existing) {
    joined_ =
        io::File::open_input(frame.output.path, io::Access::buffered, disk).reopen_for_writing(access, disk);
    bound_page_cache(*joined_, frame);
    joined_->set_keep_cached(frame.access.keep_cached);
    return;
  }
  if (frame.options.split) {
    const auto adapt = [&frame](io::File& file) {
      bound_page_cache(file, frame, frame.output.files);
      file.set_keep_cached(frame.access.keep_cached);
    };
    parts_.emplace(frame.output.path, frame.output.files, bytes, frame.output.header, access, disk,
                   permissions_of(sources_), adapt);
    return;
  }
  if (team == nullptr || team->is_first()) {
    using Naming = io::Output::Naming;
    output_.emplace(frame.output.path, bytes, frame.options.overwrite, access, sources_.front(),
                    frame.resumes()   ? Naming::resumed
                    : frame.journal   ? Naming::kept
                    : team == nullptr ? Naming::automatic
                                      : Naming::temporary,
                    permissions_of(sources_));
    if (const std::string& text = frame.output.header_text; !text.empty()) {
      header_.emplace(frame.output.header_file, text.size(), may_replace_header(frame), io::Access::buffered,
                      sources_.front(), Naming::automatic, permissions_of(sources_));
      header_->file().write_exactly(text.data(), text.size(), 0);
    }
    // Before the others are told: they may come much later, and a signal may come before them.
    if (frame.team() != nullptr) frame.team()->temporary({output_->temporary_path()});
  }
  if (team != nullptr) {
    shared_ = team->from_first(output_ ? output_->temporary_path().string() : "");
    team->temporary({shared_});
    if (!output_) joined_ = io::File::join(shared_, frame.output.path.string(), bytes, access, disk);
    const bool one_machine = team->neighbours() == static_cast<unsigned>(team->size());
    if (!one_machine && access == io::Access::direct && target().access() != io::Access::direct) {
      throw InputError(
          fmt::format("{}: its file system refuses direct access; several machines cannot write one file "
                      "through their page caches; run on one machine, or write to another file system",
                      frame.output.path.string()));
    }
  }
  bound_page_cache(target(), frame);
  target().set_keep_cached(frame.access.keep_cached);
  const std::string& header = frame.output.header;
  if (!header.empty() && output_) target().write_exactly(header.data(), header.size(), 0);
  if (frame.journal) frame.journal->inode = target().stamp().inode;
}

// What a run that can be resumed has finished stays. If it has finished nothing, nothing is lost, but who
// interrupts it expects to go on.
Delivery::~Delivery() {
  if (!frame_.journal || frame_.in_place() || delivered_) return;
  if (frame_.journal->has_progress() || (keeps_begun_ && frame_.journal->exists))
    output_->keep();
  else
    discard_quietly();
}

// The output is complete, or something else has made the run fail; both are more important than a file that
// stays.
void Delivery::discard_quietly() const {
  Journal& journal = *frame_.journal;
  for (int attempts = 2; attempts > 0; --attempts) {
    try {
      discard(journal, frame_.output.path, disk_);
      break;
    } catch (const Error&) {
    }
  }
  journal.exists = false;
  journal.scratch.clear();
}

void Delivery::require_room_for_scratch(std::uint64_t bytes) const {
  if (bytes == 0 || frame_.team() != nullptr || frame_.resumes() || frame_.in_place()) return;
  struct stat made, beside;
  const io::Descriptor directory = io::open_directory(disk_, frame_.scratch_directory(), "scratch files");
  const io::File& output = parts_ ? parts_->first() : output_ ? output_->file() : *joined_;
  if (fstat(output.plain_descriptor(), &made) != 0 || fstat(directory.get(), &beside) != 0) return;
  const auto size = static_cast<std::uint64_t>(made.st_size);
  const std::uint64_t reserved = std::min(size, static_cast<std::uint64_t>(made.st_blocks) * 512);
  const bool takes_space = made.st_dev == beside.st_dev && !frame_.options.into_existing;
  const std::uint64_t unreserved = takes_space ? (size - reserved) * frame_.output.files : 0;
  io::require_free(directory.get(), frame_.scratch_directory(),
                   unreserved == 0
                       ? "scratch files"
                       : fmt::format("{} and scratch files", frame_.output.path.filename().string()),
                   unreserved + bytes);
}

io::File Delivery::scratch(std::uint64_t bytes) {
  const std::filesystem::path directory = frame_.scratch_directory();
  const auto make = [&] {
    if (frame_.journal) return kept_scratch(directory, bytes);
    if (frame_.sharing() != nullptr) return shared_scratch(directory, bytes);
    return io::File::create_nameless(directory, "scratch file", bytes, frame_.access.target, disk_);
  };
  io::File file = make();
  bound_page_cache(file, frame_);
  // Small ones stay in the page cache, as small files do. Larger ones were not counted when it was found that
  // all fits in memory.
  file.set_keep_cached(frame_.access.keep_cached && bytes <= io::small_file);
  return file;
}

io::File Delivery::kept_scratch(const std::filesystem::path& directory, std::uint64_t bytes) {
  std::vector<std::filesystem::path>& all = frame_.journal->scratch;
  const bool resumes = frame_.resumes();
  if (!resumes) {
    const io::Descriptor opened = io::open_directory(disk_, directory, "scratch files");
    const std::string what = fmt::format("scratch-{}-{}", kept_scratch_files_,
                                         io::identity(io::directory_of_output(frame_.output.path)));
    all.push_back(std::filesystem::absolute(directory) /
                  io::kept_name(opened.get(), frame_.output.path.filename().string(), what));
  }
  const std::filesystem::path& path = all.at(kept_scratch_files_++);
  return io::File::kept(path.parent_path(), path.filename().string(), "scratch file", bytes,
                        frame_.access.target, resumes ? io::Kept::opened : io::Kept::made, disk_);
}

void Delivery::checkpoint(std::size_t pass, std::uint64_t steps, const io::File& file) {
  file.sync();
  Journal& journal = *frame_.journal;
  journal.pass = pass;
  journal.steps = steps;
  write_journal(journal, frame_.output.path, disk_);
  journal.exists = true;
}

void Delivery::require_unchanged_inputs() const {
  if (frame_.in_place()) return;
  const std::vector<io::FileStamp> now = stamps_of(sources_, &io::File::stamp);
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (now[i] == stamps_[i]) continue;
    if (frame_.journal) {  // what is finished is worth nothing
      frame_.journal->pass = frame_.journal->steps = 0;
      frame_.journal->exists = false;
    }
    io::FileStamp but_for_ctime = now[i];
    but_for_ctime.ctime_seconds = stamps_[i].ctime_seconds;
    but_for_ctime.ctime_nanoseconds = stamps_[i].ctime_nanoseconds;
    throw IoError(
        sources_[i].name(),
        fmt::format("the file was changed while it was being read{}; the output {}",
                    but_for_ctime != stamps_[i] ? ""
                                                : " (its ctime, by a write that kept its time, or by "
                                                  "chmod, chown, link, rename or remove)",
                    frame_.options.into_existing ? "is undefined" : "was discarded"));
  }
}

void Delivery::commit(const std::stop_token& stop) {
  if (frame_.in_place()) return;  // what has been written has its name
  require_unchanged_inputs();
  if (stop.stop_requested()) throw Cancelled();
  Team* const team = frame_.team();
  if (team != nullptr || frame_.options.into_existing) target().sync();
  if (team != nullptr) team->meet();
  try {
    if (parts_) parts_->commit();
    if (header_) header_->commit();  // first, so that a file that is there has one
    if (output_) output_->commit();
    if (frame_.journal) {
      delivered_ = true;
      discard_quietly();
      frame_.journal->pass = frame_.journal->steps = 0;
    }
    if (team != nullptr) team->meet();
  } catch (...) {  // a part is worth nothing without the others
    if (frame_.membership.parts) output_->withdraw();
    if (header_ && !output_->has_name()) header_->withdraw();
    throw;
  }
  if (team != nullptr) team->temporary({});
}

// The first member makes it, and removes its name as soon as all have opened it.
io::File Delivery::shared_scratch(const std::filesystem::path& directory, std::uint64_t bytes) const {
  Team& team = *frame_.team();
  const std::string name = "scratch file";
  const io::Access access = frame_.access.target;
  if (!team.is_first()) {
    const std::filesystem::path made = team.from_first({});
    team.temporary({shared_, made});
    io::File file = io::File::join(made, name, bytes, access, disk_);
    team.meet();
    team.temporary({shared_});
    return file;
  }
  auto [file, made] = io::File::create_named(directory, name, bytes, access, disk_);
  const auto remove = [&] { return disk_.remove(AT_FDCWD, made.c_str()); };
  try {
    team.temporary({shared_, made});
    team.from_first(made.string());
    team.meet();
  } catch (...) {
    remove();
    throw;
  }
  if (const int code = remove()) throw IoError(made.string(), "remove", code);
  team.temporary({shared_});
  return std::move(file);
}

}  // namespace xorder::work
