#include "schedule/one_to_all.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "rounding.hpp"
#include "schedule/bits.hpp"
#include "xorder/error.hpp"

namespace xorder::schedule {
namespace {

using std::size_t;
using std::uint64_t;

// Which of the root's subtrees each node belongs to.
class Subtrees {
 public:
  explicit Subtrees(int dimension)
      : dimension_(static_cast<size_t>(dimension)), of_(pow2(dimension), 0), size_(dimension_, 0) {
    std::vector<std::vector<Node>> levels(dimension_ + 1);
    for (Node v = 1; v < of_.size(); ++v) levels[static_cast<size_t>(std::popcount(v))].push_back(v);
    for (const std::vector<Node>& level : levels) {
      for (const Node v : level) join(v);
    }
  }

  size_t of(Node v) const { return of_[v]; }
  Node parent(Node v) const {
    for (size_t b = 0; b < dimension_; ++b) {
      if (leads(v, b, of_[v])) return v ^ pow2(static_cast<int>(b));
    }
    return 0;
  }

 private:
  // Whether the neighbour of v across dimension b is nearer to the root, and in subtree t.
  bool leads(Node v, size_t b, size_t t) const {
    const Node nearer = v & ~pow2(static_cast<int>(b));
    return nearer != v && (nearer == 0 ? b == t : of_[nearer] == t);
  }
  bool may_join(Node v, size_t t) const {
    for (size_t b = 0; b < dimension_; ++b) {
      if (leads(v, b, t)) return true;
    }
    return false;
  }

  void join(Node v) {
    size_t best = dimension_;
    for (size_t t = 0; t < dimension_; ++t) {
      if (may_join(v, t) && (best == dimension_ || size_[t] < size_[best])) best = t;
    }
    of_[v] = best;
    ++size_[best];
  }

  size_t dimension_;
  std::vector<size_t> of_;      // by node
  std::vector<uint64_t> size_;  // by subtree
};

int checked(int dimension) {
  if (dimension < 0 || dimension > OneToAll::max_dimension)
    throw InputError(
        fmt::format("dimension {}: one-to-all is possible from 0 to {}", dimension, OneToAll::max_dimension));
  return dimension;
}

}  // namespace

OneToAll::Tree OneToAll::tree_of(int dimension) {
  const Subtrees subtrees(checked(dimension));
  Tree tree{std::vector<Node>(pow2(dimension), 0),
            std::vector<std::vector<Node>>(static_cast<size_t>(dimension))};
  for (Node v = 1; v < tree.parent.size(); ++v) {
    tree.parent[v] = subtrees.parent(v);
    tree.order[subtrees.of(v)].push_back(v);
  }
  for (std::vector<Node>& order : tree.order)
    std::ranges::stable_sort(order, std::ranges::greater{}, [](Node v) { return std::popcount(v); });
  return tree;
}

uint64_t OneToAll::steps_of(const Tree& tree) {
  uint64_t steps = 0;
  for (const std::vector<Node>& order : tree.order) {
    for (size_t i = 0; i < order.size(); ++i)
      steps = std::max(steps, i + static_cast<uint64_t>(std::popcount(order[i])));
  }
  return steps;
}

OneToAll::OneToAll(int dimension) : OneToAll(Network::hypercube(checked(dimension)), tree_of(dimension)) {}

OneToAll::OneToAll(const Network& hypercube, Tree tree)
    : Schedule(hypercube, hypercube.nodes(), steps_of(tree),
               std::max(ceil_div(hypercube.nodes() - 1, std::max<uint64_t>(tree.order.size(), 1)),
                        static_cast<uint64_t>(tree.order.size()))),
      tree_(std::move(tree)) {}

Node OneToAll::sent(uint64_t step, int j) const {
  const std::vector<Node>& order = tree_.order[static_cast<size_t>(j)];
  return step < order.size() ? order[step] : 0;
}

void OneToAll::messages(uint64_t step, std::vector<Message>& out) const {
  out.clear();
  const int d = network().dimension();
  for (int j = 0; j < d; ++j) {
    for (uint64_t hops = 1; hops <= step + 1 && hops <= static_cast<uint64_t>(d); ++hops) {
      const Node v = sent(step + 1 - hops, j);
      const auto distance = static_cast<uint64_t>(std::popcount(v));
      if (distance < hops) continue;
      Node to = v;
      for (uint64_t left = distance; left > hops; --left) to = tree_.parent[to];
      out.push_back({{tree_.parent[to], v}, {to, to == v ? 0 : v}, to});
    }
  }
}

std::optional<Place> OneToAll::goal(Place start) const {
  if (start.node != 0 || start.slot == 0) return {};
  return Place{start.slot, 0};
}

}  // namespace xorder::schedule
