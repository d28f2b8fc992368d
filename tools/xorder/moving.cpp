#include "moving.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <ranges>
#include <utility>

#include "arguments.hpp"
#include "checked_option.hpp"
#include "count_text.hpp"
#include "interrupt.hpp"
#include "invocation.hpp"
#include "io/format/on_disk.hpp"
#include "io/output.hpp"
#include "json_text.hpp"
#include "option_groups.hpp"
#include "progress_bar.hpp"
#include "session.hpp"
#include "size_text.hpp"
#include "standard_streams.hpp"
#include "task/threads.hpp"
#include "text_file.hpp"
#include "tracing.hpp"
#include "work/json.hpp"
#include "work/profiles.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {
namespace {

work::AccessChoice access_choice(const std::string& name) {
  if (name == "direct") return work::AccessChoice::direct;
  if (name == "mapped") return work::AccessChoice::mapped;
  return work::AccessChoice::automatic;
}

// What virtual processors send, and how long it takes.
std::string traffic_text(const work::Traffic& traffic) {
  std::string text =
      fmt::format("schedule {} on {}: {}, {}, {}, {} moved\n", traffic.schedule,
                  count_text(traffic.processors, "virtual processor"), count_text(traffic.steps, "step"),
                  count_text(traffic.messages, "message"), count_text(traffic.crossings, "link crossing"),
                  size_text(static_cast<double>(traffic.bytes_moved)));
  if (!traffic.time) return text;
  const auto& [times, runs, store_and_forward, wormhole] = *traffic.time;
  return text + fmt::format(
                    "time with {}, {} of the schedule: store and forward {:.6g} in lock step, {:.6g} "
                    "asynchronously; wormhole {:.6g} and {:.6g}\n",
                    times.one_port ? "one port" : "all ports", count_text(runs, "run"),
                    store_and_forward.lock_step, store_and_forward.asynchronous, wormhole.lock_step,
                    wormhole.asynchronous);
}

void keep(Tracing& tracing, const work::Summary& plan, const work::Report& report) {
  try {
    tracing.commit(work::plan_json(plan), work::report_json(plan, report));
  } catch (const IoError& error) {
    throw TraceLost(fmt::format("the output is complete, but its trace is lost: {}", error.what()));
  }
}

}  // namespace

void RawOptions::add_to(CLI::App& command) {
  command
      .add_option("--dtype", dtype,
                  "element type of a raw file, as NumPy writes it: f8, u1, >i4, c16, V24, float64, uint8, ..")
      ->type_name("TYPE")
      ->group(group::input);
  command
      .add_option("--shape", shape,
                  "extents of a raw file, slowest axis first, as 12,7 or 12x7; one may be -1: it follows "
                  "from the file's size; (): one element; default: one axis")
      ->type_name("R,C,..")
      ->group(group::input);
  command.add_option("--offset", offset, "where the data of a raw file begins")
      ->type_name("BYTES")
      ->group(group::input);
}

std::optional<io::RawLayout> RawOptions::layout() const {
  if (dtype.empty() && shape.empty() && offset.empty()) return std::nullopt;
  io::RawLayout layout;
  if (!dtype.empty()) layout.dtype = io::parse_dtype(dtype);
  if (!shape.empty()) {
    const RawShape given = parse_shape(shape, "--shape");
    layout.extents = given.extents;
    layout.inferred_axis = given.inferred_axis;
  }
  if (!offset.empty()) layout.offset = parse_offset(offset, "--offset");
  return layout;
}

io::ArrayFile RawOptions::open(const std::string& path) const {
  try {
    return io::open_array(path, layout());
  } catch (const io::LayoutError& e) {
    throw InputError(fmt::format("{} (--dtype, --shape, --offset)", e.what()));
  }
}

io::ArrayDescription Request::array() const {
  io::ArrayDescription whole = input().description;
  if (!parts) return whole;
  const work::Team& team = *session().team;
  work::lg_parts(team);  // report a wrong number of processes before errors in the parts
  // Parts are slabs along the slowest axis.
  if (whole.extents.empty()) whole.extents.push_back(1);
  std::uint64_t& slowest = whole.order == Order::c ? whole.extents.front() : whole.extents.back();
  if (__builtin_mul_overflow(slowest, static_cast<std::uint64_t>(team.size()), &slowest))
    throw InputError(
        fmt::format("{} parts like {} have 2^64 elements or more", team.size(), input().path.string()));
  checked_bytes(whole.shape());
  return whole;
}

void MovingCommand::add_to(CLI::App& command, Make make, const OtherFiles& others) {
  const auto self = std::make_shared<MovingCommand>();
  self->make_ = std::move(make);
  self->several_with_ = others.several_with;
  self->made_from_ = others.text;
  // The help has the options of each group in this order.
  self->add_files(command, others);
  self->add_parts(command);
  self->add_resources(command);
  self->add_reporting(command);
  self->add_access(command);
  command.callback([self] {
    self->sort_files();
    self->run();
  });
}

void MovingCommand::add_files(CLI::App& command, const OtherFiles& others) {
  const CLI::Option* const several = others.several_with;
  inputs_.resize(1 + others.inputs.size());
  command
      .add_option(several != nullptr      ? "IN.."
                  : others.inputs.empty() ? "IN"
                                          : "A",
                  inputs_[0],
                  several == nullptr
                      ? "the file to read: .npy, or raw with --dtype"
                      : fmt::format("the file to read, or with {} several: .npy, or raw with --dtype",
                                    several->get_name()))
      ->required();
  for (std::size_t i = 0; i < others.inputs.size(); ++i) {
    command.add_option(others.inputs[i], inputs_[i + 1], "another file of the same type and shape")
        ->required();
  }
  command
      .add_option("OUT", output_,
                  "the file to create, in the input's format, unless its name ends in .npy or in .raw, .bin "
                  "or .dat (raw); not in .h5, .npz, .tif or what else means a format that is not written")
      ->required();
  if (several != nullptr) command.add_option("behind", behind_)->group("");  // see sort_files()
  raw_.add_to(command);
  command
      .add_flag("-f,--force", force_,
                session().team == nullptr
                    ? "replace OUT and the file of --trace if they exist; what was there "
                      "leaves its permissions and attributes"
                    : "replace OUT if it exists")
      ->group(group::output);
}

void MovingCommand::add_parts(CLI::App& command) {
  if (!session().work_on_parts) return;
  CLI::Option* const parts =
      command
          .add_flag("--parts", parts_,
                    "each process has a part of the array; %r in IN and OUT is its rank; parts follow each "
                    "other along the slowest axis; 2^k processes, extents 2^n")
          ->group(group::input);
  add_layout(command, layout_, "with --parts: ", "its rank")->group(group::input)->needs(parts);
}

void MovingCommand::add_resources(CLI::App& command) {
  command
      .add_option(
          "--memory", memory_,
          session().team == nullptr
              ? "memory to use, page cache included; no more than the machine has; default: half of what is "
                "available"
              : "memory per process; default: its share of half of the available memory")
      ->type_name("SIZE")
      ->group(group::resources);
  command
      .add_option("--threads", threads_,
                  session().team == nullptr
                      ? "threads that permute; default: one per processor"
                      : "threads that permute, per process; default: its share of the processors")
      ->type_name("N")
      ->group(group::resources);
  command.add_option("--tmpdir", tmpdir_, "directory for scratch files; default: that of OUT")
      ->type_name("DIR")
      ->group(group::resources);
}

void MovingCommand::add_reporting(CLI::App& command) {
  CLI::Option* const dry_run =
      command.add_flag("--dry-run", dry_run_, "print the plan, even without room for OUT, and touch nothing")
          ->group(group::reporting);
  command.add_flag("--json", json_, "print the report (with --dry-run the plan) as one JSON object")
      ->group(group::reporting);
  command.add_flag("-q,--quiet", quiet_, "print nothing unless something fails")->group(group::reporting);
  add_choice(command, "--progress", progress_, {"auto", "bar", "none"},
             "progress bar on standard error; auto: only on a terminal; default: auto")
      ->group(group::reporting);
  if (session().team == nullptr) {
    command
        .add_option("--trace", trace_,
                    "record every transfer in a file for xorder report; not with --dry-run")
        ->type_name("FILE")
        ->group(group::reporting)
        ->excludes(dry_run);
  }
}

void MovingCommand::add_access(CLI::App& command) {
  add_choice(command, "--io", access_, {"auto", "direct", "mapped"},
             "how to access the files; all give the same output; default: auto")
      ->group(group::how);
  command
      .add_option(
          "--device", device_,
          "the disk's profile; default: the one that was measured, or else tmpfs within tmpfs, hdd if the "
          "disk is seen to spin, and ssd elsewhere")
      ->type_name("ssd|hdd|tmpfs|FILE")
      ->group(group::resources);
}

// CLI11 cannot have IN.. before OUT: it calls the first two files IN and OUT, however many there are.
void MovingCommand::sort_files() {
  if (!behind_.empty() && several_with_->count() == 0) {
    std::vector<std::string> files = behind_;
    files.insert(files.end(), {inputs_.front(), output_});
    const std::string counted = fmt::format(
        "{} files are named, but a run makes one OUT from one IN; only band matrices may lie in "
        "several IN ({})",
        files.size(), several_with_->get_name());
    throw CLI::ParseError(complaint_of_number(files).value_or(counted), CLI::ExitCodes::ExtrasError);
  }
  for (std::string& file : behind_) inputs_.push_back(std::exchange(output_, std::move(file)));
  behind_.clear();
}

work::Options MovingCommand::options() const {
  work::Options options;
  if (!memory_.empty()) options.memory = parse_memory(memory_, "--memory");
  if (!threads_.empty()) {
    const int threads = parse_int(threads_, "--threads");
    if (threads < 1 || threads > task::max_threads)
      throw InputError(fmt::format("--threads: {} is not from 1 to {}", threads, task::max_threads));
    options.threads = static_cast<unsigned>(threads);
  }
  options.access = access_choice(access_);
  if (!device_.empty()) {
    try {
      options.device = work::named_device(device_);
    } catch (const InputError& e) {
      throw InputError(fmt::format("--device: {}", e.what()));
    }
  }
  options.scratch_directory = tmpdir_;
  options.overwrite = force_;
  options.plan_only = dry_run_;
  return options;
}

std::string MovingCommand::own(const std::string& path) const {
  if (!parts_) return path;
  constexpr std::string_view mark = "%r";
  if (path.find(mark) == std::string::npos)
    throw InputError(fmt::format(
        "{}: with --parts the name must contain %r, which stands for the rank, as in part.%r.npy", path));
  std::string name = path;
  const std::string rank = std::to_string(session().team->rank());
  for (auto at = name.find(mark); at != std::string::npos; at = name.find(mark, at + rank.size()))
    name.replace(at, mark.size(), rank);
  return name;
}

void MovingCommand::check_text_files() const {
  const bool profile = !device_.empty() && !work::built_in_device(device_);
  for (const std::string& output : {own(output_), trace_}) {
    if (output.empty()) continue;
    if (profile) require_not_read(output, device_);
    if (made_from_ != nullptr && !made_from_->empty()) require_not_read(output, *made_from_);
  }
}

void MovingCommand::tell_note(const std::string& note) const {
  if (session().speaks() && !quiet_) tell("{}: note: {}\n", session().program, printable(note));
}

void MovingCommand::tell_of_left_over() const {
  work::Team* const team = session().team;
  const std::string output = own(output_);
  std::string mine;
  if (parts_ || session().speaks()) {
    for (const auto& file : io::left_over(output)) {
      mine += fmt::format(
          "{}{} is left by a killed run, or by one still writing {}; to remove it: "
          "rm {}",
          parts_ ? fmt::format("rank {}: ", team->rank()) : "", file.string(), output,
          quoted_for_shell(file.string()));
      mine += '\0';
    }
  }
  for (const std::string& notes :
       team != nullptr ? team->share(std::move(mine)) : std::vector<std::string>{std::move(mine)}) {
    for (const auto note : std::views::split(notes, '\0')) {
      if (!note.empty()) tell_note(std::string(note.begin(), note.end()));
    }
  }
}

// A disk that nobody has measured is measured before a long run, and the work made again for it.
void MovingCommand::learn_disk(Request& request, std::unique_ptr<work::Work>& work,
                               const std::stop_token& stop) const {
  if (!device_.empty() || session().team != nullptr || work::device_for(output_).known) return;
  if (work->summary().bytes < work::worth_learning) return;
  if (dry_run_) {
    tell_note(
        fmt::format("the disk of {} has not been measured: a real run measures it first if it can, and may "
                    "choose another plan",
                    output_));
  } else if (auto device = work::learn_device(output_, stop)) {
    if (!work::device_for(output_).known) request.options.device = *std::move(device);  // it was not saved
    work = make_(request);
    tell_note(fmt::format("measured the disk of {} first (xorder bench disk measures it more accurately)",
                          output_));
  }
}

void MovingCommand::print_plan(work::Work& work, const std::stop_token& stop) const {
  work::Summary plan = work.summary();
  const auto forecast = work.forecast(stop);
  if (forecast) plan.traffic = forecast;
  fmt::print("{}", json_ ? json_text(work::plan_json(plan)) + "\n"
                         : printable(work.describe()) + (forecast ? traffic_text(*forecast) : ""));
}

void MovingCommand::tell_report(const work::Report& report, std::uint64_t moved) const {
  const auto bytes = static_cast<double>(moved);
  const std::string way =
      report.queue == report.access ? report.queue : fmt::format("{} ({})", report.queue, report.access);
  tell("{}: {} in {:.2f} s, {}/s, {}, {}\n", on_one_line(output_), size_text(bytes), report.seconds,
       size_text(bytes / std::max(report.seconds, 1e-9)), count_text(report.passes, "pass"), way);
  if (const auto& traffic = report.traffic; traffic && parts_) {
    tell("{}, {}: {}, {} sent\n", count_text(traffic->processors, "rank"),
         count_text(traffic->steps, "round"), count_text(traffic->messages, "message"),
         size_text(traffic->bytes_moved));
  } else if (traffic) {
    tell("{}", traffic_text(*traffic));
  }
}

void MovingCommand::run() const {
  const bool speaks = session().speaks();
  std::optional<Interrupt> interrupt;
  if (session().team == nullptr) interrupt.emplace();  // a team handles signals itself
  const std::stop_token stop = interrupt ? interrupt->token() : std::stop_token();
  io::output_format(own(output_), io::Format::raw);  // throws before anything else if it is not written
  tell_of_left_over();
  std::vector<io::ArrayFile> inputs;
  for (const std::string& path : inputs_) inputs.push_back(raw_.open(own(path)));
  work::Options options = this->options();
  const std::optional<int> lowest_part_bit = parse_layout(layout_, "--layout");
  check_text_files();
  std::optional<Tracing> tracing;
  if (!trace_.empty()) {
    tracing.emplace(trace_, force_, inputs, output_);
    for (io::ArrayFile& input : inputs) input = io::on_disk(std::move(input), tracing->disk());
  }
  Request request{std::move(inputs), own(output_), std::move(options), parts_, lowest_part_bit};
  std::unique_ptr<work::Work> work = make_(request);
  learn_disk(request, work, stop);
  if (const std::string note = work->summary().note; !note.empty()) tell_note(note);
  if (dry_run_) {
    if (speaks) print_plan(*work, stop);
    return;
  }

  const bool bar_wanted =
      speaks && (progress_ == "bar" || (progress_ == "auto" && !quiet_ && ProgressBar::possible()));
  work::Report report;
  {
    ProgressBar bar(bar_wanted);
    report = work->run([&](const work::Progress& p) { bar.show(p); }, stop);
  }
  session().made.push_back(request.output.string());
  if (tracing) keep(*tracing, work->summary(), report);
  if (!report.note.empty()) tell_note(report.note);
  if (json_ && speaks) {
    fmt::print("{}\n", json_text(work::report_json(work->summary(), report)));
  } else if (speaks && !quiet_) {
    tell_report(report, work->summary().bytes);
  }
}

}  // namespace xorder::cli
