#include "xorder/schedule/banded.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/band_packets.hpp"
#include "schedule/bits.hpp"
#include "xorder/error.hpp"
#include "xorder/schedule/bounds.hpp"
#include "xorder/schedule/exchange.hpp"

namespace xorder::schedule {

using std::uint64_t;

Node BandLayout::node(uint64_t column) const {
  const int ring = dimension - beta;
  return modulo(column, beta) << ring | gray(column >> beta);
}

uint64_t BandLayout::column(Node node) const {
  const int ring = dimension - beta;
  return gray_inverse(modulo(node, ring)) << beta | node >> ring;
}

uint64_t BandLayout::reach() const { return std::min(pow2(beta), pow2(dimension) / 2); }
uint64_t BandLayout::width() const { return std::min(pow2(dimension), 2 * pow2(beta) + 1); }
uint64_t BandLayout::slot(uint64_t offset) const { return modulo(offset + reach(), dimension); }
uint64_t BandLayout::offset(uint64_t slot) const { return modulo(slot - reach(), dimension); }

namespace {

int lg_up(uint64_t x) { return static_cast<int>(std::bit_width(x - 1)); }

void check_bandwidth(uint64_t bandwidth, uint64_t columns) {
  if (bandwidth < 2) {
    throw InputError(fmt::format(
        "a bandwidth of {}: 2 diagonals at least, since a diagonal matrix is its own transpose", bandwidth));
  }
  if (bandwidth >= columns) {
    throw InputError(
        fmt::format("a bandwidth of {} is not below the {} columns: transpose the whole matrix instead",
                    bandwidth, columns));
  }
}

}  // namespace

int beta_of_bandwidth(uint64_t bandwidth, int dimension) {
  check_bandwidth(bandwidth, pow2(dimension));
  return lg_up(bandwidth / 2);  // ⌈(B−1)/2⌉
}

BandOfBlocks band_of_blocks(uint64_t bandwidth, uint64_t columns, int dimension) {
  if (columns < pow2(dimension)) {
    throw InputError(fmt::format("{} columns on {} virtual processors: each needs one at least", columns,
                                 pow2(dimension)));
  }
  check_bandwidth(bandwidth, columns);
  const uint64_t twice = 2 * (columns >> dimension);
  const uint64_t half = (bandwidth - 1 + twice - 1) / twice;
  return {half, std::min(lg_up(half), dimension)};
}

Banded::Banded(int dimension, int beta)
    : Banded(Network::hypercube(dimension), {dimension, checked_beta(beta, dimension)}) {}

Banded::Banded(const Network& hypercube, BandLayout layout)
    : Schedule(hypercube, layout.width(),
               layout.beta < layout.dimension ? pow2(layout.beta) : exchange_steps(layout.dimension),
               banded_bound(layout.dimension, layout.beta, 1)),
      layout_(layout),
      half_(exchange_steps(layout.beta)) {
  const auto [dimension, beta] = layout;
  if (beta == dimension) return;
  std::vector<bool> listed(pow2(beta), false);
  for (uint64_t step = half_; step < 2 * half_; ++step) {
    for (int j = beta; j-- > 0;) {
      const uint64_t t = tag(step, j);
      if (!listed[t]) release_.push_back(t);
      listed[t] = true;
    }
  }
  release_.push_back(0);
}

uint64_t Banded::tag(uint64_t step, int j) const {
  if (layout_.beta == 0) return 0;
  return exchanged_word(step < half_ ? step : 2 * half_ - 1 - step, j, layout_.beta);
}

void Banded::messages(uint64_t step, std::vector<Message>& out) const {
  const auto [d, beta] = layout_;
  out.clear();
  for (Node v = 0; v < network().nodes(); ++v) {
    const BandPackets here(layout_, v);
    for (int j = 0; j < beta; ++j) {
      const Node neighbour = v ^ pow2(d - beta + j);
      const BandPackets there(layout_, neighbour);
      const uint64_t t = tag(step, j);
      const bool b = second_half(step);
      out.push_back({{v, b ? here.ring_slot(t) : here.own_slot(t)},
                     {neighbour, b ? there.ring_slot(t) : there.own_slot(t)},
                     neighbour});
    }
    if (beta == d) continue;
    const uint64_t t = release_[step];
    if (t != 0) {
      const Node to = here.backward(t) ? here.before() : here.next();
      out.push_back({{v, here.ring_slot(t)}, {to, here.ring_slot(t)}, to});
      continue;
    }
    const uint64_t low = layout_.slot(-pow2(beta)), high = layout_.slot(pow2(beta));  // the same if β = d−1
    out.push_back({{v, high}, {here.next(), low}, here.next()});
    if (high != low) out.push_back({{v, low}, {here.before(), high}, here.before()});
  }
}

std::optional<Place> Banded::goal(Place start) const {
  const uint64_t offset = layout_.offset(start.slot);
  return Place{layout_.node(modulo(layout_.column(start.node) + offset, layout_.dimension)),
               layout_.slot(-offset)};
}

Schedule::Load Banded::load(uint64_t step) const {
  const auto [d, beta] = layout_;
  const uint64_t ring = beta == d ? 0 : release_[step] == 0 && d - beta > 1 ? 2 : 1;
  const uint64_t all = network().nodes() * (static_cast<uint64_t>(beta) + ring);
  return {all, all};
}

}  // namespace xorder::schedule
