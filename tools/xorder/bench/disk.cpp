#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <memory>
#include <string>

#include "arguments.hpp"
#include "bench/bench.hpp"
#include "interrupt.hpp"
#include "io/measure_disk.hpp"
#include "option_groups.hpp"
#include "size_text.hpp"
#include "standard_streams.hpp"
#include "work/profiles.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {
namespace {

struct DiskOptions {
  std::string directory = ".", size, seconds, html;
  bool json = false, quiet = false, keep = true, force = false;
};

double parse_seconds(const std::string& text) {
  std::size_t end = 0;
  double seconds = 0;
  try {
    seconds = std::stod(text, &end);
  } catch (const std::exception&) {
  }
  if (end != text.size() || !(seconds > 0 && seconds <= 60))
    throw InputError(fmt::format("--seconds: \"{}\" is not a number above 0 and up to 60", text));
  return seconds;
}

void print_table(const plan::Device& device) {
  fmt::print("{:>10} {:>10} {:>10} {:>10}   MB/s, {} in flight\n", "at once", "read", "written", "both ways",
             device.depth);
  for (const plan::Device::Point& point : device.points) {
    fmt::print("{:>10} {:10.0f} {:10.0f} {:10.0f}\n", size_text(static_cast<double>(point.request_bytes)),
               point.read_bytes_per_second / 1e6, point.write_bytes_per_second / 1e6,
               point.both_bytes_per_second / 1e6);
  }
}

Results results_of(const plan::Device& device, Results results) {
  MeasuredFigure figure;
  figure.id = "bandwidth";
  figure.caption = fmt::format(
      "Direct requests at random places, {} in flight: bytes per second, and with both at once of each "
      "direction.",
      device.depth);
  figure.x = {"request", plots::Unit::bytes, true};
  figure.values = {"bandwidth", plots::Unit::bytes_per_second};
  figure.series = {{"read", {}}, {"written", {}}, {"both at once", {}}};
  for (const plan::Device::Point& point : device.points) {
    const double bytes = static_cast<double>(point.request_bytes);
    figure.series[0].points.push_back({bytes, {point.read_bytes_per_second}});
    figure.series[1].points.push_back({bytes, {point.write_bytes_per_second}});
    figure.series[2].points.push_back({bytes, {point.both_bytes_per_second}});
  }
  results.noise.rounds = 1;
  results.figures.push_back(std::move(figure));
  return results;
}

void run(const DiskOptions& options) {
  const Interrupt interrupt;
  OutputFiles files("", options.html, options.force);
  Results results = new_results("disk", options.directory);
  const auto begin = std::chrono::steady_clock::now();
  io::DiskTrials trials{.stop = interrupt.token()};
  if (!options.size.empty()) trials.file_bytes = parse_memory(options.size, "--size");
  if (!options.seconds.empty()) trials.seconds = parse_seconds(options.seconds);
  if (!options.quiet) trials.progress = [](const std::string& what) { tell("{} ..\n", what); };

  plan::Device device = io::measure_disk(options.directory, trials);
  device.name =
      fmt::format("the disk of {}, measured {:%Y-%m-%d}", options.directory, fmt::gmtime(std::time(nullptr)));
  results.noise.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  files.write(results_of(device, std::move(results)));
  if (options.json) {
    fmt::print("{}", device.text());
  } else {
    print_table(device);
  }
  if (!options.keep) return;
  const std::string path = work::save_profile(options.directory, device).string();
  if (!options.quiet) tell("{}: plans for this file system go by it from now on\n", path);
}

}  // namespace

void add_bench_disk(CLI::App& bench) {
  CLI::App* command = bench.add_subcommand("disk", "how fast a disk reads, writes, and does both at once");
  command->description(
      "Reads and writes files of its own in DIR for half a minute, in requests of 4 KiB to 4 MiB, and keeps "
      "what it\n"
      "measured in the cache directory: later commands without --device plan with it.");
  command->footer(
      "Examples:\n"
      "  xorder bench disk\n"
      "  xorder bench disk /data\n"
      "  xorder bench disk /data --no-keep --json > profile   for --device profile");
  const auto options = std::make_shared<DiskOptions>();
  command->add_option("DIR", options->directory, "a directory on the disk; default: this one");
  command->add_option("--size", options->size, "of each of two files that are made; default: 2GiB")
      ->type_name("SIZE");
  command->add_option("--seconds", options->seconds, "of each of about 20 measurements; default: 0.5")
      ->type_name("S");
  command->add_flag("!--no-keep", options->keep, "do not keep the profile");
  command->add_flag("--json", options->json, "print the profile as one JSON object, as --device reads it");
  command->add_option("--html", options->html, "draw it on one page")
      ->type_name("FILE")
      ->group(group::output);
  command->add_flag("--force", options->force, "replace the page if it exists")->group(group::output);
  command->add_flag("-q,--quiet", options->quiet, "do not say what is being done");
  command->callback([options] { run(*options); });
}

}  // namespace xorder::cli
