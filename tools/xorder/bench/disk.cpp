// xorder bench disk: how fast a disk reads and writes, by request size. Plans use the result.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

#include "bench/bench.hpp"
#include "io/measure/measure_disk.hpp"
#include "option_groups.hpp"
#include "size_text.hpp"
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
  return plots::text_of(bytes_per_second, plots::Unit::bytes_per_second);
}

class DiskBenchmark final : public Benchmark {
 public:
  DiskBenchmark(const Extent& extent, const ProfileOptions& profile)
      : directory_(extent.directory), keep_(profile.keep) {
    std::vector<OutputOption> outputs = extent.outputs;
    outputs.push_back({"--profile", profile.file});
    require_different_files(outputs);
    if (!profile.file.empty()) file_.emplace(profile.file, extent.overwrite);
    trials_.emplace(directory_, io::DiskTrials::Options{extent.bytes, extent.full ? 1.0 : 0.5, extent.stop});
  }

  std::vector<Case> cases(Results& results) override {
    results.figures = {
        {"bandwidth",
         "Requests at random places, past the page cache: bytes per second; with both at once, in each "
         "direction. Only synced data count as written; they go to a new file.",
         {"request", plots::Unit::bytes, true},
         {"bandwidth", plots::Unit::bytes_per_second},
         {},
         {}}};
    std::vector<Case> cases;
    for (const uint64_t block : io::trial_blocks()) {
      const std::string of = "of " + size_text(block);
      const auto x = static_cast<double>(block);
      cases.push_back({"reads " + of, [this, block] { return trials_->reads(block); }, 0, "read", x});
      cases.push_back({"writes " + of, [this, block] { return trials_->writes(block); }, 0, "written", x});
      cases.push_back(
          {"reads and writes " + of, [this, block] { return trials_->both(block); }, 0, "both at once", x});
    }
    return cases;
  }

  void conclude(Results& results) override {
    const std::vector<MeasuredSeries>& series = results.figures[0].series;
    std::vector<Device::Point> points;
    for (std::size_t i = 0; i < series[0].points.size(); ++i) {
      points.push_back({static_cast<uint64_t>(series[0].points[i].x), series[0].points[i].median(),
                        series[1].points[i].median(), series[2].points[i].median()});
    }
    const Device profile = io::profile_of(work::profile_name(directory_), std::move(points));
    if (file_) file_->write(profile.text());
    const std::string kept = keep_ ? fmt::format("{}: later plans for this file system use it.",
                                                 work::save_profile(directory_, profile).string())
                                   : "Plans would use this profile.";
    PlainTable table{kept + " Larger requests than the last would gain nothing.",
                     {"request", "read", "written", "both at once"},
                     {}};
    for (const Device::Point& p : profile.points) {
      table.rows.push_back({size_text(p.request_bytes), rate(p.read_bytes_per_second),
                            rate(p.write_bytes_per_second), rate(p.both_bytes_per_second)});
    }
    results.tables.push_back(std::move(table));
  }

 private:
  std::filesystem::path directory_;
  bool keep_;
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
           "Reads and writes test files in DIR, in requests of 4 KiB to 4 MiB, and stores the result in\n"
           "the cache directory. Later commands without --device plan with it.",
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
