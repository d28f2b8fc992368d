#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "bench/schedules.hpp"
#include "schedule/exchange.hpp"
#include "schedule/mesh/mesh.hpp"
#include "schedule/rounds.hpp"
#include "text/size_text.hpp"
#include "xorder/error.hpp"
#include "xorder/machine/scheduled.hpp"
#include "xorder/permutation/bmmc.hpp"
#include "xorder/schedule/timing.hpp"
#include "xorder/tiles/job.hpp"

namespace xorder::cli {
namespace {

constexpr int quick_most = 10;  // in the quick form no plan may take so many times as long as tiles

using Choice = machine::ScheduleChoice;

// A permutation of the whole test matrix.
struct FileTask {
  std::string id, what;
  Reordering reordering;
  std::vector<std::uint64_t> extents;  // of the output
  std::vector<std::pair<const char*, Choice::Kind>> schedules;
};

std::unique_ptr<work::Work> by_tiles(const TestMatrix& matrix, const FileTask& task) {
  return std::make_unique<Job>(std::vector{matrix.array()}, task.reordering, task.extents, matrix.out(),
                               matrix.options());
}

std::unique_ptr<work::Work> by_schedule(const TestMatrix& matrix, const FileTask& task,
                                        const Choice& choice) {
  return machine::scheduled(matrix.array(), task.reordering, task.extents, matrix.out(), matrix.options(),
                            choice);
}

// What the plan predicts, or nothing if as many processors do not fit into the matrix or the memory.
std::optional<double> predicted_seconds(const TestMatrix& matrix, const FileTask& task,
                                        const Choice& choice) {
  try {
    return by_schedule(matrix, task, choice)->summary().predicted_seconds();
  } catch (const InputError&) {
    return std::nullopt;
  }
}

// How long the messages take between 2^lg real processors with one port each, on the network of
// docs/cluster.md.
double network_seconds(const TestMatrix& matrix, const FileTask& task, Choice::Kind kind, int lg) {
  constexpr schedule::LinkTimes times{.startup = 2e-6, .per_link = 0, .per_byte = 8e-11, .one_port = true};
  const auto bytes = static_cast<double>(matrix.bytes());
  if (kind == Choice::Kind::exchange)  // all ports are always busy
    return static_cast<double>(schedule::exchange_steps(lg)) * lg *
           (times.startup + std::ldexp(bytes, -2 * lg) * times.per_byte);
  const auto time = [&](const schedule::Schedule& s, double slot) {
    return schedule::duration(s, slot, times, schedule::Switching::wormhole).asynchronous;
  };
  if (kind == Choice::Kind::mesh)
    return time(schedule::Mesh(std::uint64_t{1} << lg / 2, schedule::Mesh::Routing::any),
                std::ldexp(bytes, -lg));
  const schedule::Rounds rounds(*flat_map(task.reordering), lg, matrix.bits() - lg);
  return time(rounds, std::ldexp(8, rounds.lg_chunk()));
}

}  // namespace

void add_runs_on_files(Results& results, std::vector<Case>& cases, std::shared_ptr<const TestMatrix> matrix,
                       bool full) {
  const Reordering transposed = transposition(matrix->array().description.shape(), {});
  const Reordering reversed =
      mapping_of_all(matrix->array().description.shape(), bmmc::bit_reverse(matrix->bits()));
  const FileTask tasks[] = {
      {"file-transposed",
       fmt::format("A {} × {} matrix of doubles transposed", matrix->rows(), matrix->columns()),
       transposed,
       {matrix->columns(), matrix->rows()},
       {{"rounds", Choice::Kind::rounds},
        {"exchange", Choice::Kind::exchange},
        {"mesh", Choice::Kind::mesh}}},
      {"file-reversed",
       fmt::format("2^{} doubles bit-reversed", matrix->bits()),
       reversed,
       {matrix->rows(), matrix->columns()},
       {{"rounds", Choice::Kind::rounds}, {"exchange", Choice::Kind::exchange}}}};
  const int most_lg = full ? 12 : 8;
  for (const FileTask& task : tasks) {
    const std::string caption = fmt::format(
        "{}, {} from a disk and back to it with {} of memory: by tiles, and by virtual processors that send "
        "each other messages, and how long these take on a network of P processors with one port of 12.5 "
        "GB/s "
        "each, by the timing model. Numbers of processors that do not fit in the memory are left out{}.",
        task.what, size_text(matrix->bytes()), size_text(matrix->options().memory),
        full ? "" : fmt::format(", as are plans for more than {} times as long as tiles", quick_most));
    const auto add = [&](const std::string& name, int lg, auto make) {
      cases.push_back({fmt::format("{} by {}", task.id, name),
                       [matrix, make] { return matrix->seconds([&] { make()->run({}, matrix->stop()); }); },
                       results.figures.size(), name, static_cast<double>(lg)});
    };
    const double tiles_seconds = by_tiles(*matrix, task)->summary().predicted_seconds();
    // Tiles know no processors: a line from end to end, measured at both.
    for (const int lg : {2, most_lg}) add("tiles", lg, [matrix, task] { return by_tiles(*matrix, task); });
    for (const auto& [name, kind] : task.schedules) {
      for (int lg = 2; lg <= most_lg; lg += 2) {
        const Choice choice{.kind = kind, .processors = std::uint64_t{1} << lg};
        const auto predicted = predicted_seconds(*matrix, task, choice);
        if (!predicted || (!full && *predicted > quick_most * tiles_seconds)) continue;
        add(name, lg, [matrix, task, choice] { return by_schedule(*matrix, task, choice); });
      }
    }
    MeasuredFigure& figure = results.figures.emplace_back(
        MeasuredFigure{task.id, caption, {"lg P, processors"}, {"time", drawing::Unit::seconds, true}});
    for (const auto& [name, kind] : task.schedules)
      for (int lg = 2; lg <= std::min(most_lg, matrix->bits() / 2); lg += 2)
        figure.points(fmt::format("{}, on a network", name))
            .push_back({static_cast<double>(lg), {network_seconds(*matrix, task, kind, lg)}});
  }
}

}  // namespace xorder::cli
