// xorder bench files: one permutation of a file in every way, compared with cp.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <map>

#include "bench/bench.hpp"
#include "bench/test_matrix.hpp"
#include "io/file.hpp"
#include "text/size_text.hpp"
#include "xorder/error.hpp"
#include "xorder/machine/scheduled.hpp"
#include "xorder/permutation/bmmc.hpp"
#include "xorder/tiles/job.hpp"

extern char** environ;

namespace xorder::cli {
namespace {

namespace fs = std::filesystem;

void copy_by_cp(const fs::path& from, const fs::path& to, const std::stop_token& stop) {
  std::string program = "cp", a = from.string(), b = to.string();
  char* const words[] = {program.data(), a.data(), b.data(), nullptr};
  pid_t child = 0;
  if (const int code = posix_spawnp(&child, "cp", nullptr, nullptr, words, environ))
    throw IoError("cp", "start", code);
  // It has inherited that other signals are blocked.
  const std::stop_callback end(stop, [child] { kill(child, SIGKILL); });
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (stop.stop_requested()) throw Cancelled();
  if (status != 0) throw IoError(to.string(), "cp has failed");
  const io::Descriptor file(open(to.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file || fsync(file.get()) != 0) throw IoError(to.string(), "fsync", errno);
}

struct Way {
  std::string name;
  /// Does it. Returns a report only if xorder did the work.
  std::function<std::optional<work::Report>()> run;
};

class FilesBenchmark final : public Benchmark {
 public:
  explicit FilesBenchmark(const Extent& extent) : matrix_(extent.directory, extent.bytes, extent.stop) {}

  std::vector<Case> cases(Results& results) override {
    const std::string of =
        fmt::format("a {} × {} matrix of doubles, {}, with {} of memory", matrix_.rows(), matrix_.columns(),
                    size_text(matrix_.bytes()), size_text(matrix_.options().memory));
    results.figures = {{"ways",
                        fmt::format("Transposing {} where nothing else is said, from and to the disk: bytes "
                                    "of the file per second. \"The same order\" is the floor: every byte "
                                    "read and written once, one after the other.",
                                    of),
                        {},
                        {"payload", drawing::Unit::bytes_per_second}}};
    std::vector<Case> cases;
    ways_ = ways();
    for (std::size_t i = 0; i < ways_.size(); ++i) {
      results.figures[0].rows.push_back(ways_[i].name);
      cases.push_back({ways_[i].name, [this, i] { return speed(ways_[i]); }, 0, "", static_cast<double>(i)});
    }
    return cases;
  }

  void conclude(Results& results) override {
    PlainTable table{"What each way moved", {"", "passes", "read", "written", "requests"}, {}};
    for (const Way& way : ways_) {
      const auto found = reports_.find(way.name);
      if (found == reports_.end()) {
        table.rows.push_back({way.name, "1", size_text(matrix_.bytes()), size_text(matrix_.bytes()), "–"});
        continue;
      }
      const work::Report& r = found->second;
      table.rows.push_back({way.name, fmt::format("{}", r.passes), size_text(r.bytes_read),
                            size_text(r.bytes_written), fmt::format("{}", r.reads + r.writes)});
    }
    results.tables.push_back(std::move(table));
  }

 private:
  std::vector<Way> ways() {
    const ArrayShape shape = matrix_.array().description.shape();
    const Reordering transposed = transposition(shape, {});
    work::Options without = matrix_.options(), direct = without, mapped = without;
    without.memory = 0;
    direct.access = work::AccessChoice::direct;
    mapped.access = work::AccessChoice::mapped;
    const auto by_tiles = [this](const Reordering& what, const work::Options& options) {
      return [this, what, options]() -> std::optional<work::Report> {
        return Job({matrix_.array()}, what, {matrix_.columns(), matrix_.rows()}, matrix_.out(), options)
            .run({}, matrix_.stop());
      };
    };
    using Kind = machine::ScheduleChoice::Kind;
    const auto by_schedule = [this, transposed, direct](Kind kind) {
      return [this, transposed, direct, kind]() -> std::optional<work::Report> {
        return machine::scheduled(matrix_.array(), transposed, {matrix_.columns(), matrix_.rows()},
                                  matrix_.out(), direct, {.kind = kind})
            ->run({}, matrix_.stop());
      };
    };
    const Reordering same = mapping_of_all(shape, bmmc::identity(matrix_.bits()));
    return {{"cp, synced",
             [this]() -> std::optional<work::Report> {
               copy_by_cp(matrix_.in(), matrix_.out(), matrix_.stop());
               return std::nullopt;
             }},
            {"xorder, no options", by_tiles(transposed, without)},
            {"the same order, direct", by_tiles(same, direct)},
            {"tiles, direct", by_tiles(transposed, direct)},
            {"tiles, mapped", by_tiles(transposed, mapped)},
            {"schedule rounds", by_schedule(Kind::rounds)},
            {"schedule exchange", by_schedule(Kind::exchange)},
            {"schedule mesh", by_schedule(Kind::mesh)}};
  }

  double speed(const Way& way) {
    std::optional<work::Report> report;
    const double seconds = matrix_.seconds([&] { report = way.run(); });
    if (report) reports_[way.name] = *report;
    return static_cast<double>(matrix_.bytes()) / seconds;
  }

  TestMatrix matrix_;
  std::vector<Way> ways_;
  std::map<std::string, work::Report> reports_;  // of the last runs
};

}  // namespace

void add_bench_files(CLI::App& bench) {
  add_benchmark(
      bench, {.name = "files",
              .summary = "one permutation of a file in every way, compared with cp",
              .description =
                  "Transposes a test file in DIR by tiles and by virtual processors, and copies it with cp.\n"
                  "No file is in memory beforehand. DIR needs room for two such files and for scratch files.",
              .footer = "Examples:\n"
                        "  xorder bench files\n"
                        "  xorder bench files /data --full --html files.html",
              .quick_bytes = uint64_t{256} << 20,
              .full_bytes = uint64_t{4} << 30,
              .least_bytes = uint64_t{1} << 20,
              .what_bytes = "the file",
              .has_directory = true,
              .make = [](const Extent& extent) { return std::make_unique<FilesBenchmark>(extent); }});
}

}  // namespace xorder::cli
