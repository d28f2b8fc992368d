// Reordering arrays in memory, compared with copying them: more arrays than `xorder bench memory` has, and how
// they are reordered.
//
//   build/bench/bench/memory_bench [--bytes N[,N...]] [--threads N[,N...]] [--rounds N] [--only TEXT] [--cpu] [--in-place]
//                                  [--offset N] [--json FILE] [--html FILE]
//
// For each row it measures three things: a parallel memcpy (each thread copies its share with one call), a copy
// with streaming stores, and the reordering with a plan made beforehand. Ratios are those of one round. --cpu
// takes the processor time of all threads instead of elapsed time. --in-place reorders one array again and
// again, and adds square matrices and batches. --only many, or many-8x8, measures many small matrices. With
// --offset N both arrays begin N bytes after the beginning of a page. (Large arrays of malloc begin 16 bytes
// after.)
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <iterator>
#include <optional>
#include <thread>

#include "arguments.hpp"
#include "bench/bench.hpp"
#include "bench/memory.hpp"
#include "checked_option.hpp"
#include "text/size_text.hpp"
#include "xorder/permutation/bmmc.hpp"

namespace {

using namespace xorder;
using std::uint64_t;

// An array with strides.
struct Part {
  ArrayShape source;
  std::vector<int> axes;
  std::vector<std::int64_t> target_strides;
  uint64_t first = 0;  // bytes to the element with all indices 0
};

struct Row {
  std::string name;
  Reordering what;
  std::optional<Part> part{};

  memory::InMemoryPlan plan() const {
    return part ? memory::InMemoryPlan(part->source, part->axes, part->target_strides)
                : memory::InMemoryPlan(what);
  }
};

// Square matrices, one large one or many small ones.
std::vector<Row> squares_for(uint64_t bytes) {
  std::vector<Row> rows;
  for (const uint64_t w : {1, 2, 3, 4, 8, 12, 16, 100}) {
    const auto side = static_cast<uint64_t>(std::sqrt(static_cast<double>(bytes / w)));
    const uint64_t odd = (side * 63 / 64) | 1;
    rows.push_back({fmt::format("square {}", w),
                    transposition({{std::bit_floor(side), std::bit_floor(side)}, w, Order::c}, {})});
    rows.push_back({fmt::format("square-odd {}", w), transposition({{odd, odd}, w, Order::c}, {})});
    for (const uint64_t small : {2, 3, 8, 13, 32}) {
      const uint64_t count = std::max<uint64_t>(1, bytes / (small * small * w));
      rows.push_back({fmt::format("small-{} {}", small, w),
                      transposition({{count, small, small}, w, Order::c}, std::vector<int>{0, 2, 1})});
    }
  }
  return rows;
}

// Batches of other matrices, the pixels of images among them, and of maps.
std::vector<Row> batches_for(uint64_t bytes) {
  std::vector<Row> rows;
  for (const uint64_t w : {1, 3, 4, 16}) {
    const auto add = [&](const char* name, uint64_t height, uint64_t width) {
      const uint64_t count = std::max<uint64_t>(1, bytes / (height * width * w));
      rows.push_back({fmt::format("batch-{} {}", name, w),
                      transposition({{count, height, width}, w, Order::c}, std::vector<int>{0, 2, 1})});
    };
    add("50x60", 50, 60);
    add("pixels", 224 * 224, 3);
    add("500x700", 500, 700);
  }
  for (const uint64_t w : {1, 8}) {
    for (const int n : {9, 12, 15, 18}) {
      const ArrayShape shape{{std::max<uint64_t>(1, bytes / w >> n), uint64_t{1} << n}, w, Order::c};
      rows.push_back(
          {fmt::format("batch-bitreverse-{} {}", n, w), mapping_along(shape, 1, bmmc::bit_reverse(n))});
      rows.push_back({fmt::format("batch-shuffle-{} {}", n, w), mapping_along(shape, 1, bmmc::shuffle(n))});
    }
  }
  return rows;
}

// Many matrices of up to 8 KiB, whose extents are powers of two.
std::vector<Row> small_matrices_for(uint64_t bytes) {
  std::vector<Row> rows;
  for (const uint64_t w : {1, 2, 4, 8, 16}) {
    for (uint64_t height = 2; height <= 256; height *= 2) {
      for (uint64_t width = 2; height * width * w <= 8192 && width <= 256; width *= 2) {
        rows.push_back(
            {fmt::format("many-{}x{} {}", height, width, w),
             transposition(
                 {{std::max<uint64_t>(1, bytes / (height * width * w)), height, width}, w, Order::c},
                 std::vector<int>{0, 2, 1})});
      }
    }
  }
  return rows;
}

// Seven eighths of the rows and columns of a matrix, copied and transposed, and a mirrored array.
std::vector<Row> parts_for(uint64_t bytes) {
  std::vector<Row> rows;
  for (const uint64_t w : {1, 2, 3, 4, 8, 16}) {
    const auto side = static_cast<uint64_t>(std::sqrt(static_cast<double>(bytes / w)));
    const uint64_t all = (side * 63 / 64) | 1, some = all * 7 / 8, count = bytes / w;
    const auto width = static_cast<std::int64_t>(w), pitch = static_cast<std::int64_t>(all * w);
    const ArrayShape part{{some, some}, w, Order::c, {pitch, width}};
    rows.push_back({fmt::format("part-copied {}", w), {}, Part{part, {0, 1}, {pitch, width}}});
    rows.push_back({fmt::format("part-transposed {}", w), {}, Part{part, {1, 0}, {pitch, width}}});
    rows.push_back({fmt::format("mirrored {}", w),
                    {},
                    Part{{{count}, w, Order::c, {-width}}, {0}, {width}, (count - 1) * w}});
  }
  return rows;
}

// All families, each with elements of several sizes, and two whose last axis is fixed.
std::vector<Row> rows_for(uint64_t bytes, bool in_place) {
  std::vector<Row> rows = in_place ? squares_for(bytes) : std::vector<Row>();
  if (in_place) std::ranges::move(batches_for(bytes), std::back_inserter(rows));
  for (const uint64_t w : {1, 2, 4, 8, 16}) {
    for (const cli::MemoryFamily& family : cli::memory_families(bytes, w))
      rows.push_back({fmt::format("{} {}", family.key, w), family.what});
  }
  for (const uint64_t w : {3, 12, 24, 100}) {
    for (const cli::MemoryFamily& family : cli::memory_families(bytes, w)) {
      if (family.key == "odd" || family.key == "bitreverse" || family.key == "gray" ||
          family.key == "random" || family.key == "Nx3")
        rows.push_back({fmt::format("{}-record {}", family.key, w), family.what});
    }
  }
  for (const uint64_t last : {512, 65}) {
    const uint64_t first = std::max<uint64_t>(1, bytes / (8 * last) / 64);
    rows.push_back({fmt::format("lastfixed {}", 8 * last),
                    transposition({{first, 64, last}, 8, Order::c}, std::vector<int>{1, 0, 2})});
  }
  if (!in_place) std::ranges::move(parts_for(bytes), std::back_inserter(rows));
  return rows;
}

struct Options : cli::TestArrays::Options {
  std::vector<std::string> bytes{"512M"};
  std::vector<unsigned> threads{std::max(1u, std::thread::hardware_concurrency())};
  std::string only;
};

class MemoryRows final : public cli::Benchmark {
 public:
  explicit MemoryRows(const Options& options) : options_(options) {
    for (const std::string& text : options.bytes) sizes_.push_back(cli::parse_memory(text, "--bytes"));
    arrays_.emplace(std::ranges::max(sizes_), options);
  }

  std::vector<cli::Case> cases(cli::Results& results) override {
    std::vector<cli::Case> cases;
    for (const uint64_t size : sizes_) {
      std::vector<Row> rows =
          options_.only.starts_with("many") ? small_matrices_for(size) : rows_for(size, options_.in_place);
      std::erase_if(rows, [&](const Row& row) { return row.name.find(options_.only) == std::string::npos; });
      for (const unsigned threads : options_.threads) {
        const std::string of = fmt::format("{}, {} threads", size_text(size), threads);
        results.figures.push_back({"speed of " + of,
                                   fmt::format("Reordering{} and copying {}: bytes of the array per second.",
                                               options_.in_place ? " in place" : "", of),
                                   {},
                                   {"payload", drawing::Unit::bytes_per_second}});
        for (const Row& row : rows) add(results, cases, row, threads);
      }
    }
    return cases;
  }

  void conclude(cli::Results& results) override {
    const std::size_t speeds = results.figures.size();
    for (std::size_t i = 0; i < speeds; ++i) {
      const cli::MeasuredFigure& speed = results.figures[i];
      cli::MeasuredFigure ratios{"ratio" + speed.id.substr(speed.id.find(' ')),
                                 speed.caption + " Compared with copying in the same round.",
                                 {},
                                 {"of the copy's speed", drawing::Unit::ratio},
                                 speed.rows};
      for (std::size_t row = 0; row < speed.rows.size(); ++row) {
        const auto samples = [&](std::size_t series) { return speed.series[series].points[row].samples; };
        const std::vector<double> plain = samples(0), streamed = samples(1), reordered = samples(2);
        cli::Measured to_plain{static_cast<double>(row), {}}, to_faster = to_plain;
        for (std::size_t k = 0; k < reordered.size(); ++k) {
          to_plain.samples.push_back(reordered[k] / plain[k]);
          to_faster.samples.push_back(reordered[k] / std::max(plain[k], streamed[k]));
        }
        ratios.points("of memcpy").push_back(std::move(to_plain));
        ratios.points("of the faster copy").push_back(std::move(to_faster));
      }
      results.figures.push_back(std::move(ratios));
    }
    results.tables.push_back(std::move(plans_));
  }

 private:
  void add(cli::Results& results, std::vector<cli::Case>& cases, const Row& row, unsigned threads) {
    const auto plan = std::make_shared<const memory::InMemoryPlan>(row.plan());
    const uint64_t bytes = plan->bytes(), first = row.part ? row.part->first : 0;
    const double planned = arrays_->seconds(uint64_t{1} << 20, [&] { row.plan(); });
    plans_.rows.push_back({fmt::format("{}, {}", row.name, size_text(bytes)),
                           drawing::text_of(planned, drawing::Unit::seconds),
                           options_.in_place ? plan->describe_in_place() : plan->describe()});
    auto& rows = results.figures.back().rows;
    rows.push_back(row.name);
    const auto add_series = [&](const char* series, const std::function<double()>& seconds) {
      cases.push_back({row.name, [=] { return static_cast<double>(bytes) / seconds(); },
                       results.figures.size() - 1, series, static_cast<double>(rows.size() - 1)});
    };
    add_series("memcpy", [=, this] { return arrays_->copy_seconds(bytes, false, threads); });
    add_series("streaming stores", [=, this] { return arrays_->copy_seconds(bytes, true, threads); });
    add_series("reordered", [=, this] { return arrays_->reorder_seconds(bytes, *plan, threads, first); });
  }

  Options options_;
  std::vector<uint64_t> sizes_;
  std::optional<cli::TestArrays> arrays_;
  cli::PlainTable plans_{"Plans", {"", "planned in", "strategy"}, {}};
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = std::make_shared<Options>();
  return cli::benchmark_program(
      argc, argv,
      {.name = "memory_bench",
       .summary = "",
       .description = "Reorders arrays in memory, compared with copying them.",
       .footer = "",
       .add_options =
           [options](CLI::App& app) {
             app.add_option("--bytes", options->bytes, "sizes of an array; default: 512M")->delimiter(',');
             app.add_option("--threads", options->threads, "numbers of threads")->delimiter(',');
             cli::add_number(app, "--offset", options->offset, "where arrays begin in a page");
             app.add_option("--only", options->only, "rows whose name contains this");
             app.add_flag("--cpu", options->processor_time, "processor time of all threads");
             app.add_flag("--in-place", options->in_place, "reorder one array again and again");
           },
       .make = [options](const cli::Extent&) { return std::make_unique<MemoryRows>(*options); }});
}
