#include "bench/bench.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "progress_bar.hpp"
#include "xorder/error.hpp"

namespace xorder::cli {
namespace {

using Clock = std::chrono::steady_clock;

// Processor time in seconds: of all processes since boot, of this one with its children, and the time that a
// hypervisor took.
struct ProcessorTime {
  double all = 0, own = 0, stolen = 0;
};

double seconds_of(const rusage& usage) {
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

ProcessorTime processor_time() {
  ProcessorTime time;
  std::ifstream file("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft = 0, stolen = 0;
  if (file >> name >> user >> nice >> system >> idle >> waiting >> interrupts >> soft >> stolen) {
    const double ticks = static_cast<double>(std::max(sysconf(_SC_CLK_TCK), 1L));
    time.all = (user + nice + system + interrupts + soft) / ticks;
    time.stolen = stolen / ticks;
  }
  rusage self{}, children{};
  getrusage(RUSAGE_SELF, &self);
  getrusage(RUSAGE_CHILDREN, &children);
  time.own = seconds_of(self) + seconds_of(children);
  return time;
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

Measured& place_of(Results& results, const Case& each) {
  auto& points = results.figures[each.figure].points(each.series);
  const auto found = std::ranges::find(points, each.x, &Measured::x);
  if (found != points.end()) return *found;
  points.push_back({each.x, {}});
  return points.back();
}

}  // namespace

void measure_in_turn(Results& results, const std::vector<Case>& cases, const Rounds& rounds) {
  if (cases.empty()) return;
  ProgressBar bar(rounds.bar && ProgressBar::possible());
  const auto begin = Clock::now();
  const ProcessorTime before = processor_time();
  for (const Case& each : cases) place_of(results, each);  // in the order of the cases
  std::size_t round = 0;
  double longest = 0;
  // The first round shows how many rounds fit into the time.
  std::size_t expected = std::min<std::size_t>(3, rounds.most);
  for (; round < rounds.most; ++round) {
    const double spent = seconds_since(begin);
    if (round >= 1 && round >= std::min(rounds.at_least, rounds.most) && spent + longest > rounds.seconds)
      break;
    if (round > 0) {
      const auto fit = static_cast<std::size_t>(rounds.seconds / (spent / static_cast<double>(round)));
      expected = std::clamp(fit, rounds.at_least, std::max(rounds.most, rounds.at_least));
    }
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (rounds.stop.stop_requested()) throw Cancelled();
      const Case& each = cases[round % 2 == 0 ? i : cases.size() - 1 - i];
      const double done = static_cast<double>(round * cases.size() + i);
      bar.show(done / static_cast<double>(std::max(expected, round + 1) * cases.size()), each.what);
      place_of(results, each).samples.push_back(each.measure());
    }
    longest = std::max(longest, seconds_since(begin) - spent);
  }
  const ProcessorTime after = processor_time();
  Noise& noise = results.noise;
  noise.seconds = seconds_since(begin);
  noise.rounds = round;
  const double processors = std::max(1u, std::thread::hardware_concurrency());
  noise.others = std::max(0.0, (after.all - before.all - (after.own - before.own)) / noise.seconds);
  noise.stolen = std::max(0.0, (after.stolen - before.stolen) / noise.seconds / processors);
}

}  // namespace xorder::cli
