// xorder bench files: one permutation of a file in every way, compared with cp.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <random>
#include <stop_token>

#include "bench/bench.hpp"
#include "io/disk.hpp"
#include "io/file.hpp"
#include "io/memory.hpp"
#include "io/output.hpp"
#include "size_text.hpp"
#include "text_file.hpp"
#include "work/profiles.hpp"
#include "xorder/error.hpp"
#include "xorder/machine/scheduled.hpp"
#include "xorder/permutation/bmmc.hpp"
#include "xorder/tiles/job.hpp"

extern char** environ;

namespace xorder::cli {
namespace {

using std::uint64_t;
namespace fs = std::filesystem;

// A new directory, which the destructor removes with its content.
class OwnDirectory {
 public:
  explicit OwnDirectory(const fs::path& in) {
    std::string name = (in / ".xorder-bench-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw InputError(
          fmt::format("{}: cannot create a directory there: {}", in.string(), std::strerror(errno)));
    }
    path_ = name;
  }
  ~OwnDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  OwnDirectory(const OwnDirectory&) = delete;
  OwnDirectory& operator=(const OwnDirectory&) = delete;
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

// Random data, which a disk cannot compress.
void make_input(const fs::path& path, uint64_t bytes, const std::stop_token& stop) {
  io::Output output(path, bytes, false, io::Access::direct, io::system_disk(), nullptr);
  const io::BlockMemory block(std::size_t{4} << 20);
  std::mt19937_64 random(1);
  for (uint64_t at = 0; at < bytes; at += block.size()) {
    if (stop.stop_requested()) throw Cancelled();
    const uint64_t part = std::min<uint64_t>(block.size(), bytes - at);
    for (uint64_t i = 0; i + 8 <= part; i += 8) {
      const uint64_t word = random();
      std::memcpy(block.data() + i, &word, 8);
    }
    output.file().write_exactly(block.data(), part, at);
  }
  output.commit();
}

void forget_pages(const fs::path& path) {
  const io::File file = io::File::open_input(path, io::Access::buffered);
  posix_fadvise(file.plain_descriptor(), 0, 0, POSIX_FADV_DONTNEED);
}

void copy_by_cp(const fs::path& from, const fs::path& to) {
  std::string program = "cp", a = from.string(), b = to.string();
  char* const words[] = {program.data(), a.data(), b.data(), nullptr};
  pid_t child = 0;
  if (const int code = posix_spawnp(&child, "cp", nullptr, nullptr, words, environ))
    throw IoError("cp", "start", code);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
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
  explicit FilesBenchmark(const Extent& extent)
      : bytes_(std::bit_floor(extent.bytes)),
        stop_(extent.stop),
        directory_(extent.directory),
        in_(directory_ / "in.raw"),
        out_(directory_ / "out.raw") {
    make_input(in_, bytes_, stop_);
    array_ =
        io::open_array(in_, io::RawLayout{.dtype = io::parse_dtype("f8"), .extents = {{rows(), columns()}}});
    options_.memory = std::max(bytes_ / 8, work::minimum_memory);
    options_.overwrite = true;
    options_.device = work::device_for(out_).device;
  }

  std::vector<Case> cases(Results& results) override {
    const std::string of = fmt::format("a {} × {} matrix of doubles, {}, with {} of memory", rows(),
                                       columns(), size_text(bytes_), size_text(options_.memory));
    results.figures = {{"ways",
                        fmt::format("Transposing {} where nothing else is said, from and to the disk: bytes "
                                    "of the file per second. \"The same order\" is the floor: every byte "
                                    "read and written once, one after the other.",
                                    of),
                        {},
                        {"payload", plots::Unit::bytes_per_second},
                        {},
                        {{"", {}}}}};
    std::vector<Case> cases;
    ways_ = ways();
    for (std::size_t i = 0; i < ways_.size(); ++i) {
      results.figures[0].rows.push_back(ways_[i].name);
      cases.push_back({ways_[i].name, [this, i] { return speed(ways_[i]); }, 0, 0, static_cast<double>(i)});
    }
    return cases;
  }

  void conclude(Results& results) override {
    PlainTable table{"What each way moved", {"", "passes", "read", "written", "requests"}, {}};
    for (const Way& way : ways_) {
      const auto found = reports_.find(way.name);
      if (found == reports_.end()) {
        table.rows.push_back({way.name, "1", size_text(bytes_), size_text(bytes_), "–"});
        continue;
      }
      const work::Report& r = found->second;
      table.rows.push_back({way.name, fmt::format("{}", r.passes), size_text(r.bytes_read),
                            size_text(r.bytes_written), fmt::format("{}", r.reads + r.writes)});
    }
    results.tables.push_back(std::move(table));
  }

 private:
  int bits() const { return std::bit_width(bytes_ / 8) - 1; }
  uint64_t rows() const { return uint64_t{1} << bits() / 2; }
  uint64_t columns() const { return bytes_ / 8 / rows(); }

  std::vector<Way> ways() {
    const ArrayShape shape = array_.description.shape();
    const Reordering transposed = transposition(shape, {});
    const auto without_options = [this, transposed]() -> std::optional<work::Report> {
      work::Options options = options_;
      options.memory = 0;
      return tiles::Job(array_, transposed, {columns(), rows()}, out_, options).run({}, stop_);
    };
    const auto by_tiles = [this](const Reordering& what, work::EngineChoice choice) {
      return [this, what, choice]() -> std::optional<work::Report> {
        work::Options options = options_;
        options.engine = choice;
        return tiles::Job(array_, what, {columns(), rows()}, out_, options).run({}, stop_);
      };
    };
    using Kind = machine::ScheduleChoice::Kind;
    const auto by_schedule = [this, transposed](Kind kind) {
      return [this, transposed, kind]() -> std::optional<work::Report> {
        work::Options options = options_;
        options.engine = work::EngineChoice::direct;
        return machine::scheduled(array_, transposed, {columns(), rows()}, out_, options, {.kind = kind})
            ->run({}, stop_);
      };
    };
    const Reordering same = mapping_of_all(shape, bmmc::identity(bits()));
    return {{"cp, synced",
             [this]() -> std::optional<work::Report> {
               copy_by_cp(in_, out_);
               return std::nullopt;
             }},
            {"xorder, no options", without_options},
            {"the same order, direct", by_tiles(same, work::EngineChoice::direct)},
            {"tiles, direct", by_tiles(transposed, work::EngineChoice::direct)},
            {"tiles, mapped", by_tiles(transposed, work::EngineChoice::mapped)},
            {"schedule rounds", by_schedule(Kind::rounds)},
            {"schedule exchange", by_schedule(Kind::exchange)},
            {"schedule mesh", by_schedule(Kind::mesh)}};
  }

  // Seconds of a run from a file that is not in memory to one that does not exist. The previous output is
  // removed first.
  double speed(const Way& way) {
    std::error_code ignored;
    fs::remove(out_, ignored);
    forget_pages(in_);
    const auto begin = std::chrono::steady_clock::now();
    const auto report = way.run();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (report) reports_[way.name] = *report;
    return static_cast<double>(bytes_) / seconds;
  }

  uint64_t bytes_;
  std::stop_token stop_;
  OwnDirectory directory_;
  fs::path in_, out_;
  io::ArrayFile array_;
  work::Options options_;
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
