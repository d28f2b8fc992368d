#include "moving.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "arguments.hpp"
#include "interrupt.hpp"
#include "progress_bar.hpp"
#include "xorder/error.hpp"
#include "xorder/run/job.hpp"

namespace xorder::cli {
namespace {

nlohmann::json pass_json(const plan::Pass& pass) {
  return {{"tiles", pass.tiling.tile_count()},
          {"tile_bytes", pass.tile_bytes},
          {"source_block_bytes", pass.source_block_bytes},
          {"target_block_bytes", pass.target_block_bytes},
          {"memory", pass.memory()},
          {"predicted_seconds", pass.seconds}};
}

// The blocks and tiles at the top are the first pass's; `pass_list` has each.
nlohmann::json plan_json(const run::Job& job) {
  const plan::Plan& plan = job.plan();
  nlohmann::json json{{"passes", plan.passes.size()},      {"bytes", plan.what.bytes()},
                      {"bytes_read", plan.bytes_read()},   {"bytes_written", plan.bytes_written()},
                      {"scratch_bytes", plan.scratch_bytes()}, {"memory", job.memory()},
                      {"peak_memory", plan.peak_memory()}, {"predicted_seconds", plan.seconds()},
                      {"device", plan.conditions.device.name}, {"engine", job.mapped() ? "mapped" : "direct"},
                      {"tile_bytes", 0},                   {"source_block_bytes", 0},
                      {"target_block_bytes", 0},           {"pass_list", nlohmann::json::array()}};
  for (const plan::Pass& pass : plan.passes) json["pass_list"].push_back(pass_json(pass));
  if (!plan.passes.empty()) {
    const plan::Pass& first = plan.passes.front();
    json["tile_bytes"] = first.tile_bytes;
    json["source_block_bytes"] = first.source_block_bytes;
    json["target_block_bytes"] = first.target_block_bytes;
  }
  return json;
}

nlohmann::json report_json(const run::Job& job, const run::Report& report) {
  return {{"passes", report.passes},          {"engine", report.engine},
          {"access", report.access},          {"bytes", job.plan().what.bytes()},
          {"bytes_read", report.bytes_read},  {"bytes_written", report.bytes_written},
          {"reads", report.reads},            {"writes", report.writes},
          {"seconds", report.seconds},        {"predicted_seconds", job.plan().seconds()},
          {"memory", job.memory()},           {"peak_memory", report.peak_memory}};
}

run::EngineChoice engine_choice(const std::string& name) {
  if (name == "direct") return run::EngineChoice::direct;
  if (name == "mapped") return run::EngineChoice::mapped;
  return run::EngineChoice::automatic;
}

}  // namespace

void RawOptions::add_to(CLI::App& command) {
  command.add_option("--dtype", dtype, "element type of a raw file, as NumPy writes it: f8, u1, >i4, c16, V24, ..")
      ->type_name("TYPE");
  command.add_option("--shape", shape, "extents of a raw file, slowest axis first; default: one axis")->type_name("R,C,..");
  command.add_option("--offset", offset, "where the data of a raw file begins")->type_name("BYTES");
}

std::optional<io::RawLayout> RawOptions::layout() const {
  if (dtype.empty() && shape.empty() && offset.empty()) return std::nullopt;
  io::RawLayout layout;
  if (!dtype.empty()) layout.dtype = io::parse_dtype(dtype);
  if (!shape.empty()) layout.extents = parse_extents(shape, "--shape");
  if (!offset.empty() && offset != "0") layout.offset = parse_size(offset, "--offset");
  return layout;
}

void MovingCommand::add_to(CLI::App& command, std::function<Target(const io::ArrayDescription&)> target) {
  const auto self = std::make_shared<MovingCommand>();
  self->target_ = std::move(target);
  command.add_option("IN", self->input_, "the file to read: .npy, or raw with --dtype")->required();
  command.add_option("OUT", self->output_, "the file to make; .npy if IN or its name is")->required();
  self->raw_.add_to(command);
  command.add_option("--memory", self->memory_, "memory to use, page cache included; default: half of what is available")
      ->type_name("SIZE");
  command.add_option("--threads", self->threads_, "threads that permute; default: all processors")->type_name("N");
  command.add_option("--io", self->engine_, "how to reach the files; all give the same bytes")
      ->check(CLI::IsMember({"auto", "direct", "mapped"}))->type_name("auto|direct|mapped");
  command.add_option("--device", self->device_, "what the disk can do, for choosing block sizes and passes")
      ->type_name("ssd|hdd|FILE");
  command.add_option("--tmpdir", self->tmpdir_, "scratch of plans with several passes; default: beside OUT")
      ->type_name("DIR");
  command.add_flag("--force", self->force_, "replace OUT if it exists");
  command.add_flag("--dry-run", self->dry_run_, "print the plan and touch nothing");
  command.add_option("--progress", self->progress_, "a bar on standard error; auto: if that is a terminal")
      ->check(CLI::IsMember({"auto", "bar", "none"}))->type_name("auto|bar|none");
  command.add_flag("-q,--quiet", self->quiet_, "say nothing unless something fails");
  command.add_flag("--json", self->json_, "print the report (with --dry-run the plan) as one JSON object");
  command.callback([self] { self->run(); });
}

void MovingCommand::run() const {
  run::Options options;
  if (!memory_.empty()) options.memory = parse_size(memory_, "--memory");
  if (!threads_.empty()) {
    const int threads = parse_int(threads_, "--threads");
    if (threads < 1 || threads > 1024) throw InputError(fmt::format("--threads: {} is not from 1 to 1024", threads));
    options.threads = static_cast<unsigned>(threads);
  }
  options.engine = engine_choice(engine_);
  options.device = plan::Device::named(device_);
  options.scratch_directory = tmpdir_;
  options.overwrite = force_;

  const Interrupt interrupt;
  const io::ArrayFile array = io::open_array(input_, raw_.layout());
  Target target = target_(array.description);
  run::Job job(array, target.what, std::move(target.extents), output_, options);
  if (dry_run_) {
    fmt::print("{}", json_ ? plan_json(job).dump(2) + "\n" : job.plan().describe());
    return;
  }

  const bool bar_wanted = progress_ == "bar" || (progress_ == "auto" && !quiet_ && isatty(STDERR_FILENO) != 0);
  run::Report report;
  {
    ProgressBar bar(bar_wanted);
    report = job.run([&](const run::Progress& p) { bar.show(p); }, interrupt.token());
  }
  if (!quiet_ && !report.note.empty()) fmt::print(stderr, "xorder: note: {}\n", report.note);
  if (json_) {
    fmt::print("{}\n", report_json(job, report).dump(2));
  } else if (!quiet_) {
    const auto bytes = static_cast<double>(job.plan().what.bytes());
    fmt::print(stderr, "{}: {} in {:.2f} s, {}/s, {} pass{}, {} ({})\n", output_, size_text(bytes), report.seconds,
               size_text(bytes / std::max(report.seconds, 1e-9)), report.passes, report.passes == 1 ? "" : "es",
               report.engine, report.access);
  }
}

}  // namespace xorder::cli
