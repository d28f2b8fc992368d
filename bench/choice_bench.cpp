// Whether the planner chooses well: reorders a file by the plan that it chooses and, in turn, by the best plan
// with each size of blocks and each number of passes.
//
//   choice_bench DIR [--bytes 1G] [--memory 64M,512M] [--rounds 5] [--only transpose]
//
// DIR needs room for four files of that size. No file is in memory beforehand, and each run ends when its
// output is on the disk. Three idle seconds precede it. Prints for each plan its blocks, the predicted
// seconds, the median of the measured ones, and that as a ratio to the chosen plan's. Ratios below 1 are
// what the planner has missed.
#include <fmt/format.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "bench/test_matrix.hpp"
#include "interrupt.hpp"
#include "measured.hpp"
#include "size_text.hpp"
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
  Restricted(const io::ArrayFile& input, const Shape& shape, const fs::path& output, uint64_t memory,
             const plan::Only& only)
      : Work(work::settle({input}, output, input.description.dtype, shape.out_extents,
                          {.memory = memory, .overwrite = true}, 2 * shape.what.bytes())),
        tiles_(shape.what, restricted(frame().setting, only)) {}

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
  Choice(const fs::path& directory, const Shape& shape, uint64_t memory, std::stop_token stop)
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
  }

  void measure(int rounds) {
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < plans_.size(); ++i) {
        Candidate& c = plans_[round % 2 == 0 ? i : plans_.size() - 1 - i];
        // A virtual machine returns memory to its host after two seconds, and is slow to get it again. What
        // the run before has used must not be cheaper than what a user's run gets. (1.9 and 0.1 s per GiB.)
        std::this_thread::sleep_for(std::chrono::seconds(3));
        c.seconds.push_back(file_.seconds([&] { c.work.run({}, stop_); }));
      }
    }
  }

  void print(const std::string& name) const {
    const double chosen = bench::median(plans_[0].seconds);
    for (const Candidate& c : plans_) {
      std::string blocks;
      for (const plan::Pass& pass : c.work.plan().passes)
        blocks += fmt::format("{}{} > {}", blocks.empty() ? "" : ", ", size_text(pass.source_block_bytes),
                              size_text(pass.target_block_bytes));
      const double median = bench::median(c.seconds);
      fmt::print("{:10} {:9} {:>4} MiB  predicted {:6.2f}  median {:6.2f}  {:5.2f}  {}\n", name,
                 &c == &plans_[0] ? "chosen" : "", c.work.plan().peak_memory() >> 20, c.work.plan().seconds(),
                 median, median / chosen, blocks);
    }
  }

 private:
  struct Candidate {
    Restricted work;
    std::vector<double> seconds{};
  };

  // Leaves out plans that are there already, and hopeless ones.
  void add(const io::ArrayFile& input, const Shape& shape, uint64_t memory, const plan::Only& only) {
    try {
      Restricted work(input, shape, file_.out(), memory, only);
      for (const Candidate& other : plans_)
        if (other.work.describe() == work.describe()) return;
      if (!plans_.empty() && work.plan().seconds() > 2.5 * plans_[0].work.plan().seconds()) return;
      plans_.push_back({std::move(work)});
    } catch (const InputError&) {
      if (plans_.empty()) throw;  // otherwise there is no such plan
    }
  }

  std::stop_token stop_;
  cli::TestFile file_;
  std::vector<Candidate> plans_;
};

}  // namespace

int main(int argc, char** argv) {
  bench::Options options{.sizes = {bench::Bytes{1} << 30}};
  if (argc < 2 || !options.parse(argc - 1, argv + 1)) return bench::refuse();
  const cli::Interrupt interrupt;
  try {
    for (const bench::Bytes bytes : options.sizes) {
      for (const bench::Bytes memory : options.memories) {
        fmt::print("{} with {}\n", size_text(bytes), memory == 0 ? "the default memory" : size_text(memory));
        for (const Shape& shape : shapes(bytes)) {
          if (!options.only.empty() && options.only != shape.name) continue;
          Choice choice(argv[1], shape, memory, interrupt.token());
          choice.measure(options.rounds);
          choice.print(shape.name);
          std::fflush(stdout);
        }
      }
    }
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
