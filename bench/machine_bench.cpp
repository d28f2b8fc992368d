// What a message costs in the machine of virtual processors, apart from the bytes it carries.
//
//   build/bench/bench/machine_bench
//
// `us_per_message` is elapsed time divided by messages: sending, crossing links, receiving, and going on to
// the next step.
#include <benchmark/benchmark.h>

#include "bench/blocks.hpp"
#include "schedule/banded/banded.hpp"
#include "schedule/exchange.hpp"
#include "xorder/schedule/mesh.hpp"

namespace {

using namespace xorder;

void measure(benchmark::State& state, const schedule::Schedule& schedule, std::size_t bytes) {
  cli::Blocks blocks(schedule, bytes);
  machine::Machine machine(schedule);
  std::uint64_t messages = 0;
  for (auto _ : state) messages += machine.run(blocks).messages;
  state.counters["us_per_message"] = benchmark::Counter(
      static_cast<double>(messages) / 1e6, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["messages"] =
      benchmark::Counter(static_cast<double>(messages), benchmark::Counter::kAvgIterations);
  state.SetBytesProcessed(static_cast<std::int64_t>(messages * bytes));
}

void exchange(benchmark::State& state) {
  const schedule::Exchange schedule(static_cast<int>(state.range(0)),
                                    schedule::Exchange::Kind::transposition);
  measure(state, schedule, static_cast<std::size_t>(state.range(1)));
}
BENCHMARK(exchange)->ArgNames({"d", "bytes"})->ArgsProduct({{4, 6, 8}, {8, 4096}})->UseRealTime();

void banded(benchmark::State& state) {
  const schedule::Banded schedule(static_cast<int>(state.range(0)), static_cast<int>(state.range(0)) / 2);
  measure(state, schedule, 8);
}
BENCHMARK(banded)->ArgName("d")->Arg(4)->Arg(8)->Arg(10)->UseRealTime();

void mesh(benchmark::State& state) {
  const schedule::Mesh schedule(static_cast<std::uint64_t>(state.range(0)), schedule::Mesh::Routing::any);
  measure(state, schedule, 8);
}
BENCHMARK(mesh)->ArgName("N")->Arg(4)->Arg(16)->Arg(32)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
