// Whether the planner chooses well: reorders a file by the plan that it chooses and, in turn, by the best plan
// with each size of blocks and each number of passes.
//
//   choice_bench [DIR] [--bytes 256M,1G] [--memory 64M,512M] [--rounds 5] [--only transpose] [--others 4]
//                [--json FILE] [--html FILE]
//
// DIR needs room for four files of that size for each shape. No file is in memory beforehand, and each run ends
// when its output is on the disk. Three idle seconds precede it. A figure for each shape has a row for each
// plan, the chosen one first: its blocks and memory, and the measured and the predicted seconds. What is faster
// than the first row is what the planner has missed.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "bench/bench.hpp"
#include "bench/test_matrix.hpp"
#include "text/size_text.hpp"
#include "tiles/tile_engine.hpp"
#include "work/frame.hpp"
#include "work/relay.hpp"
#include "xorder/error.hpp"
#include "xorder/io/array_file.hpp"
#include "xorder/permutation/bmmc.hpp"

namespace {

using namespace xorder;
using std::uint64_t;
namespace fs = std::filesystem;

struct Shape {
  std::string name;
  std::string dtype;
  std::vector<uint64_t> extents;
  Reordering what;
  std::vector<uint64_t> out_extents;
};

// The same reordering by the best plan among some.
class Restricted final : public work::Work {
 public:
  // `like` has measured how fast memory comes, perhaps with another result than would be measured now.
  Restricted(const io::ArrayFile& input, const Shape& shape, const fs::path& output, uint64_t memory,
             const plan::Only& only, const Restricted* like)
      : Work(work::settle({input}, output, input.description.dtype, shape.out_extents,
                          {.memory = memory, .overwrite = true}, 2 * shape.what.bytes())),
        setting_(restricted(like != nullptr ? like->setting_ : frame().setting, only)),
        tiles_(shape.what, setting_) {}

  const plan::Plan& plan() const { return tiles_.plan(); }
  std::string describe() const override { return plan().describe(); }

 private:
  static plan::Setting restricted(plan::Setting setting, const plan::Only& only) {
    setting.only = only;
    return setting;
  }
  std::vector<work::PassSummary> passes() const override { return tiles_.passes(); }
  uint64_t scratch_bytes() const override { return plan().scratch_bytes(); }
  void move(work::Run& run) override {
    const std::size_t count = plan().passes.size();
    const work::Relay relay(run, count);
    tiles_.run(run, relay, {0, count});
  }

  plan::Setting setting_;
  tiles::TileEngine tiles_;
};

std::vector<Shape> shapes(uint64_t bytes) {
  const auto matrix = [](const char* name, const char* dtype, uint64_t element, uint64_t rows,
                         uint64_t columns) {
    const ArrayShape shape{{rows, columns}, element, Order::c};
    return Shape{name, dtype, {rows, columns}, transposition(shape, {}), {columns, rows}};
  };
  const auto root = static_cast<uint64_t>(std::sqrt(static_cast<double>(bytes / 8)));
  const int lg = std::bit_width(bytes / 8) - 1;
  const uint64_t rows = uint64_t{1} << lg / 2, byte_rows = uint64_t{1} << (lg + 3) / 2;
  std::vector<Shape> all{matrix("transpose", "f8", 8, rows, (uint64_t{1} << lg) / rows),
                         matrix("odd", "f8", 8, root + 1, bytes / 8 / (root + 1) - 2),
                         matrix("bytes", "u1", 1, byte_rows, (uint64_t{8} << lg) / byte_rows)};
  const ArrayShape line{{uint64_t{1} << lg}, 8, Order::c};
  all.push_back(
      {"bitreverse", "f8", line.extents, mapping_of_all(line, bmmc::bit_reverse(lg)), line.extents});
  return all;
}

class Choice {
 public:
  Choice(const fs::path& directory, const Shape& shape, uint64_t memory, std::size_t others,
         std::stop_token stop)
      : stop_(std::move(stop)), file_(directory, shape.what.bytes(), stop_) {
    const io::ArrayFile input = io::open_array(
        file_.in(), io::RawLayout{.dtype = io::parse_dtype(shape.dtype), .extents = {shape.extents}});
    add(input, shape, memory, {});
    constexpr uint64_t sizes[] = {1, 16 << 10, 64 << 10, 256 << 10, 1 << 20, uint64_t{1} << 62};
    for (std::size_t passes = 1; passes <= 3; ++passes) {
      for (int r = 0; r < 5; ++r) {
        for (int w = 0; w < 5; ++w) {
          // Several passes are planned for blocks of one size.
          if (passes == 1 || r == w)
            add(input, shape, memory, {sizes[r], sizes[r + 1] - 1, sizes[w], sizes[w + 1] - 1, passes});
        }
      }
    }
    std::ranges::sort(plans_.begin() + 1, plans_.end(), {},
                      [](const Restricted& work) { return work.plan().seconds(); });
    plans_.erase(plans_.begin() + static_cast<std::ptrdiff_t>(std::min(plans_.size(), others + 1)),
                 plans_.end());
  }

  void add_cases(cli::Results& results, std::vector<cli::Case>& cases, const std::string& name) {
    cli::MeasuredFigure figure{name,
                               fmt::format("{}: the chosen plan, and the best of other shapes.", name),
                               {},
                               {"time", drawing::Unit::seconds}};
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      const Restricted& work = plans_[i];
      std::string row;
      for (const plan::Pass& pass : work.plan().passes)
        row += fmt::format("{}{} > {}", row.empty() ? "" : ", ", size_text(pass.source_block_bytes),
                           size_text(pass.target_block_bytes));
      figure.rows.push_back(fmt::format("{} in {} MiB", row, work.plan().peak_memory() >> 20));
      const auto at = static_cast<double>(i);
      cases.push_back({fmt::format("{} {}", name, row), [this, i] { return seconds(i); },
                       results.figures.size(), "measured", at});
      figure.points("measured").push_back({at, {}});
      figure.points("predicted").push_back({at, {work.plan().seconds()}});
    }
    results.figures.push_back(std::move(figure));
  }

 private:
  // A virtual machine returns memory to its host after two seconds, and is slow to get it again. What the run
  // before has used must not be cheaper than what a user's run gets. (1.9 and 0.1 s per GiB.)
  double seconds(std::size_t plan) {
    // The first run after the file was made is slower than all others.
    if (!std::exchange(warm_, true)) plans_.front().run({}, stop_);
    std::this_thread::sleep_for(std::chrono::seconds(3));
    return file_.seconds([&] { plans_[plan].run({}, stop_); });
  }

  // Leaves out plans that are there already, and hopeless ones.
  void add(const io::ArrayFile& input, const Shape& shape, uint64_t memory, const plan::Only& only) {
    try {
      Restricted work(input, shape, file_.out(), memory, only, plans_.empty() ? nullptr : &plans_[0]);
      for (const Restricted& other : plans_)
        if (other.describe() == work.describe()) return;
      if (!plans_.empty() && work.plan().seconds() > 2.5 * plans_[0].plan().seconds()) return;
      plans_.push_back(std::move(work));
    } catch (const InputError&) {
      if (plans_.empty()) throw;  // otherwise there is no such plan
    }
  }

  std::stop_token stop_;
  cli::TestFile file_;
  std::vector<Restricted> plans_;
  bool warm_ = false;
};

struct Options {
  std::vector<std::string> bytes{"1G"}, memory{""};
  std::string only{};
  std::size_t others = ~std::size_t{0};
};

class Choices final : public cli::Benchmark {
 public:
  Choices(const cli::Extent& extent, const Options& options) : extent_(extent), options_(options) {}

  std::vector<cli::Case> cases(cli::Results& results) override {
    std::vector<cli::Case> cases;
    for (const std::string& size : options_.bytes) {
      for (const std::string& memory : options_.memory) {
        const uint64_t limit = memory.empty() ? 0 : cli::parse_memory(memory, "--memory");
        for (const Shape& shape : shapes(cli::parse_memory(size, "--bytes"))) {
          if (!options_.only.empty() && options_.only != shape.name) continue;
          choices_.push_back(
              std::make_unique<Choice>(extent_.directory, shape, limit, options_.others, extent_.stop));
          choices_.back()->add_cases(
              results, cases,
              fmt::format("{} {}{}", size, shape.name, memory.empty() ? "" : " in " + memory));
        }
      }
    }
    return cases;
  }

 private:
  cli::Extent extent_;
  Options options_;
  std::vector<std::unique_ptr<Choice>> choices_;
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = std::make_shared<Options>();
  return cli::benchmark_program(
      argc, argv,
      {.name = "choice_bench",
       .summary = "",
       .description = "Reorders files by the plan that the planner chooses, and by others.",
       .footer = "",
       .has_directory = true,
       .add_options =
           [options](CLI::App& app) {
             app.add_option("--bytes", options->bytes, "sizes of a file; default: 1G")->delimiter(',');
             app.add_option("--memory", options->memory, "memory of a run; default: as for a user")
                 ->delimiter(',');
             app.add_option(
                 "--others", options->others,
                 "how many other plans, those that are predicted to be fastest; default: all that may "
                 "compete");
             app.add_option("--only", options->only, "transpose, odd, bytes or bitreverse");
           },
       .make = [options](const cli::Extent& extent) { return std::make_unique<Choices>(extent, *options); }});
}
