// Cormen's comparison: rounds of whole chunks, each by one send and one receive, against an all-to-all.
#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

#include "bench/schedules.hpp"
#include "schedule/rounds.hpp"
#include "xorder/permutation/bmmc.hpp"
#include "xorder/schedule/timing.hpp"

namespace xorder::cli {
namespace {

using drawing::Unit;
using std::uint64_t;

constexpr int lg_processors = 4;
constexpr int lg_elements = 20;
constexpr schedule::LinkTimes cluster{.startup = 50e-6, .per_link = 0, .per_byte = 1e-9, .one_port = true};

double rounds_seconds(const schedule::Rounds& rounds, double block_bytes) {
  const double chunk = block_bytes / std::exp2(rounds.factors().rank);
  return schedule::duration(rounds, chunk, cluster, schedule::Switching::store_and_forward).lock_step;
}

// A personalized all-to-all that does not use the permutation: a message to every other processor, one after
// another.
double all_to_all_seconds(double block_bytes) {
  const double processors = std::exp2(lg_processors);
  return (processors - 1) * (cluster.startup + block_bytes / processors * cluster.per_byte);
}

// Exchanges the top `rank` bits with the low ones.
schedule::Rounds rounds_of_rank(int rank) {
  std::vector<int> sources;
  for (int i = 0; i < lg_elements; ++i) {
    const bool changes = i < rank || i >= lg_elements - rank;
    sources.push_back(changes ? lg_elements - 1 - i : i);
  }
  return {bmmc::bits(sources), lg_processors, lg_elements - lg_processors};
}

MeasuredFigure over_rank() {
  Curves curves(
      "rounds-rank",
      fmt::format("Rounds of whole chunks against an all-to-all, over rank γ: 2^γ messages for each "
                  "processor, or one for every other one. By the timing model: {} processors with "
                  "one port, {:.0f} µs to start a message and {:.0f} ns a byte. With rank 0 nothing "
                  "is sent in rounds.",
                  1 << lg_processors, cluster.startup * 1e6, cluster.per_byte * 1e9),
      cormen, {"rank γ"}, {"time", Unit::seconds, true});
  for (const uint64_t block : {uint64_t{16} << 10, uint64_t{1} << 20, uint64_t{64} << 20}) {
    const double bytes = static_cast<double>(block);
    const std::string of = drawing::text_of(bytes, Unit::bytes) + " each";
    for (int rank = 0; rank <= lg_processors; ++rank)
      curves.add("rounds, " + of, rank, rounds_seconds(rounds_of_rank(rank), bytes));
    for (int rank = 0; rank <= lg_processors; ++rank)
      curves.add("all-to-all, " + of, rank, all_to_all_seconds(bytes));
  }
  return curves.take();
}

MeasuredFigure over_layout() {
  Curves curves("rounds-layout",
                "The same for layouts in which bits f .. f+3 of an index are its processor's number, 1 MiB "
                "each. An all-to-all takes as long for every f.",
                cormen, {"f"}, {"time", Unit::seconds});
  const std::pair<const char*, gf2::AffineMap> maps[] = {
      {"bit reversal", bmmc::bit_reverse(lg_elements)},
      {"transposition", bmmc::transpose(lg_elements / 2, lg_elements / 2)},
      {"Gray code", bmmc::gray(lg_elements)},
      {"shuffle", bmmc::shuffle(lg_elements)}};
  for (const auto& [name, map] : maps) {
    for (int f = 0; f <= lg_elements - lg_processors; ++f)
      curves.add(name, f, rounds_seconds({map, lg_processors, f}, 0x1p20));
  }
  for (int f = 0; f <= lg_elements - lg_processors; ++f)
    curves.add("all-to-all", f, all_to_all_seconds(0x1p20));
  return curves.take();
}

MeasuredFigure over_chunk() {
  Curves curves(
      "rounds-chunk",
      "The same over the size of a chunk, which is 2^−γ of a processor's block: time divided by that "
      "of an all-to-all of as large blocks.",
      cormen, {"chunk", Unit::bytes, true}, {"of the all-to-all's time", Unit::ratio, true});
  const auto each_size = [&](const std::string& name, const auto& ratio) {
    for (int lg_bytes = 6; lg_bytes <= 24; lg_bytes += 2)
      curves.add(name, std::exp2(lg_bytes), ratio(lg_bytes));
  };
  for (int rank = 1; rank <= lg_processors; ++rank) {
    const schedule::Rounds rounds = rounds_of_rank(rank);
    each_size(fmt::format("rounds, γ = {}", rank), [&](int lg_bytes) {
      const double block = std::exp2(lg_bytes + rank);
      return rounds_seconds(rounds, block) / all_to_all_seconds(block);
    });
  }
  each_size("all-to-all", [](int) { return 1; });
  return curves.take();
}

}  // namespace

void add_rounds_figures(Results& results) {
  results.figures.push_back(over_rank());
  results.figures.push_back(over_layout());
  results.figures.push_back(over_chunk());
}

}  // namespace xorder::cli
