#include "moving.hpp"

#include <fmt/format.h>

#include <utility>

#include "arguments.hpp"
#include "checked_option.hpp"
#include "interrupt.hpp"
#include "invocation.hpp"
#include "io/disk.hpp"
#include "io/format/on_disk.hpp"
#include "io/throttle.hpp"
#include "option_groups.hpp"
#include "progress_bar.hpp"
#include "session.hpp"
#include "text/seconds_text.hpp"
#include "text/size_text.hpp"
#include "tracing.hpp"
#include "work/journal.hpp"
#include "work/json.hpp"
#include "work/profiles.hpp"
#include "work/remembered.hpp"
#include "work/resuming.hpp"
#include "xorder/verify/checksum.hpp"

namespace xorder::cli {
namespace {

plan::Device parse_device(const std::string& text, const std::string& what) {
  try {
    return work::named_device(text);
  } catch (const InputError& e) {
    throw InputError(fmt::format("{}: {}", what, e.what()));
  }
}

void keep(Tracing& tracing, const work::Work& work, const work::Report& report) {
  try {
    tracing.commit(work::plan_json(work.summary()), Reporting::report_json(work, report));
  } catch (const IoError& error) {
    throw ReportLost(fmt::format("the output is complete, but its trace is lost: {}", error.what()));
  }
}

}  // namespace

work::Report run_with_bar(work::Work& work, const Reporting& reporting, const std::string& output,
                          const std::stop_token& stop) {
  ProgressBar bar(reporting.shows_bar());
  try {
    return work.run([&](const work::Progress& p) { bar.show(p); }, stop);
  } catch (const Error&) {
    reporting.note(work.unfinished(quoted_for_shell(output)));
    throw;
  }
}

io::ArrayDescription Request::array() const {
  if (joining) {
    const work::Joined all = joined(inputs, *joining);
    std::vector<std::uint64_t> extents = all.extents();
    checked_bytes({extents, input().description.dtype.bytes, Order::c});
    return io::ArrayDescription::contiguous(input().description.dtype, std::move(extents), Order::c, 0);
  }
  const io::ArrayDescription& part = input().description;
  if (!parts) return part;
  const work::Team& team = *session().team;
  work::lg_parts(team);  // report a wrong number of processes before errors in the parts
  // Parts are slabs along the slowest axis.
  std::vector<std::uint64_t> extents = part.extents;
  if (extents.empty()) extents.push_back(1);
  std::uint64_t& slowest = part.order() == Order::c ? extents.front() : extents.back();
  if (__builtin_mul_overflow(slowest, static_cast<std::uint64_t>(team.size()), &slowest))
    throw InputError(
        fmt::format("{} parts like {} have 2^64 elements or more", team.size(), input().path.string()));
  checked_bytes({extents, part.dtype.bytes, Order::c});
  return io::ArrayDescription::contiguous(part.dtype, std::move(extents), part.order(), part.offset);
}

Reordering Request::transposition(std::span<const int> axes) const {
  return joining ? joined(inputs, *joining).transposition(axes)
                 : xorder::transposition(array().shape(), axes);
}

Reordering Request::mapping_along(int axis, const gf2::AffineMap& map) const {
  return joining ? joined(inputs, *joining).mapping_along(axis, map)
                 : xorder::mapping_along(array().shape(), axis, map);
}

Reordering Request::mapping_of_all(const gf2::AffineMap& map) const {
  return xorder::mapping_of_all(joining ? joined(inputs, *joining).shape : array().shape(), map);
}

void MovingCommand::add_resources(CLI::App& command) {
  const bool alone = session().team == nullptr;
  command
      .add_flag("-f,--force", settings_.overwrite,
                alone ? "replace OUT and the files of --checksum and --trace if they exist"
                      : "replace OUT if it exists")
      ->group(group::output);
  add_parsed(command, "--memory", "SIZE", settings_.memory, parse_memory,
             alone ? "memory to use, page cache included; default: half of what is available"
                   : "memory per process; default: its share of half of the available memory")
      ->group(group::resources);
  if (alone)
    command.add_flag("--resumable", settings_.resumable, "if it is killed, `xorder resume OUT` goes on")
        ->group(group::output);
  command.option_defaults()->group(group::tuning);
  if (alone)
    add_parsed(command, "--bwlimit", "SIZE", bandwidth_, parse_memory,
               "read and write at most SIZE per second, together, so that others can use the disk too");
  if (alone)
    command
        .add_option("--checksum", checksum_, "write a checksum of OUT, for xorder verify OUT --checksum FILE")
        ->type_name("FILE");
  add_parsed(command, "--threads", "N", settings_.threads, parse_threads,
             alone ? "threads that permute; default: one per processor"
                   : "threads that permute, per process; default: its share of the processors");
  const auto same = [](const std::string& text, const std::string&) { return text; };
  add_parsed(command, "--tmpdir", "DIR", settings_.scratch_directory, same,
             "directory for scratch files; default: that of OUT");
  const auto read_device = [this](const std::string& text, const std::string& what) {
    if (!work::built_in_device(text)) profile_ = text;
    return parse_device(text, what);
  };
  add_parsed(command, "--device", "ssd|hdd|tmpfs|FILE", settings_.device, read_device,
             "the disk's profile; default: the one that was measured, or else tmpfs within tmpfs, hdd if the "
             "disk is seen to spin, and ssd elsewhere");
  add_choice<bool>(command, "--npy-header", settings_.compact_header, {{"aligned", false}, {"compact", true}},
                   "of an .npy OUT: padded to a page, so that the data are aligned, or as short as NumPy's; "
                   "default: aligned")
      ->group(group::stored);
  using Choice = work::AccessChoice;
  add_choice<Choice>(command, "--io", settings_.access,
                     {{"auto", Choice::automatic}, {"direct", Choice::direct}, {"mapped", Choice::mapped}},
                     "how to access the files; all give the same output; default: auto");
}

void MovingCommand::add_in_place(CLI::App& command) {
  const auto chosen = [this, &command] {
    in_place_ = true;
    command.get_option("OUT")->required(false);
  };
  command
      .add_flag_callback("--in-place", chosen,
                         "reorder IN itself, without OUT; see xorder rollback, resume, status")
      ->group(group::tuning);
}

void MovingCommand::check_in_place(const CLI::App& command) const {
  for (const char* const name : {"--stack", "--concatenate", "--files-from", "--select", "--field",
                                 "--strides", "--byte-order", "--banded", "--out-shape", "--out-order",
                                 "--split", "--force", "--resumable", "--verify", "--npy-header"}) {
    const CLI::Option* const option = command.get_option_no_throw(name);
    if (option != nullptr && option->count() > 0)
      throw InputError(
          fmt::format("{}: not with --in-place, which reorders a whole array and keeps its type; "
                      "name another file as OUT",
                      name));
  }
}

void MovingCommand::add_to(CLI::App& command, Make make, const OtherFiles& others) {
  const auto self = std::make_shared<MovingCommand>();
  self->make_ = std::move(make);
  self->files_.add_to(command, others);
  self->add_resources(command);
  if (others.in_place) self->add_in_place(command);
  self->reporting_.add_to(command);
  command.callback([self, &command] {
    const CLI::Option* const split = command.get_option_no_throw("--split");
    if (!self->checksum_.empty() && split != nullptr && split->count() > 0)
      throw InputError("--checksum: is of one file, not with --split");
    if (self->in_place_) {
      self->check_in_place(command);
      self->files_.use_input_as_output();
    } else {
      self->files_.sort();
    }
    self->run();
  });
}

// A disk that nobody has measured is measured before a long run, and the work made again for it.
void MovingCommand::learn_disk(Request& request, std::unique_ptr<work::Work>& work,
                               const std::stop_token& stop) const {
  const std::string& output = files_.written();
  if (request.options.device || session().team != nullptr || bandwidth_ != 0 || in_place_ ||
      work::device_for(output).known)
    return;
  if (work->summary().bytes < work::worth_learning) return;
  if (reporting_.dry_run) {
    reporting_.note(
        fmt::format("the disk of {} has not been measured: a real run measures it first if it can, and may "
                    "choose another plan",
                    output));
  } else if (auto device = work::learn_device(output, stop)) {
    if (!work::device_for(output).known) request.options.device = *std::move(device);  // it was not saved
    work = make_(request);
    reporting_.note(
        fmt::format("measured the disk of {} first (xorder bench disk measures it more accurately)", output));
  }
}

// Of what is on the disk, read again.
void MovingCommand::keep_checksum(TextFile& kept, const std::string& output,
                                  const std::stop_token& stop) const {
  try {
    ProgressBar bar(reporting_.shows_bar());
    const auto show = [&](const work::Progress& p) { bar.show(p); };
    kept.write(verify::checksum(output, {settings_.memory, settings_.threads}, show, stop).text());
  } catch (const Cancelled&) {
    reporting_.note(fmt::format("{}: is complete, without its checksum", output));
    throw;
  } catch (const Error& error) {
    throw ReportLost(fmt::format("the output is complete, but its checksum is lost: {}", error.what()));
  }
}

void MovingCommand::run() const {
  std::optional<Interrupt> interrupt;
  if (session().team == nullptr) interrupt.emplace();  // a team handles signals itself
  const std::stop_token stop = interrupt ? interrupt->token() : std::stop_token();
  if (!in_place_)
    io::output_format(files_.output(), io::Format::raw);  // throws before anything else if it is not written
  for (const std::string& note : files_.left_over()) reporting_.note(note);
  const std::string& output = files_.written();
  std::optional<work::Journal> earlier;
  try {
    if (session().team == nullptr && !in_place_) earlier = work::read_journal(output);
  } catch (const InputError&) {  // others need not care what it is
    if (settings_.resumable) throw;
  }
  if (earlier && settings_.resumable && !reporting_.dry_run && work::is_complete(*earlier, output)) {
    work::discard(*earlier, output, io::system_disk());
    if (!checksum_.empty()) {
      TextFile checksum(checksum_, settings_.overwrite);
      keep_checksum(checksum, output, stop);
    }
    return reporting_.note(fmt::format("{}: was complete already", output));
  }
  if (earlier && !earlier->in_place && !settings_.resumable)
    reporting_.note(
        fmt::format("{}: an earlier run is not finished: `xorder resume {}` goes on with it, "
                    "`xorder discard {}` removes its files",
                    output, quoted_for_shell(output), quoted_for_shell(output)));
  // What goes on in place goes on with the array as it was.
  std::vector<io::ArrayFile> inputs = in_place_ && session().in_place != InPlace::begin
                                          ? work::remembered(work::unfinished(output, false), output).inputs
                                          : files_.open();
  files_.check_text_files(reporting_.trace, profile_);
  std::optional<Tracing> tracing;
  if (!reporting_.trace.empty()) {
    tracing.emplace(reporting_.trace, settings_.overwrite, inputs, files_.written());
    for (io::ArrayFile& input : inputs) input = io::on_disk(std::move(input), tracing->disk());
  }
  std::optional<TextFile> checksum;
  if (!checksum_.empty() && !reporting_.dry_run) {
    require_different_files({{"OUT", output}, {"--trace", reporting_.trace}, {"--checksum", checksum_}});
    std::vector<std::filesystem::path> read;
    for (const io::ArrayFile& input : inputs) read.push_back(input.path);
    checksum.emplace(checksum_, settings_.overwrite, read);
  }
  std::optional<io::Throttle> throttle;
  if (bandwidth_ != 0) {
    throttle.emplace(bandwidth_, stop, inputs.front().file->disk());
    for (io::ArrayFile& input : inputs) input = io::on_disk(std::move(input), *throttle);
  }
  Request request{std::move(inputs),        files_.output(),  settings_, files_.parts(),
                  files_.lowest_part_bit(), files_.joining(), in_place_};
  request.options.plan_only = reporting_.dry_run;
  if (settings_.resumable || in_place_) request.options.command = given_words();
  request.options.dataset = files_.dataset();
  std::unique_ptr<work::Work> work = make_(request);
  learn_disk(request, work, stop);
  reporting_.note(work->summary().note);
  if (bandwidth_ != 0) {
    const std::uint64_t bytes = work->summary().bytes_read + work->summary().bytes_written;
    reporting_.note(fmt::format("at {}/s its transfers of {} take {}", size_text(bandwidth_),
                                size_text(bytes),
                                seconds_text(static_cast<double>(bytes) / static_cast<double>(bandwidth_))));
  }
  if (reporting_.dry_run) return reporting_.plan(*work, request.inputs, stop);

  const work::Report report = run_with_bar(*work, reporting_, output, stop);
  session().made.push_back(request.output.string());
  if (tracing) keep(*tracing, *work, report);
  reporting_.note(report.note);
  if (checksum) keep_checksum(*checksum, files_.written(), stop);
  const bool rest = session().in_place != InPlace::begin || (earlier && settings_.resumable);
  reporting_.report(*work, report, request.inputs, files_.written(), rest);
}

}  // namespace xorder::cli
