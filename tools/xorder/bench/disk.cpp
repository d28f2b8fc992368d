// xorder bench disk: how fast a disk reads and writes, by request size and by the number in flight. Plans use
// the former.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "bench/bench.hpp"
#include "io/measure/measure_disk.hpp"
#include "option_groups.hpp"
#include "text/size_text.hpp"
#include "text_file.hpp"
#include "work/profiles.hpp"

namespace xorder::cli {
namespace {

using plan::Device;
using std::uint64_t;

struct ProfileOptions {
  std::string file;
  bool keep = true;
};

std::string rate(double bytes_per_second) {
  return drawing::text_of(bytes_per_second, drawing::Unit::bytes_per_second);
}

class DiskBenchmark final : public Benchmark {
 public:
  DiskBenchmark(const Extent& extent, const ProfileOptions& profile)
      : directory_(extent.directory), keep_(profile.keep), full_(extent.full) {
    std::vector<OutputOption> outputs = extent.outputs;
    outputs.push_back({"--profile", profile.file});
    require_different_files(outputs);
    if (!profile.file.empty()) file_.emplace(profile.file, extent.overwrite);
    trials_.emplace(directory_,
                    io::DiskTrials::Options{extent.bytes, extent.full ? 1.0 : quick_seconds, extent.stop});
  }

  std::vector<Case> cases(Results& results) override {
    results.figures = {
        {"bandwidth",
         "Requests at random places, past the page cache: bytes per second; with both at once, in each "
         "direction. Only synced data count as written; they go to a new file.",
         {"request", drawing::Unit::bytes, true},
         {"bandwidth", drawing::Unit::bytes_per_second}},
        {"depth",
         fmt::format("The same with requests of {}, by how many are in flight in each direction.",
                     size_text(depth_block)),
         {"requests in flight", drawing::Unit::number, true},
         {"bandwidth", drawing::Unit::bytes_per_second}}};
    std::vector<Case> cases;
    const unsigned deepest = io::trial_depths().back();
    for (const uint64_t block : io::trial_blocks()) add(cases, 0, static_cast<double>(block), block, deepest);
    for (const unsigned depth : io::trial_depths()) {
      if (full_ || std::ranges::count(quick_depths, depth) != 0)
        add(cases, 1, static_cast<double>(depth), depth_block, depth);
    }
    return cases;
  }

  void conclude(Results& results) override {
    const std::vector<MeasuredSeries>& series = results.figures[0].series;
    std::vector<Device::Point> points;
    for (std::size_t i = 0; i < series[0].points.size(); ++i) {
      points.push_back({static_cast<uint64_t>(series[0].points[i].x), series[0].points[i].settled(),
                        series[1].points[i].settled(), series[2].points[i].settled()});
    }
    const Device profile = io::profile_of(work::profile_name(directory_), std::move(points));
    if (file_) file_->write(profile.text());
    const std::string kept = keep_ ? fmt::format("{}: later plans for this file system use it.",
                                                 work::save_profile(directory_, profile).string())
                                   : "Plans would use this profile.";
    const std::string settled =
        results.noise.rounds < 2
            ? ""
            : " It is of the later rounds: a disk with a limit on bursts stays slow once throttled.";
    PlainTable table{kept + settled + " Larger requests than the last would gain nothing.",
                     {"request", "read", "written", "both at once"},
                     {}};
    for (const Device::Point& p : profile.points) {
      table.rows.push_back({size_text(p.request_bytes), rate(p.read_bytes_per_second),
                            rate(p.write_bytes_per_second), rate(p.both_bytes_per_second)});
    }
    results.tables.push_back(std::move(table));
  }

 private:
  // Three or four rounds fit into the time of a quick form, so that the spread and a drift are seen.
  static constexpr double quick_seconds = 0.35;
  static constexpr uint64_t depth_block = 64 * 1024;
  static constexpr unsigned quick_depths[] = {1, 8, 32};

  void add(std::vector<Case>& cases, std::size_t figure, double x, uint64_t block, unsigned depth) {
    const std::string of = fmt::format("of {}, {} in flight", size_text(block), depth);
    cases.push_back({"reads " + of, [=, this] { return trials_->reads(block, depth); }, figure, "read", x});
    cases.push_back(
        {"writes " + of, [=, this] { return trials_->writes(block, depth); }, figure, "written", x});
    cases.push_back({"reads and writes " + of, [=, this] { return trials_->both(block, depth); }, figure,
                     "both at once", x});
  }

  std::filesystem::path directory_;
  bool keep_, full_;
  std::optional<TextFile> file_;
  std::optional<io::DiskTrials> trials_;
};

}  // namespace

void add_bench_disk(CLI::App& bench) {
  const auto profile = std::make_shared<ProfileOptions>();
  add_benchmark(
      bench,
      {.name = "disk",
       .summary = "how fast a disk reads, writes, and does both at once",
       .description =
           "Reads and writes test files in DIR, in requests of 4 KiB to 4 MiB, with 1 to 128 in flight, and\n"
           "stores the result in the cache directory. Later commands without --device plan with it.\n"
           "A DIR in memory (tmpfs) is refused.",
       .footer = "Examples:\n"
                 "  xorder bench disk\n"
                 "  xorder bench disk /data --html disk.html\n"
                 "  xorder bench disk /data --no-keep --profile FILE   for --device FILE",
       .quick_bytes = uint64_t{2} << 30,
       .full_bytes = uint64_t{8} << 30,
       .least_bytes = uint64_t{64} << 20,
       .what_bytes = "the file that is read",
       .has_directory = true,
       .add_options =
           [profile](CLI::App& command) {
             command
                 .add_flag_callback(
                     "--no-keep", [profile] { profile->keep = false; }, "do not store the profile")
                 ->group(group::output);
             command.add_option("--profile", profile->file, "write the profile into a file for --device")
                 ->type_name("FILE")
                 ->group(group::output);
           },
       .make =
           [profile](const Extent& extent) { return std::make_unique<DiskBenchmark>(extent, *profile); }});
}

}  // namespace xorder::cli
