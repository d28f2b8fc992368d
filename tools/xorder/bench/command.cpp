#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <optional>

#include "arguments.hpp"
#include "bench/bench.hpp"
#include "checked_option.hpp"
#include "command_line.hpp"
#include "commands.hpp"
#include "host.hpp"
#include "interrupt.hpp"
#include "invocation.hpp"
#include "text/json_text.hpp"
#include "option_groups.hpp"
#include "session.hpp"
#include "text/size_text.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {
namespace {

constexpr double quick_seconds = 40, full_seconds = 600;
constexpr std::size_t quick_rounds = 15, full_rounds = 31;

struct BenchmarkOptions {
  std::string directory = ".", size, json, html;
  std::optional<std::uint64_t> rounds;
  bool full = false, force = false, quiet = false;
};

Extent extent_of(const BenchmarkCommand& command, const BenchmarkOptions& options) {
  Extent extent{command.has_directory ? std::filesystem::path(options.directory) : std::filesystem::path(),
                options.full ? command.full_bytes : command.quick_bytes,
                options.full,
                options.force,
                {{"--json", options.json}, {"--html", options.html}}};
  if (!options.size.empty()) extent.bytes = parse_memory(options.size, "--size");
  if (extent.bytes < command.least_bytes) {
    throw InputError(
        fmt::format("--size: {} is less than {}", size_text(extent.bytes), size_text(command.least_bytes)));
  }
  return extent;
}

void run_benchmark(const BenchmarkCommand& command, const BenchmarkOptions& options) {
  Extent extent = extent_of(command, options);
  if (options.rounds && (*options.rounds < 1 || *options.rounds > 1000))
    throw InputError(fmt::format("--rounds: {} is not from 1 to 1000", *options.rounds));
  const Interrupt interrupt;
  extent.stop = interrupt.token();
  OutputFiles files(options.json, options.html, options.force);
  Results results = new_results(command.name, extent.directory);
  const std::unique_ptr<Benchmark> benchmark = command.make(extent);
  Rounds rounds{.seconds = options.full ? full_seconds : quick_seconds,
                .most = options.full ? full_rounds : quick_rounds,
                .bar = !options.quiet,
                .stop = interrupt.token()};
  if (options.rounds) rounds.at_least = rounds.most = static_cast<std::size_t>(*options.rounds);
  measure_in_turn(results, benchmark->cases(results), rounds);
  benchmark->conclude(results);
  files.write(results);
  if (!options.quiet) fmt::print("{}", results_text(results));
}

// What the app does when it is parsed.
void set_up(CLI::App* app, BenchmarkCommand wanted) {
  const auto command = std::make_shared<BenchmarkCommand>(std::move(wanted));
  const auto options = std::make_shared<BenchmarkOptions>();
  app->description(command->description);
  app->footer(command->footer);
  if (command->has_directory)
    app->add_option("DIR", options->directory, "a directory on the disk; default: the current one");
  app->option_defaults()->group(group::task);
  if (command->quick_bytes != 0) {
    app->add_flag("--full", options->full, "larger sizes and more points; takes some minutes instead of one");
    app->add_option("--size", options->size,
                    fmt::format("size of {}; default: {}, with --full {}", command->what_bytes,
                                size_text(command->quick_bytes), size_text(command->full_bytes)))
        ->type_name("SIZE");
  }
  add_number(*app, "--rounds", options->rounds,
             "number of rounds, each of which measures everything once; default: as many as time allows");
  app->add_option("--json", options->json, "write all samples as one JSON object, for xorder bench compare")
      ->type_name("FILE")
      ->group(group::output);
  app->add_option("--html", options->html, "draw everything on one page")
      ->type_name("FILE")
      ->group(group::output);
  if (command->add_options) command->add_options(*app);
  app->add_flag("-f,--force", options->force, "replace these files if they exist")->group(group::output);
  app->add_flag("-q,--quiet", options->quiet, "print nothing, not even a progress bar")
      ->group(group::reporting);
  app->callback([command, options] { run_benchmark(*command, *options); });
}

}  // namespace

OutputFiles::OutputFiles(const std::string& json, const std::string& html, bool overwrite) {
  require_different_files({{"--json", json}, {"--html", html}});
  if (!json.empty()) json_.emplace(json, overwrite);
  if (!html.empty()) html_.emplace(html, overwrite);
}

void OutputFiles::write(const Results& results) {
  if (json_) json_->write(json_text(results_json(results)) + "\n");
  if (html_) html_->write(results_page(results));
}

Results new_results(const std::string& benchmark, const std::filesystem::path& directory) {
  Results results;
  results.benchmark = benchmark;
  results.command = invocation();
  results.started = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  results.host = describe_host(directory);
  return results;
}

void add_benchmark(CLI::App& bench, BenchmarkCommand command) {
  CLI::App* const app = bench.add_subcommand(command.name, command.summary);
  set_up(app, std::move(command));
}

int benchmark_program(int argc, char** argv, BenchmarkCommand command) {
  session().program = command.name;
  remember_invocation({argv + 1, argv + argc}, command.name);
  CLI::App program("", command.name);
  set_up(&program, std::move(command));
  try {
    program.parse(argc, argv);
    return complain(flushed());
  } catch (...) {
    return complain(failure(program));
  }
}

void add_bench(CLI::App& program) {
  CLI::App* command = program.add_subcommand("bench", "measure disks, caches, memory and xorder itself");
  command->require_subcommand(1);
  add_bench_disk(*command);
  add_bench_cache(*command);
  add_bench_memory(*command);
  add_bench_files(*command);
  add_bench_schedules(*command);
  add_bench_compare(*command);
  add_bench_draw(*command);
}

}  // namespace xorder::cli
