#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <utility>

#include "bench/schedules.hpp"
#include "schedule/banded/banded.hpp"
#include "schedule/descend/aspc.hpp"
#include "schedule/exchange.hpp"
#include "schedule/mesh/mesh.hpp"
#include "schedule/rounds.hpp"
#include "xorder/error.hpp"
#include "xorder/machine/machine.hpp"
#include "xorder/permutation/bmmc.hpp"

namespace xorder::cli {
namespace {

using drawing::Unit;
using schedule::Schedule;
using std::uint64_t;

constexpr const char* by_processors = "message-time";
constexpr const char* by_bytes = "message-bytes";

struct Kind {
  const char* name;
  /// On 2^lg processors; null if there is none.
  std::function<std::shared_ptr<const Schedule>(int lg)> make;
};

std::vector<Kind> kinds() {
  using schedule::Exchange, schedule::Rounds, schedule::Aspc, schedule::Mesh, schedule::Banded;
  return {{"exchange", [](int d) { return std::make_shared<Exchange>(d, Exchange::Kind::transposition); }},
          {"rounds", [](int p) { return std::make_shared<Rounds>(bmmc::bit_reverse(2 * p), p, p); }},
          {"ASPC", [](int n) { return std::make_shared<Aspc>(n, Aspc::Halves::both); }},
          {"mesh",
           [](int lg) {
             return lg % 2 != 0 ? nullptr : std::make_shared<Mesh>(uint64_t{1} << lg / 2, Mesh::Routing::any);
           }},
          {"banded, β = ⌊d / 2⌋", [](int d) { return std::make_shared<Banded>(d, d / 2); }}};
}

// Slots in memory, which show what a message costs. Every slot has as many bytes, which are copied into a
// message and out of it.
class Blocks : public machine::Program {
 public:
  /// Each slot begins with its number. Requires at least 8 bytes.
  Blocks(const schedule::Schedule& schedule, std::size_t bytes)
      : schedule_(&schedule), bytes_(bytes), data_(schedule.network().nodes() * schedule.slots() * bytes) {
    for (uint64_t i = 0; i < places(); ++i) std::memcpy(data_.data() + i * bytes_, &i, sizeof i);
  }
  uint64_t places() const { return data_.size() / bytes_; }

  void send(schedule::Place from, uint64_t, machine::Payload& payload) override {
    std::memcpy(payload.reset(bytes_), at(from), bytes_);
  }
  void receive(const schedule::Message& message, uint64_t, machine::Payload& payload) override {
    std::memcpy(at(message.to), payload.data(), bytes_);
  }
  /// Whether all that the schedule's task moves is at its goal after one run.
  bool arrived() {
    for (uint64_t i = 0; i < places(); ++i) {
      const auto goal = schedule_->goal({i / schedule_->slots(), i % schedule_->slots()});
      if (goal && std::memcmp(at(*goal), &i, sizeof i) != 0) return false;
    }
    return true;
  }

 private:
  std::byte* at(schedule::Place p) { return data_.data() + (p.node * schedule_->slots() + p.slot) * bytes_; }
  const schedule::Schedule* schedule_;
  std::size_t bytes_;
  std::vector<std::byte> data_;
};

double seconds_of_repeated(const std::function<uint64_t()>& messages) {
  constexpr double least = 0.02;
  const auto begin = std::chrono::steady_clock::now();
  uint64_t sent = 0;
  double seconds = 0;
  while (seconds < least) {
    sent += messages();
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  return seconds / static_cast<double>(sent);
}

// The first run is not timed. It shows that everything arrives where the task wants it.
double seconds_per_message(const Schedule& schedule, uint64_t bytes, const std::stop_token& stop) {
  Blocks blocks(schedule, static_cast<std::size_t>(bytes));
  machine::Machine machine(schedule);
  machine.run(blocks, stop);
  if (!blocks.arrived()) throw Error("a run of a schedule did not bring every block to its goal");
  return seconds_of_repeated([&] { return machine.run(blocks, stop).messages; });
}

// Into a buffer and out of it, as a message does; over as many blocks as the total exchange has.
double seconds_of_two_copies(uint64_t bytes, uint64_t blocks) {
  std::vector<std::byte> data(blocks * bytes, std::byte{1}), buffer(bytes);
  const auto copy_all = [&] {
    for (uint64_t i = 0; i < blocks; ++i) {
      std::memcpy(buffer.data(), data.data() + i * bytes, bytes);
      std::memcpy(data.data() + (i ^ 1) * bytes, buffer.data(), bytes);
    }
    return blocks;
  };
  copy_all();
  return seconds_of_repeated(copy_all);
}

}  // namespace

void add_runs_in_memory(Results& results, std::vector<Case>& cases, bool full, const std::stop_token& stop) {
  const auto add = [&](const std::string& name, double x, std::function<double()> measure) {
    cases.push_back(
        {fmt::format("{} in memory", name), std::move(measure), results.figures.size() - 1, name, x});
  };

  const drawing::Axis time{"time per message", Unit::seconds, true}, processors{"lg P, processors"},
      bytes_of_each{"bytes of a message", Unit::bytes, true};
  results.figures.push_back(
      {by_processors,
       "The machine of virtual processors in memory: time of a run, divided by its messages of 8 bytes. "
       "Rounds are those of a bit reversal of P² elements.",
       processors, time});
  const int most_lg = full ? 14 : 12;
  const uint64_t most_messages = (full ? 6 : 1) * uint64_t{1'200'000};
  for (const Kind& kind : kinds()) {
    for (int lg = 2; lg <= most_lg; ++lg) {
      const auto schedule = kind.make(lg);
      if (schedule == nullptr) continue;
      if (schedule->total().messages > most_messages) break;
      add(kind.name, lg, [schedule, stop] { return seconds_per_message(*schedule, 8, stop); });
    }
  }

  constexpr int lg = 4;
  results.figures.push_back(
      {by_bytes,
       "The same over the size of a message, with 16 processors. Each is copied twice: when it is sent "
       "and when it is received.",
       bytes_of_each, time});
  std::vector<uint64_t> sizes;
  for (uint64_t bytes = 8; bytes <= uint64_t{256} << 10; bytes *= full ? 2 : 8) sizes.push_back(bytes);
  for (const Kind& kind : kinds()) {
    const auto schedule = kind.make(lg);
    for (const uint64_t bytes : sizes) {
      add(kind.name, static_cast<double>(bytes),
          [schedule, bytes, stop] { return seconds_per_message(*schedule, bytes, stop); });
    }
  }
  for (const uint64_t bytes : sizes) {
    add("two copies by memcpy", static_cast<double>(bytes),
        [bytes] { return seconds_of_two_copies(bytes, uint64_t{1} << 2 * lg); });
  }
}

void conclude_runs_in_memory(Results& results) {
  const auto figure = std::ranges::find(results.figures, by_bytes, &MeasuredFigure::id);
  if (figure == results.figures.end()) return;
  PlainTable table{"What a message costs in memory, by the medians for 16 processors",
                   {"", "8 bytes", "each further byte", "which is"},
                   {}};
  for (const MeasuredSeries& series : figure->series) {
    const Measured &first = series.points.front(), &last = series.points.back();
    const double per_byte = std::max(0.0, last.median() - first.median()) / (last.x - first.x);
    table.rows.push_back({series.name, drawing::text_of(first.median(), Unit::seconds),
                          drawing::text_of(per_byte, Unit::seconds),
                          per_byte > 0 ? drawing::text_of(1 / per_byte, Unit::bytes_per_second) : "–"});
  }
  results.tables.push_back(std::move(table));
}

}  // namespace xorder::cli
