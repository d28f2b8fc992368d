#include "schedule/exchange.hpp"

#include <fmt/format.h>

#include "schedule/bits.hpp"
#include "schedule/bounds.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {

std::uint64_t exchange_steps(int d) { return d <= 0 ? 0 : pow2(d - 1); }

std::uint64_t exchanged_word(std::uint64_t step, int j, int d) {
  std::uint64_t w = 2 * step + 1;
  if (j < d - 1) w ^= pow2(j + 1);
  if (const std::uint64_t ends = (w ^ (w >> j)) & 1) w ^= ends | ends << j;  // swaps bits 0 and j
  return w;
}

ArrayConditions conditions(const ExchangeArray& array) {
  const int d = array.dimension;
  ArrayConditions result;
  const auto note = [](std::string& first, std::string what) {
    if (first.empty()) first = std::move(what);
  };
  std::vector<std::vector<bool>> in_column(static_cast<std::size_t>(d), std::vector<bool>(pow2(d), false));
  for (std::uint64_t i = 0; i < array.rows(); ++i) {
    for (int j = 0; j < d; ++j) {
      const std::uint64_t w = array.word(i, j);
      if (w == 0) continue;
      if (w >> d != 0) {
        note(result.links, fmt::format("w({}, {}) = {} is not below 2^{}", i, j, w, d));
        continue;
      }
      if (!(w >> j & 1))
        note(result.links, fmt::format("w({}, {}) = {} does not cross dimension {}", i, j, w, j));
      for (int k = 0; k < j; ++k) {
        if (array.word(i, k) == w) note(result.rows, fmt::format("row {} has {} twice", i, w));
      }
      auto seen = in_column[static_cast<std::size_t>(j)][w];
      if (seen) note(result.columns, fmt::format("column {} has {} twice", j, w));
      seen = true;
    }
  }
  for (int j = 0; j < d; ++j) {
    for (std::uint64_t w = 0; w < pow2(d); ++w) {
      if ((w >> j & 1) && !in_column[static_cast<std::size_t>(j)][w]) {
        note(result.columns, fmt::format("column {} lacks {}", j, w));
      }
    }
  }
  return result;
}

namespace {

const ExchangeArray& checked(const ExchangeArray& array) {
  const std::uint64_t nodes = Network::hypercube(array.dimension).nodes();
  if (array.dimension == 0 ? !array.words.empty()
                           : array.words.size() % static_cast<std::uint64_t>(array.dimension) != 0) {
    throw InputError(fmt::format("an array of {} words for dimension {}: the last row is not complete",
                                 array.words.size(), array.dimension));
  }
  for (const std::uint64_t w : array.words) {
    if (w >= nodes)
      throw InputError(fmt::format("the array has the word {}; all words must be below {}", w, nodes));
  }
  return array;
}

}  // namespace

Exchange::Exchange(int dimension, Kind kind)
    : Exchange(Network::hypercube(dimension), kind, exchange_steps(dimension), {}) {}

Exchange::Exchange(ExchangeArray array, Kind kind)
    : Exchange(Network::hypercube(checked(array).dimension), kind, array.rows(), array) {}

Exchange::Exchange(const Network& hypercube, Kind kind, std::uint64_t steps, ExchangeArray array)
    : Schedule(hypercube, hypercube.nodes(), steps, total_exchange_bound(hypercube.dimension())),
      kind_(kind),
      array_(std::move(array)) {}

std::uint64_t Exchange::word(std::uint64_t step, int j) const {
  return array_.dimension > 0 ? array_.word(step, j) : exchanged_word(step, j, network().dimension());
}

void Exchange::messages(std::uint64_t step, std::vector<Message>& out) const {
  const int d = network().dimension();
  const auto slot = [&](std::uint64_t w, Node v) {
    return kind_ == Kind::transposition ? w ^ v : reversed(w ^ v, d);
  };
  out.clear();
  out.reserve(network().links());
  for (Node v = 0; v < network().nodes(); ++v) {
    for (int j = 0; j < d; ++j) {
      const std::uint64_t w = word(step, j);
      if (w == 0) continue;
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

Schedule::Load Exchange::load(std::uint64_t step) const {
  std::uint64_t busy = 0;
  for (int j = 0; j < network().dimension(); ++j) busy += word(step, j) != 0;
  return {busy * network().nodes(), busy * network().nodes()};
}

Schedule::Load Exchange::total() const {
  if (array_.dimension > 0) return Schedule::total();
  return {steps() * network().links(), steps() * network().links()};
}

}  // namespace xorder::schedule
