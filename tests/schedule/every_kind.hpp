// A few small schedules of every kind, for laws that hold of all.
#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plan/reference.hpp"
#include "schedule/banded/banded.hpp"
#include "schedule/banded/banded_batch.hpp"
#include "schedule/descend/aspc.hpp"
#include "schedule/descend/descend.hpp"
#include "schedule/descend/plus_minus.hpp"
#include "schedule/exchange.hpp"
#include "schedule/mesh/mesh.hpp"
#include "schedule/mesh/torus.hpp"
#include "schedule/rounds.hpp"
#include "schedule/routed/isotropic.hpp"
#include "seed.hpp"
#include "xorder/schedule/routed.hpp"

namespace xorder::test {

struct NamedSchedule {
  std::string name;
  std::unique_ptr<schedule::Schedule> schedule;
};

/// Packets between random places of a hypercube.
inline schedule::Routed any_task(Random& random, int d) {
  const std::uint64_t slots = random.in(1U, 4U), places = slots << d;
  std::vector<std::uint64_t> target(places);
  for (std::uint64_t i = 0; i < places; ++i) target[i] = i;
  std::ranges::shuffle(target, random);
  std::vector<schedule::Packet> task;
  for (std::uint64_t i = 0; i < places; ++i) {
    const schedule::Packet packet{{i / slots, i % slots}, {target[i] / slots, target[i] % slots}};
    if (packet.from.node != packet.to.node && random.in(0, 2) > 0) task.push_back(packet);
  }
  return {d, slots, task};
}

inline std::vector<NamedSchedule> every_kind(Random& random) {
  using namespace schedule;
  std::vector<NamedSchedule> all;
  const auto add = [&all](const std::string& name, int size, auto made) {
    all.push_back({name + " " + std::to_string(size), std::make_unique<decltype(made)>(std::move(made))});
  };
  for (int d = 0; d <= 5; ++d) {
    add("transposition", d, Exchange(d, Exchange::Kind::transposition));
    add("bit reversal", d, Exchange(d, Exchange::Kind::bit_reversal));
    std::vector<gf2::Word> tags(random.in(1U, 12U));
    for (gf2::Word& tag : tags) tag = random() & gf2::low_mask(d);
    add("isotropic", d, Isotropic(tags, d));
    add("task", d, any_task(random, d));
    for (int beta = 0; beta <= d; ++beta) add("banded", d, Banded(d, beta));
    for (int beta = 1; beta < d; ++beta) add("two phases", d, BandedBatch(d, beta, d / beta));
    for (int beta = 0; beta < d; ++beta)
      add("in turn", d, BandedInTurn(d, std::vector<BandOfNodes>(3, {beta, {1, std::uint64_t{1} << beta}})));
    for (const auto halves : {Aspc::Halves::plus, Aspc::Halves::minus, Aspc::Halves::both})
      add("aspc", d, Aspc(d, halves));
    const int v = random.in(0, 3);
    add("descend", d, Descend(d, v, Descend::Order::descend));
    add("ascend", d, Descend(d, v, Descend::Order::ascend));
    if (d > 0) add("plus and minus", d, PlusMinus(d, Recurrence::all(d, 0, true).iterations));
    add("rounds", d, Rounds(random_map(random, d + 3), d, random.in(0, 3)));
  }
  for (int side = 1; side <= 14; ++side) {
    const auto n = static_cast<std::uint64_t>(side);
    add("mesh", side, Mesh(n, Mesh::Routing::any));
    add("mesh, XY", side, Mesh(n, Mesh::Routing::xy));
    if (side % 2 == 0) add("mesh, two phases", side, Mesh(n, Mesh::Routing::two_phase));
    if (std::has_single_bit(n)) add("mesh, recursive", side, Mesh(n, Mesh::Routing::recursive));
    add("torus", side, Torus(n, Mesh::Routing::any));
    add("torus, XY", side, Torus(n, Mesh::Routing::xy));
  }
  return all;
}

}  // namespace xorder::test
