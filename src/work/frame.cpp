#include "work/frame.hpp"

#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>

#include "io/container/container.hpp"
#include "io/container/envi.hpp"
#include "io/container/hdf5.hpp"
#include "io/create.hpp"
#include "io/format/npy_header.hpp"
#include "io/format/text_file.hpp"
#include "io/measure/fresh_memory.hpp"
#include "io/output.hpp"
#include "io/output_files.hpp"
#include "io/page_cache/page_cache.hpp"
#include "io/page_cache/residency.hpp"
#include "plan/tiles/source_files.hpp"
#include "task/threads.hpp"
#include "text/count_text.hpp"
#include "text/size_text.hpp"
#include "work/notes.hpp"
#include "work/resuming.hpp"
#include "work/team.hpp"
#include "xorder/error.hpp"

namespace xorder::work {
namespace {

// More are a mistake. Each takes some 150 bytes of memory, and is synced by itself.
constexpr std::uint64_t most_files = 100'000;

// Direct writes and those through the page cache must not share a page.
void check_page_size() {
  const auto bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  if (bytes != io::page_bytes)
    throw InputError(fmt::format("files are moved in pages of {}; this system has pages of {}",
                                 size_text(io::page_bytes), size_text(bytes)));
}

// An output that becomes a part of this file.
void check_existing(const Frame& frame) {
  const Destination& to = frame.output;
  const std::string name = to.path.string();
  const io::FileStamp file = io::File::open_input(to.path, io::Access::buffered, frame.disk())
                                 .reopen_for_writing(io::Access::buffered, frame.disk())
                                 .stamp();
  for (const io::ArrayFile& input : frame.inputs) {
    for (const auto& other : {input.file, input.header}) {
      if (other == nullptr) continue;
      const io::FileStamp in = other->stamp();
      if (file.device == in.device && file.inode == in.inode)
        throw InputError(fmt::format("{}: is the same file as the input {}", name, other->name()));
    }
  }
  if (file.size < to.file_bytes())
    throw InputError(fmt::format("{}: has {}, and the output would end at byte {}", name,
                                 count_text(file.size, "byte"), to.file_bytes()));
}

void check_output(Frame& frame) {
  const Destination& to = frame.output;
  const auto check = [&](std::uint64_t bytes) {
    if (frame.options.split) return io::OutputFiles::check(to.path, to.files, bytes, frame.disk());
    for (const io::ArrayFile& input : frame.inputs) {
      for (const auto& file : {input.file, input.header})
        if (file) io::Output::check(to.path, bytes, frame.options.overwrite, *file);
    }
  };
  const bool planning = frame.options.plan_only;
  const bool reserved = frame.resumes();
  if (frame.options.into_existing)
    check_existing(frame);
  else
    check(planning || reserved ? 0 : to.file_bytes());
  if (!to.header_file.empty()) {
    for (const auto& file : {frame.input().file, frame.input().header})
      io::Output::check(to.header_file, to.header_text.size(), may_replace_header(frame), *file);
  }
  try {
    if (planning && !reserved && !frame.options.into_existing) check(to.file_bytes());
  } catch (const InputError& no_room) {
    add_note(frame.note, no_room.what());
  }
  // Checked even if this run needs no scratch files: a mistake must not show only with a larger file.
  if (!frame.options.scratch_directory.empty())
    static_cast<void>(io::open_directory(frame.disk(), frame.options.scratch_directory, "scratch files"));
}

void check_same_file(const io::ArrayFile& input, Team& team) {
  const auto text = [](const io::FileStamp& s) {
    return fmt::format("{} bytes, changed at {}.{:09}", s.size, s.mtime_seconds, s.mtime_nanoseconds);
  };
  std::string seen = text(input.stamp);
  if (input.header) seen += ", with a header of " + text(input.header_stamp);
  if (const std::string first = team.from_first(seen); first != seen) {
    throw InputError(fmt::format("{}: is not the file that the first process sees: {}, not {}",
                                 input.path.string(), seen, first));
  }
}

void check_like_parts(const io::ArrayFile& input, Team& team) {
  const io::ArrayDescription& d = input.description;
  const std::string seen = fmt::format("{} of shape ({}) in {} order", d.dtype.descr,
                                       fmt::join(d.extents, ", "), d.order() == Order::c ? "C" : "Fortran");
  if (const std::string first = team.from_first(seen); first != seen) {
    throw InputError(fmt::format(
        "{}: holds {}, that of rank 0 {}; all parts of an array must have the same type, shape and order",
        input.path.string(), seen, first));
  }
}

// Host and path. Two processes with equal places mean the same file.
std::string place(const std::filesystem::path& path) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(path, error);
  return fmt::format("{}:{}", host, (error ? path : whole).string());
}

// Because of links, or of the position of %r in a path, one member's output could be another's file.
void check_own_file(const Frame& frame, Team& team) {
  const std::string mine = place(frame.output.path);
  const std::vector<std::string> outputs = team.share(mine), inputs = team.share(place(frame.input().path));
  for (std::size_t r = 0; r < outputs.size(); ++r) {
    if (r == static_cast<std::size_t>(team.rank())) continue;
    const char* const what = outputs[r] == mine ? "output" : inputs[r] == mine ? "input" : nullptr;
    if (what == nullptr) continue;
    throw InputError(fmt::format("{}: is the same file as the {} of rank {}; each part needs its own",
                                 frame.output.path.string(), what, r));
  }
}

// Makes the options of all members agree. Checks that they mean the same input, or parts that go together.
void join(Frame& frame, Team& team) {
  Options& options = frame.options;
  if (options.access == AccessChoice::mapped) {
    throw InputError(frame.membership.parts
                         ? "parts of an array cannot be mapped; use direct access"
                         : "several processes that write one file cannot map it; use direct access");
  }
  if (options.threads == 0) options.threads = team.processors();
  plan::Device& target = frame.disks.target;
  std::optional<plan::Device>& source = frame.disks.source;
  target = plan::Device::parse(team.from_first(target.text()), "the first process's device");
  const std::string text = team.from_first(source ? source->text() : "");
  source.reset();
  if (!text.empty()) source = plan::Device::parse(text, "the first process's input device");
  for (const io::ArrayFile& input : frame.inputs)
    frame.membership.parts ? check_like_parts(input, team) : check_same_file(input, team);
}

// The first member's findings, but with the largest alignment that any member needs.
FileAccess agreed(const FileAccess& mine, Team& team) {
  const auto byte = [](auto value) { return static_cast<char>(value); };
  const std::string first = team.from_first({byte(mine.source), byte(mine.target), byte(mine.keep_cached)});
  return {io::Access{first[0]}, io::Access{first[1]}, team.most(mine.read_alignment), first[2] != 0};
}

// The disk space for scratch files beside the output.
std::uint64_t scratch_room(const Frame& frame) {
  const std::string name = "scratch files";
  const io::Descriptor scratch = io::open_directory(frame.disk(), frame.scratch_directory(), name);
  struct stat beside, made;
  const std::optional<std::uint64_t> free = io::free_bytes(scratch.get());
  if (!free || fstat(scratch.get(), &beside) != 0 ||
      stat(io::directory_of_output(frame.output.path).c_str(), &made) != 0)
    return plan::Setting{}.scratch_room;
  const bool takes_space = made.st_dev == beside.st_dev && !frame.options.into_existing;
  const std::uint64_t output = takes_space ? frame.output.all_bytes() : 0;
  return *free - std::min(*free, output);
}

// Throws for what these options ask for and this run cannot do.
void check_options(const Options& options, bool alone, const Abilities& engine) {
  if (options.resumable && !alone) throw InputError("only a run by one process can be resumable");
  if (options.split && !(engine.strided && alone))
    throw InputError("only a reordering by one process makes several files");
  if (options.into_existing && (!engine.strided || !alone || options.split || options.resumable))
    throw InputError("only a run by one process fills a part of a file, and it cannot be resumable or split");
  if (options.split && options.overwrite)
    throw InputError("several files are only made anew; they cannot replace others");
  if (options.split && options.resumable)
    throw InputError("a run that makes several files cannot be resumable");
}

// Of a team, only the first member looks, and the others adopt its findings.
Disks disks_for(const Frame& frame, const std::filesystem::path& output) {
  if (frame.options.device) return {.target = *frame.options.device};
  if (frame.team() != nullptr && !frame.team()->is_first()) return {.target = plan::Device::ssd()};
  return disks_of(*frame.input().file, output);
}

// What the inputs are noted for. Of thousands of files most are noted for the same.
std::string note_of(const std::vector<io::ArrayFile>& inputs) {
  std::vector<std::string> texts;                                    // in the order of their first files
  std::map<std::string, std::pair<std::string, std::size_t>> files;  // the first file, and how many
  for (const io::ArrayFile& in : inputs) {
    std::string text = in.note;
    if (in.rest != 0 && in.format == io::Format::npy)  // of a raw file the user has said so
      text = fmt::format("{} behind the array are left out, as numpy.load does", count_text(in.rest, "byte"));
    if (text.empty()) continue;
    const auto [of, is_new] = files.try_emplace(text, in.path.string(), 0);
    if (is_new) texts.push_back(text);
    ++of->second.second;
  }
  std::string note;
  for (const std::string& text : texts) {
    const auto& [first, count] = files.at(text);
    const std::string others = count > 1 ? " and " + count_text(count - 1, "other file") : "";
    add_note(note, fmt::format("{}{}: {}", first, others, text));
  }
  return note;
}

// An output without a header may get that of another file.
std::string note_of_header(const Frame& frame) {
  if (!frame.output.header.empty() || frame.options.into_existing) return {};
  const auto header = io::header_beside(frame.output.path, frame.disk());
  if (!header || *header == frame.output.header_file) return {};
  return fmt::format("{}: lies beside {}, and will be taken for its header", header->string(),
                     frame.output.path.string());
}

// Only tiles are read in pieces.
void check_contiguous(const io::ArrayFile& input) {
  const io::ArrayDescription& array = input.description;
  if (array.is_contiguous(Order::c) || array.is_contiguous(Order::fortran)) return;
  throw InputError(fmt::format(
      "{}: this needs elements that follow each other in the file, as they are; `xorder transpose --axes "
      "0,1,..` makes such a file",
      input.path.string()));
}

// Cached data can be read in small requests without loss. That allows large requests for writing, and small
// tiles, which are written while the next ones are read.
plan::Setting setting_of(const Frame& frame, std::uint64_t memory) {
  const FileAccess& access = frame.access;
  const bool cached_source = access.keep_cached && access.source != io::Access::direct;
  plan::Setting setting{.memory = memory,
                        .threads = task::thread_count(frame.options.threads),
                        .device = frame.disks.target,
                        .source_offset = frame.input().description.begin(),
                        .target_offset = frame.output.offset,
                        .target_part = frame.options.split ? frame.output.bytes / frame.output.files : 0,
                        .read_alignment = access.read_alignment,
                        .write_alignment = access.target == io::Access::direct ? plan::file_block : 1,
                        .mapped = access.mapped(),
                        .keep_cached = access.keep_cached};
  if (!setting.mapped)
    setting.source = cached_source ? plan::Device::page_cache() : frame.disks.source;
  else if (cached_source)
    setting.device = plan::Device::page_cache();
  if (!frame.membership.parts) setting.scratch_room = scratch_room(frame);
  if (Team* const team = frame.sharing()) {
    setting.processes = static_cast<std::uint64_t>(team->size());
    setting.scratch_room = team->least(setting.scratch_room);
  }
  return setting;
}

// What fresh memory costs decides how much of it is worth having. A run that moves this much takes some
// seconds. A team's members must have the same figure, and keep the assumed one.
constexpr std::uint64_t worth_a_measurement = std::uint64_t{2} << 30;

void measure_memory(plan::Setting& setting, std::uint64_t working) {
  if (working < worth_a_measurement || setting.memory < 4 * io::touched_fresh_memory) return;
  if (const auto rate = io::touch_fresh_memory().rate()) setting.host.fresh_bytes_per_second = *rate;
}

std::uint64_t memory_beside(const Frame& frame) {
  const unsigned processes = frame.team() == nullptr ? 1 : frame.team()->neighbours();
  std::uint64_t in_memory = 0;
  if (!frame.options.into_existing && io::only_in_memory(io::directory_of_output(frame.output.path)))
    in_memory = frame.output.all_bytes() * (frame.membership.parts ? processes : 1);
  return effective_memory(frame.options.memory, processes, in_memory);
}

void note_less_memory(Frame& frame, std::uint64_t memory) {
  if (const std::uint64_t asked = frame.options.memory; asked > memory)
    add_note(frame.note,
             fmt::format("asked for {} of memory; {} can be used", size_text(asked), size_text(memory)));
}

}  // namespace

std::uint64_t Frame::input_bytes() const {
  std::uint64_t bytes = 0;
  for (const io::ArrayFile& input : inputs) bytes += input.description.bytes();
  return bytes;
}

bool may_replace_header(const Frame& frame) {
  if (frame.options.overwrite) return true;
  const std::string& text = frame.output.header_text;
  try {  // a run that was killed may have named it, and not its output
    return io::read_text(frame.output.header_file, text.size()) == text;
  } catch (const Error&) {
    return false;
  }
}

std::vector<int> kept_axes(const Reordering& what) {
  std::vector<int> axes = what.order;
  if (what.mapped) std::ranges::replace(axes, *what.mapped, -1);
  return axes;
}

std::filesystem::path Frame::scratch_directory() const {
  return options.scratch_directory.empty() ? io::directory_of_output(output.path) : options.scratch_directory;
}

std::shared_ptr<const plan::SourceFiles> source_files(const std::vector<io::ArrayFile>& inputs) {
  std::vector<plan::StridedSource> files;
  for (const io::ArrayFile& input : inputs) {
    const io::ArrayDescription& array = input.description;
    if (array.elements() == 0) continue;
    std::vector<plan::StridedAxis> axes;
    for (const int axis : array.axes_in_file()) {
      const auto i = static_cast<std::size_t>(axis);
      axes.push_back(
          {array.extents[i], static_cast<std::uint64_t>(std::abs(array.strides[i])), array.strides[i] < 0});
    }
    files.emplace_back(std::move(axes), array.dtype.bytes, array.pieces);
  }
  if (files.empty()) return nullptr;
  auto all = std::make_shared<plan::SourceFiles>(std::move(files));
  return all->trivial() ? nullptr : std::move(all);
}

Destination destination(std::filesystem::path path, const io::ArrayFile& input, const io::DType& dtype,
                        const std::vector<std::uint64_t>& extents, const Options& options) {
  const std::uint64_t offset = options.output_offset;
  std::vector<std::uint64_t> shape = extents;  // of each file
  Destination to{.path = std::move(path),
                 .header = {},
                 .offset = offset,
                 .bytes = checked_bytes({extents, dtype.bytes, Order::c})};
  if (options.split) {
    if (shape.empty()) throw InputError("a result without axes cannot be split");
    to.files = shape.front();
    shape.erase(shape.begin());
    if (to.files == 0 || to.files > most_files)
      throw InputError(fmt::format("{}: the axis to split has {}, each for a file; expected 1 to {}",
                                   to.path.string(), count_text(to.files, "place"), most_files));
  }
  // What an existing file is does not matter.
  const io::Format format =
      options.into_existing ? io::Format::raw : io::output_format(to.path, input.format, offset != 0);
  if (format == io::Format::npy) {
    if (offset != 0) {
      throw InputError(fmt::format(
          "{}: an .npy file says where its data begin; an offset is only for raw files", to.path.string()));
    }
    to.header = io::npy_header(dtype, shape, options.output_order, options.compact_header);
    to.offset = to.header.size();
  } else if (format == io::Format::hdf5) {
    if (options.split)
      throw InputError(
          fmt::format("{}: a result is split into .npy or raw files, not HDF5", to.path.string()));
    if (options.output_order != Order::c)
      throw InputError(fmt::format("{}: an HDF5 file has its data in C order", to.path.string()));
    const std::string dataset = !options.dataset.empty()           ? options.dataset
                                : input.format == io::Format::hdf5 ? input.member
                                                                   : "/data";
    try {
      io::Hdf5Header made = io::hdf5_header({dataset, dtype, extents, options.kept_axes}, input);
      to.header = std::move(made.bytes);
      to.note = std::move(made.note);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}:{}: {}", to.path.string(), dataset, error.what()));
    }
    to.offset = to.header.size();
  } else if (input.format == io::Format::envi && offset == 0 && !options.split && !options.into_existing) {
    if (options.output_order == Order::fortran) std::ranges::reverse(shape);
    io::EnviHeader made = io::envi_header(dtype, shape, options.kept_axes, input);
    to.note = std::move(made.note);
    to.header_text = std::move(made.text);
    if (!to.header_text.empty()) (to.header_file = to.path).replace_extension(".hdr");
  }
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (to.offset > most || to.bytes > most - to.offset) {
    throw InputError(fmt::format("{}: {} bytes at offset {} end beyond 2^63, the largest size of a file",
                                 to.path.string(), to.bytes, to.offset));
  }
  return to;
}

void check_sizes(std::uint64_t bytes, std::span<const io::ArrayFile> inputs,
                 const std::vector<std::uint64_t>& extents) {
  const io::ArrayFile& first = inputs.front();
  std::uint64_t all = 0;
  for (const io::ArrayFile& input : inputs) {
    if (input.description.dtype != first.description.dtype)
      throw InputError(fmt::format("{}: its type is {}, that of {} is {}; all inputs must have the same type",
                                   input.path.string(), input.description.dtype.descr, first.path.string(),
                                   first.description.dtype.descr));
    all += input.description.bytes();
  }
  const std::string name = first.path.string() + (inputs.size() > 1 ? " and the other inputs" : "");
  if (all != bytes) {
    throw InputError(
        fmt::format("{}: has {} bytes of elements, but the reordering is for {}", name, all, bytes));
  }
  const std::uint64_t elements = checked_bytes({extents, 1, Order::c}),
                      given = all / first.description.dtype.bytes;
  if (elements != given) {
    throw InputError(fmt::format("{}: has {} elements, but an output of shape ({}) has {}", name, given,
                                 fmt::join(extents, ", "), elements));
  }
}

void check_c_order(const io::ArrayFile& input) {
  check_contiguous(input);
  if (input.description.is_contiguous(Order::c)) return;
  throw InputError(fmt::format(
      "{}: it is in Fortran order; `xorder transpose --axes 0,1,..` makes it C order", input.path.string()));
}

Frame settle(std::vector<io::ArrayFile> inputs, std::filesystem::path output, const io::DType& dtype,
             const std::vector<std::uint64_t>& extents, Options options, std::uint64_t working,
             const Membership& membership, Abilities engine) {
  check_page_size();
  for (const io::ArrayFile& input : inputs) refuse_half_done(input.path);
  refuse_half_done(output, options.into_existing);
  if (auto [file, name] = io::output_file_and_name(output); name && !options.into_existing) {
    output = std::move(file);
    options.dataset = *std::move(name);
  }
  if (!engine.strided) std::ranges::for_each(inputs, check_contiguous);
  check_options(options, membership.team == nullptr, engine);
  Frame frame{std::move(inputs), {}, std::move(options), membership, {}, {}, {}, {}};
  Team* const team = frame.team();
  frame.disks = disks_for(frame, output);
  frame.note = frame.disks.note;
  add_note(frame.note, note_of(frame.inputs));
  if (team != nullptr) join(frame, *team);
  frame.output = destination(std::move(output), frame.input(), dtype, extents, frame.options);
  add_note(frame.note, frame.output.note);
  add_note(frame.note, note_of_header(frame));
  if (frame.options.resumable) find_journal(frame);
  std::uint64_t memory = memory_beside(frame);
  if (team != nullptr) memory = team->least(memory);
  note_less_memory(frame, memory);
  check_output(frame);
  if (membership.parts) check_own_file(frame, *team);
  frame.access =
      choose_access(frame.input(), frame.output, frame.options.access, team == nullptr, memory, working);
  if (frame.sharing() != nullptr) frame.access = agreed(frame.access, *team);
  frame.setting = setting_of(frame, memory);
  if (team == nullptr && !frame.resumes()) measure_memory(frame.setting, working);
  frame.allowed_memory = memory;
  if (frame.resumes()) frame.setting = frame.journal->setting;
  if (engine.strided) frame.setting.strided = source_files(frame.inputs);
  return frame;
}

Frame settle_in_place(const io::ArrayFile& file, Options options) {
  check_page_size();
  const std::string name = file.path.string();
  const auto refuse = [&](const char* why) { throw InputError(fmt::format("{}: {}", name, why)); };
  const io::ArrayDescription& array = file.description;
  if (file.format != io::Format::npy && file.format != io::Format::raw)
    refuse("only .npy and raw files are reordered in place; name another file as OUT");
  if (!array.pieces.empty() || !(array.is_contiguous(Order::c) || array.is_contiguous(Order::fortran)))
    refuse("in place only whole arrays in C or Fortran order are reordered; name another file as OUT");
  if (options.access == AccessChoice::mapped) refuse("in place files are not mapped; use direct access");
  if (options.overwrite || options.resumable || options.split || options.output_offset != 0)
    refuse("in place there is no output, which these options are for; a run can always be resumed");
  Frame frame{{file}, {}, std::move(options), {}, {}, {}, {}, {}};
  frame.output = {.path = file.path, .header = {}, .offset = array.begin(), .bytes = array.bytes()};
  frame.disks = disks_for(frame, file.path);
  frame.note = frame.disks.note;
  add_note(frame.note, note_of(frame.inputs));
  frame.allowed_memory = effective_memory(frame.options.memory);
  note_less_memory(frame, frame.allowed_memory);
  static_cast<void>(io::open_directory(frame.disk(), frame.scratch_directory(), "the undo area"));
  const io::File probe = file.file->reopen(io::Access::direct, frame.disk());
  frame.access.read_alignment =
      std::max({probe.offset_alignment(), probe.memory_alignment(), probe.write_alignment()});
  frame.setting = setting_of(frame, frame.allowed_memory);
  return frame;
}

}  // namespace xorder::work
