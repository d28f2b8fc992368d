#include "xorder/schedule/exchange.hpp"

#include "schedule/bits.hpp"
#include "xorder/schedule/bounds.hpp"

namespace xorder::schedule {

std::uint64_t exchange_steps(int d) { return d == 0 ? 0 : pow2(d - 1); }

std::uint64_t exchanged_word(std::uint64_t step, int j, int d) {
  std::uint64_t w = 2 * step + 1;
  if (j < d - 1) w ^= pow2(j + 1);
  if (const std::uint64_t ends = (w ^ (w >> j)) & 1) w ^= ends | ends << j;  // swaps bits 0 and j
  return w;
}

Exchange::Exchange(int dimension, Kind kind) : Exchange(Network::hypercube(dimension), kind) {}

Exchange::Exchange(const Network& hypercube, Kind kind)
    : Schedule(hypercube, hypercube.nodes(), exchange_steps(hypercube.dimension()),
               total_exchange_bound(hypercube.dimension())),
      kind_(kind) {}

void Exchange::messages(std::uint64_t step, std::vector<Message>& out) const {
  const int d = network().dimension();
  const auto slot = [&](std::uint64_t w, Node v) {
    return kind_ == Kind::transposition ? w ^ v : reversed(w ^ v, d);
  };
  out.clear();
  out.reserve(network().links());
  for (Node v = 0; v < network().nodes(); ++v) {
    for (int j = 0; j < d; ++j) {
      const std::uint64_t w = exchanged_word(step, j, d);
      const Node neighbour = v ^ pow2(j);
      out.push_back({{v, slot(w, v)}, {neighbour, slot(w, neighbour)}, neighbour});
    }
  }
}

std::optional<Place> Exchange::goal(Place start) const {
  const int d = network().dimension();
  if (kind_ == Kind::transposition) return Place{start.slot, start.node};
  const std::uint64_t target = reversed(start.node << d | start.slot, 2 * d);
  return Place{target >> d, modulo(target, d)};
}

Schedule::Load Exchange::load(std::uint64_t) const { return {network().links(), network().links()}; }

Schedule::Load Exchange::total() const { return {steps() * network().links(), steps() * network().links()}; }

}  // namespace xorder::schedule
