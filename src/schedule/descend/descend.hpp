// ±2^b-descend and -ascend on a hypercube (Hu, as in aspc.hpp).
//
//   for b = lg M − 1 down to 0:  a[x] = f_b(a[x], a[x + 2^b], a[x − 2^b])  for all x, indices mod M
//
// (ascend: b from 0 up). M elements lie on N = 2^n nodes, V = M/N = 2^v consecutive ones each, those of
// logical node i at the physical node G(i). In the first n iterations, b ≥ v, elements of the same offset x
// mod V on nodes 2^(b−v) apart meet. ASPC moves them, in 4 steps, for one offset in each of n slots. So the
// offsets run through the n iterations as through a pipeline. A *round* is 4 steps followed by the updates:
//
//   - the offset at position o of the order does inter-node iteration t, b = lg M − 1 − t, in round o + t;
//   - the order is bit-reversed. So the offsets that are equal mod 2^b, which meet in the node's local
//     iteration b, are consecutive in it, and iteration b of such a *class* follows as soon as its two halves
//     are done. It needs one element from either neighbour in the ring of nodes; they take the link of slot 0
//     in the second step of their half of ASPC, when it is free. A round does one class, larger b first.
//
// That takes lg M + V − 1 rounds. (The published order breaks dependencies in the local part.) Ascend does
// the rounds in reverse order.
//
// Elements are copied, not moved: slots 0 .. V−1 of a node are its elements; slots V + j receive what comes
// from i − 2^j, V + n + j what comes from i + 2^j, for j < n; V + 2n and V + 2n + 1 what the local iteration
// gets from i − 1 and from i + 1. They are free again when the round's updates have been made.
#pragma once

#include <vector>

#include "schedule/descend/aspc.hpp"
#include "xorder/schedule/schedule.hpp"

namespace xorder::schedule {

class Descend final : public Schedule {
 public:
  enum class Order { descend, ascend };
  /// All iterations, or only those between nodes. The offsets are then any V elements of a node, independent
  /// of each other, and lg M + V − 1 rounds become n + V − 1.
  enum class Part { all, between_nodes };
  /// 0 ≤ n ≤ 20, 0 ≤ v ≤ 30 (InputError otherwise). Takes O(V) memory. What an iteration does not read is not
  /// sent; the steps are the same.
  Descend(int dimension, int lg_per_node, Order order, Part part = Part::all, const Reads& reads = {});
  /// The slots of each node, and the bytes that making the schedule takes; neither needs the schedule.
  static std::uint64_t slots_of(int dimension, int lg_per_node);
  static std::uint64_t memory_of(int dimension, int lg_per_node);

  /// Slot j of ASPC carries offset `offset` in this round; then iteration v + j of it is computed, on all
  /// nodes.
  struct Pipelined {
    int j = 0;
    std::uint64_t offset = 0;
  };
  /// Iteration b of the offsets ≡ residue mod 2^b.
  struct Local {
    int b = 0;
    std::uint64_t residue = 0;
  };
  struct Round {
    std::vector<Pipelined> pipelined;
    std::optional<Local> local;
  };
  std::uint64_t rounds() const { return steps() / steps_per_round; }
  Round round(std::uint64_t number) const;
  static constexpr std::uint64_t steps_per_round = 4;

  int lg_per_node() const { return lg_per_node_; }
  Order order() const { return order_; }
  Part part() const { return part_; }

  void messages(std::uint64_t step, std::vector<Message>& out) const override;
  void updates(std::uint64_t step, std::vector<Update>& out) const override;
  std::optional<Place> goal(Place start) const override;
  std::optional<Recurrence> recurrence() const override;
  Load load(std::uint64_t step) const override;
  Load total() const override;

 private:
  Descend(const Network& hypercube, int lg_per_node, Order order, Part part, const Reads& reads);
  std::uint64_t per_node() const { return std::uint64_t{1} << lg_per_node_; }
  std::uint64_t arrivals(AspcHalf half) const;
  std::uint64_t local_arrival(AspcHalf half) const;
  /// Whether iteration b reads what this half brings.
  bool reads(AspcHalf half, int b) const {
    return ((half == AspcHalf::plus ? reads_.minus : reads_.plus) >> b & 1) != 0;
  }

  int lg_per_node_;
  Order order_;
  Part part_;
  Reads reads_;
  // By round, in the order of descend: 2^b + residue, or 0 for none. Empty without local iterations.
  std::vector<std::uint32_t> local_;
};

}  // namespace xorder::schedule
