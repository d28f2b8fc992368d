#include "plan/tiles/routing.hpp"

#include <utility>

namespace xorder::plan {

using std::size_t;
using std::uint64_t;

// The first half is the larger one.
uint64_t Routing::part_begin(uint64_t k, uint64_t q) const {
  uint64_t begin = 0, length = chunk_elements(k);
  if (q == strips()) return length;
  for (int level = levels; level-- > 0;) {
    const uint64_t first = (length + 1) / 2;
    if ((q >> level & 1) != 0) begin += first;
    length = (q >> level & 1) != 0 ? length - first : first;
  }
  return begin;
}

RoutingTable::RoutingTable(const Routing& routing)
    : chunks_(routing.chunks()), counts_(chunks_ * chunks_ * routing.strips()) {
  std::vector<uint64_t> all(chunks_ * chunks_);
  for (uint64_t k = 0; k < chunks_; ++k) {
    for (uint64_t d = 0; d < chunks_; ++d)
      routing.for_some(k, d, [&](const Routing::Some& some) { all[k * chunks_ + d] += some.count; });
  }
  split(std::vector<Count>(all.begin(), all.end()), 0, routing.strips());
}

void RoutingTable::split(std::vector<Count> all, uint64_t first, uint64_t strips) {
  if (strips == 1) {
    std::ranges::copy(all, counts_.begin() + static_cast<std::ptrdiff_t>(first * chunks_ * chunks_));
    return;
  }
  std::vector<Count> second(all.size());
  halve(all, second);
  split(std::move(all), first, strips / 2);
  split(std::move(second), first + strips / 2, strips / 2);
}

// Leaves the first half in `all`.
void RoutingTable::halve(std::vector<Count>& all, std::vector<Count>& second) const {
  const size_t n = chunks_, corner = n * n - 1;
  std::vector<std::vector<size_t>> neighbours(2 * n);  // of nodes: sources k, then targets n + d
  std::vector<bool> used(n * n, true);                 // edges, by k n + d
  const auto join = [&](size_t k, size_t d) {
    used[k * n + d] = false;
    neighbours[k].push_back(n + d);
    neighbours[n + d].push_back(k);
  };
  for (size_t k = 0; k < n; ++k) {
    for (size_t d = 0; d < n; ++d) {
      Count& count = all[k * n + d];
      if (count % 2 != 0) join(k, d);
      count = second[k * n + d] = count / 2;
    }
  }
  // Follows a circuit, which ends when its first node has no edges left. Those from sources to targets go to
  // the first half.
  const auto follow = [&](size_t node) {
    for (;;) {
      std::vector<size_t>& left = neighbours[node];
      const auto edge = [&] {
        return node < n ? node * n + (left.back() - n) : left.back() * n + (node - n);
      };
      while (!left.empty() && used[edge()]) left.pop_back();
      if (left.empty()) return;
      used[edge()] = true;
      ++(node < n ? all : second)[edge()];
      node = left.back();
    }
  };
  // The one more edge of the last chunk to itself is the first of its circuit. If there is a real one, too,
  // that goes to the first half.
  if (neighbours[n - 1].size() % 2 != 0) {
    if (used[corner]) {
      join(n - 1, n - 1);
      follow(2 * n - 1);
      --second[corner];
    } else {
      used[corner] = true;
      ++all[corner];
    }
  }
  for (size_t k = 0; k < n; ++k) follow(k);
}

}  // namespace xorder::plan
