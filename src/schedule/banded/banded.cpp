#include "schedule/banded/banded.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/banded/band_packets.hpp"
#include "schedule/banded/band_task.hpp"
#include "schedule/bits.hpp"
#include "schedule/bounds.hpp"
#include "schedule/exchange.hpp"
#include "xorder/error.hpp"

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
        "a bandwidth of {}: at least 2 diagonals are needed, because a diagonal matrix is its own transpose",
        bandwidth));
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
    throw InputError(fmt::format("{} columns on {} virtual processors: each needs at least one", columns,
                                 pow2(dimension)));
  }
  check_bandwidth(bandwidth, columns);
  const uint64_t twice = 2 * (columns >> dimension);
  const uint64_t half = (bandwidth - 1 + twice - 1) / twice;
  return {half, std::min(lg_up(half), dimension)};
}

namespace {

std::optional<Diagonals> narrower(const Diagonals& band, int beta, int dimension) {
  const uint64_t reach = pow2(checked_beta(beta, dimension));
  if (band == Diagonals{reach, reach} && beta < dimension) return std::nullopt;
  if (beta == dimension || band.back > reach || band.ahead > reach) {
    throw InputError(
        fmt::format("a band of offsets -{} to {} with beta {}: at most {} either way, and beta below {}",
                    band.back, band.ahead, beta, reach, dimension));
  }
  return band;
}

// The number of m ≤ x whose ones are among those of `mask`.
uint64_t submasks_up_to(std::int64_t x, uint64_t mask) {
  if (x < 0) return 0;
  const auto limit = static_cast<uint64_t>(x);
  uint64_t count = 0;
  for (int bit = 62; bit >= 0; --bit) {
    if (!(limit >> bit & 1)) continue;
    count += pow2(std::popcount(modulo(mask, bit)));  // those with a 0 here
    if (!(mask >> bit & 1)) return count;
  }
  return count + 1;
}

std::int64_t half_down(std::int64_t x) { return x >> 1; }

}  // namespace

Banded::Banded(int dimension, int beta)
    : Banded(Network::hypercube(dimension), {dimension, checked_beta(beta, dimension)}, std::nullopt) {}

Banded::Banded(int dimension, int beta, const Diagonals& band)
    : Banded(Network::hypercube(dimension), {dimension, beta}, narrower(band, beta, dimension)) {}

Banded::Banded(const Network& hypercube, BandLayout layout, std::optional<Diagonals> band)
    : Schedule(hypercube, layout.width(),
               layout.beta < layout.dimension ? pow2(layout.beta) : exchange_steps(layout.dimension),
               band ? band_bound(layout.dimension, layout.beta, *band)
                    : banded_bound(layout.dimension, layout.beta, 1)),
      layout_(layout),
      half_(exchange_steps(layout.beta)),
      band_(band) {
  const auto [dimension, beta] = layout;
  if (beta == dimension) return;
  if (band_) {
    std::vector<std::uint32_t> by_tag(pow2(beta), 0);
    for (uint64_t step = 0; step < 2 * half_; ++step) {
      if (step == half_) std::ranges::fill(by_tag, 0);
      for (int j = 0; j < beta; ++j) crossed_.push_back(by_tag[tag(step, j)]);
      for (int j = 0; j < beta; ++j) by_tag[tag(step, j)] |= std::uint32_t{1} << j;
    }
  }
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

bool Banded::within_band(uint64_t offset) const {
  if (!band_) return true;
  return modulo(offset, layout_.dimension) <= band_->ahead ||
         modulo(-offset, layout_.dimension) <= band_->back;
}

// Whether there is a packet that crosses dimension d−β+j from a node with this c1.
bool Banded::carries(uint64_t step, int j, uint64_t c1) const {
  if (!band_) return true;
  const uint64_t t = tag(step, j);
  const uint64_t start = c1 ^ crossed_[step * static_cast<uint64_t>(layout_.beta) + static_cast<uint64_t>(j)];
  const uint64_t way = (start ^ t) - start, ring = pow2(layout_.beta);
  return within_band(!second_half(step) ? way : (start ^ t) > start ? way - ring : way + ring);
}

// How many c1 have a packet with this tag. With m = c1 & t its offset is t − 2m, and 2^β less or more if the
// packet crosses the ring.
uint64_t Banded::places_in_ring(uint64_t t, bool crosses_ring) const {
  const auto [d, beta] = layout_;
  if (!band_) return pow2(beta);
  const auto tag = static_cast<std::int64_t>(t), ring = static_cast<std::int64_t>(pow2(beta));
  const auto back = static_cast<std::int64_t>(band_->back), ahead = static_cast<std::int64_t>(band_->ahead);
  const uint64_t all = pow2(std::popcount(t));
  uint64_t count = 0;
  if (!crosses_ring) {
    count = submasks_up_to(half_down(tag + back), t) - submasks_up_to(half_down(tag - ahead - 1), t);
  } else {
    count = submasks_up_to(half_down(tag - (ring - back)), t) + all -
            submasks_up_to(half_down(tag + ring - ahead - 1), t);
  }
  return count * pow2(beta - std::popcount(t));
}

void Banded::messages(uint64_t step, std::vector<Message>& out) const {
  const auto [d, beta] = layout_;
  out.clear();
  for (Node v = 0; v < network().nodes(); ++v) {
    const BandPackets here(layout_, v);
    for (int j = 0; j < beta; ++j) {
      if (!carries(step, j, here.c1())) continue;
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
      if (within_band(layout_.offset(here.ring_slot(t))))
        out.push_back({{v, here.ring_slot(t)}, {to, here.ring_slot(t)}, to});
      continue;
    }
    const uint64_t low = layout_.slot(-pow2(beta)), high = layout_.slot(pow2(beta));  // the same if β = d−1
    if (within_band(pow2(beta))) out.push_back({{v, high}, {here.next(), low}, here.next()});
    if (high != low && within_band(-pow2(beta)))
      out.push_back({{v, low}, {here.before(), high}, here.before()});
  }
}

std::optional<Place> Banded::goal(Place start) const {
  const uint64_t offset = layout_.offset(start.slot);
  if (!within_band(offset)) return {};
  return Place{layout_.node(modulo(layout_.column(start.node) + offset, layout_.dimension)),
               layout_.slot(-offset)};
}

Schedule::Load Banded::load(uint64_t step) const {
  const auto [d, beta] = layout_;
  uint64_t places = 0;  // sending nodes at one ring position
  for (int j = 0; j < beta; ++j) places += places_in_ring(tag(step, j), second_half(step));
  if (beta < d && release_[step] != 0) places += places_in_ring(release_[step], true);
  if (beta < d && release_[step] == 0) {
    const bool both = d - beta > 1;
    const uint64_t sent = both ? within_band(pow2(beta)) + within_band(-pow2(beta)) : within_band(pow2(beta));
    places += sent * pow2(beta);
  }
  const uint64_t all = places * pow2(d - beta);
  return {all, all};
}

}  // namespace xorder::schedule
