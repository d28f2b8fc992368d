#include "schedule/banded/banded_batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "rounding.hpp"
#include "schedule/banded/band_packets.hpp"
#include "schedule/banded/band_placement.hpp"
#include "schedule/banded/band_task.hpp"
#include "schedule/bits.hpp"
#include "schedule/bounds.hpp"
#include "schedule/exchange.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {

using std::uint64_t;

void require_matrices(int dimension, int beta, int matrices) {
  if (beta < 1 || beta >= dimension) {
    throw InputError(
        fmt::format("several matrices at once need a beta from 1 to {}, not {}", dimension - 1, beta));
  }
  if (matrices < 1 || matrices > dimension / beta) {
    throw InputError(
        fmt::format("{} matrices at once: with dimension {} and beta {} from 1 to {} are possible", matrices,
                    dimension, beta, dimension / beta));
  }
}

namespace {

Node rotate_left(Node v, int by, int d) { return modulo(v << by | v >> (d - by), d); }

int checked_matrices(int dimension, int beta, int matrices) {
  require_matrices(dimension, beta, matrices);
  return matrices;
}

// The ring packets of one matrix that a node sends to one of its ring neighbours, by the c1 that they came
// from. Packets whose c1 was larger than the node's go to the next node, those whose c1 was smaller to the
// one before, because a band reaches as far as 2^β. Either neighbour also gets one packet with tag 0; if both
// are the same node, it gets one only.
struct RingQueue {
  Node to = 0;
  uint64_t first_c1 = 0;
  uint64_t count = 0;  // including the one with tag 0, which is the last
  bool forward = true;
  bool has_zero = true;
};

struct RingQueues {
  RingQueue forward, backward;
};

RingQueues ring_queues(const BandLayout& layout, Node u) {
  const BandPackets packets(layout, u);
  const bool pair = packets.next() == packets.before();
  const uint64_t c1 = packets.c1();
  return {{packets.next(), c1 + 1, pow2(layout.beta) - c1, true, true},
          {packets.before(), 0, pair ? c1 : c1 + 1, false, !pair}};
}

// The longest queue at a link. Queues of different matrices for the same link count as one.
uint64_t longest_queue(const BandLayout& layout, int matrices) {
  const int d = layout.dimension;
  uint64_t longest = 0;
  std::vector<uint64_t> length(static_cast<std::size_t>(d));
  for (Node v = 0; v < pow2(d); ++v) {
    std::ranges::fill(length, 0);
    for (int m = 0; m < matrices; ++m) {
      const Node u = rotate_left(v, (d - m * layout.beta) % d, d);
      const RingQueues queues = ring_queues(layout, u);
      for (const RingQueue* q : {&queues.forward, &queues.backward}) {
        const int dimension = (std::countr_zero(q->to ^ u) + m * layout.beta) % d;
        longest = std::max(longest, length[static_cast<std::size_t>(dimension)] += q->count);
      }
    }
  }
  return longest;
}

}  // namespace

BandedBatch::BandedBatch(int dimension, int beta, int matrices)
    : BandedBatch(Network::hypercube(dimension), {dimension, beta},
                  checked_matrices(dimension, beta, matrices)) {}

BandedBatch::BandedBatch(const Network& hypercube, BandLayout layout, int matrices)
    : Schedule(hypercube, 2 * static_cast<uint64_t>(matrices) * layout.width(),
               pow2(layout.beta) + longest_queue(layout, matrices),
               banded_bound(layout.dimension, layout.beta, matrices)),
      layout_(layout),
      matrices_(matrices) {}

uint64_t BandedBatch::first_phase() const { return pow2(layout_.beta); }

Node BandedBatch::rotated(Node v, int m) const { return rotate_left(v, m * layout_.beta, layout_.dimension); }

Node BandedBatch::unrotated(Node v, int m) const {
  const int d = layout_.dimension;
  return rotate_left(v, (d - m * layout_.beta) % d, d);
}

void BandedBatch::messages(uint64_t step, std::vector<Message>& out) const {
  out.clear();
  if (step < first_phase()) {
    isotropic_part(step, out);
  } else {
    ring_part(step - first_phase(), out);
  }
}

void BandedBatch::isotropic_part(uint64_t step, std::vector<Message>& out) const {
  const auto [d, beta] = layout_;
  const bool b = step >= first_phase() / 2;
  for (int m = 0; m < matrices_; ++m) {
    const uint64_t bank = static_cast<uint64_t>(m) * layout_.width();
    for (Node u = 0; u < network().nodes(); ++u) {
      const BandPackets here(layout_, u);
      for (int j = 0; j < beta; ++j) {
        const Node neighbour = u ^ pow2(d - beta + j);
        const BandPackets there(layout_, neighbour);
        const uint64_t t = exchanged_word(step % (first_phase() / 2), j, beta);
        const Node to = rotated(neighbour, m);
        out.push_back({{rotated(u, m), bank + (b ? here.ring_slot(t) : here.own_slot(t))},
                       {to, bank + (b ? there.ring_slot(t) : there.own_slot(t))},
                       to});
      }
    }
  }
}

void BandedBatch::ring_part(uint64_t place_in_queue, std::vector<Message>& out) const {
  const int d = layout_.dimension;
  const uint64_t ring = pow2(layout_.beta);
  std::vector<uint64_t> waiting(static_cast<std::size_t>(d));  // before this matrix's queue, by dimension
  for (Node v = 0; v < network().nodes(); ++v) {
    std::ranges::fill(waiting, 0);
    for (int m = 0; m < matrices_; ++m) {
      const Node u = unrotated(v, m);
      const BandPackets packets(layout_, u);
      const uint64_t bank = static_cast<uint64_t>(m) * layout_.width();
      const uint64_t arrivals = bank + slots() / 2;
      const RingQueues queues = ring_queues(layout_, u);
      for (const RingQueue* q : {&queues.forward, &queues.backward}) {
        const Node to = rotated(q->to, m);
        uint64_t& before = waiting[static_cast<std::size_t>(std::countr_zero(to ^ v))];
        const uint64_t i = place_in_queue - before;
        if (place_in_queue >= before && i < q->count) {
          if (q->has_zero && i + 1 == q->count) {
            const uint64_t ahead = layout_.slot(ring), behind = layout_.slot(-ring);
            out.push_back({{v, bank + (q->forward ? ahead : behind)},
                           {to, arrivals + (q->forward ? behind : ahead)},
                           to});
          } else {
            const uint64_t slot = packets.ring_slot((q->first_c1 + i) ^ packets.c1());
            out.push_back({{v, bank + slot}, {to, arrivals + slot}, to});
          }
        }
        before += q->count;
      }
    }
  }
}

// Packets that cross the ring, those for a column with another c2, end in the second half of the slots.
std::optional<Place> BandedBatch::goal(Place start) const {
  const uint64_t width = layout_.width();
  if (start.slot >= slots() / 2) return {};
  const uint64_t bank = start.slot / width * width, offset = layout_.offset(start.slot % width);
  const int m = static_cast<int>(start.slot / width);
  const uint64_t from = layout_.column(unrotated(start.node, m));
  const uint64_t to = modulo(from + offset, layout_.dimension);
  const bool crosses = from >> layout_.beta != to >> layout_.beta;
  return Place{rotated(layout_.node(to), m), bank + layout_.slot(-offset) + (crosses ? slots() / 2 : 0)};
}

namespace {

// The bound from the column sums of all matrices, each rotated.
uint64_t bound_in_turn(int dimension, const std::vector<BandOfNodes>& matrices) {
  std::vector<uint64_t> sums(static_cast<std::size_t>(dimension), 0);
  uint64_t bound = 0;
  int rotation = 0;
  for (const auto& [beta, band] : matrices) {
    const Diagonals once = band.once(dimension);
    const auto one = band_column_sums(dimension, beta, once);
    for (int j = 0; j < dimension; ++j) {
      sums[static_cast<std::size_t>((j + rotation) % dimension)] += one[static_cast<std::size_t>(j)];
    }
    rotation = (rotation + beta) % std::max(dimension, 1);
    bound = std::max(bound, band_bound(dimension, beta, once));
  }
  for (const uint64_t sum : sums) bound = std::max(bound, ceil_div(sum, pow2(dimension)));
  return bound;
}

}  // namespace

BandedInTurn::BandedInTurn(int dimension, const std::vector<BandOfNodes>& matrices)
    : BandedInTurn(dimension, made(dimension, matrices), matrices) {}

BandedInTurn::BandedInTurn(int dimension, std::vector<Member> members,
                           const std::vector<BandOfNodes>& matrices)
    : Schedule(Network::hypercube(dimension), members.back().first_slot + members.back().schedule.slots(),
               members.back().first_step + members.back().schedule.steps(),
               bound_in_turn(dimension, matrices)),
      members_(std::move(members)) {}

std::vector<BandedInTurn::Member> BandedInTurn::made(int dimension,
                                                     const std::vector<BandOfNodes>& matrices) {
  if (matrices.empty()) throw InputError("0 matrices: at least one is needed");
  std::vector<Member> members;
  uint64_t slot = 0, step = 0;
  int rotation = 0;
  for (const auto& [beta, band] : matrices) {
    Banded one = beta == dimension ? Banded(dimension, beta) : Banded(dimension, beta, band);
    members.push_back({std::move(one), rotation, slot, step});
    slot += members.back().schedule.slots();
    step += members.back().schedule.steps();
    rotation = (rotation + beta) % std::max(dimension, 1);
  }
  return members;
}

// The last member that begins there or before. (A matrix may take no step.)
const BandedInTurn::Member& BandedInTurn::at_slot(uint64_t slot) const {
  return *std::prev(std::ranges::upper_bound(members_, slot, {}, &Member::first_slot));
}

const BandedInTurn::Member& BandedInTurn::at_step(uint64_t step) const {
  return *std::prev(std::ranges::upper_bound(members_, step, {}, &Member::first_step));
}

void BandedInTurn::messages(uint64_t step, std::vector<Message>& out) const {
  const int d = network().dimension();
  const Member& m = at_step(step);
  m.schedule.messages(step - m.first_step, out);
  for (Message& message : out) {
    message.from = {rotate_left(message.from.node, m.rotation, d), m.first_slot + message.from.slot};
    message.to = {rotate_left(message.to.node, m.rotation, d), m.first_slot + message.to.slot};
    message.via = message.to.node;
  }
}

std::optional<Place> BandedInTurn::goal(Place start) const {
  const int d = network().dimension();
  const Member& m = at_slot(start.slot);
  const auto goal = m.schedule.goal({rotate_left(start.node, d - m.rotation, d), start.slot - m.first_slot});
  if (!goal) return {};
  return Place{rotate_left(goal->node, m.rotation, d), m.first_slot + goal->slot};
}

Schedule::Load BandedInTurn::load(uint64_t step) const {
  const Member& m = at_step(step);
  return m.schedule.load(step - m.first_step);
}

}  // namespace xorder::schedule
