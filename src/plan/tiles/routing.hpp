// The transposition of matrices of any shape in three passes with long transfers, in which every tile stays.
//
// The array, as it lies in the file, is cut into K chunks, and each chunk into S parts. Part q of all chunks
// is strip q. Both a chunk and a strip fit in memory:
//
//     chunk 0   | 0 | 1 | 2 | 3 |        1. Within each chunk, elements go to parts.
//     chunk 1   | 0 | 1 | 2 | 3 |        2. Within each strip, they go to the chunk of their target.
//     chunk 2   | 0 | 1 | 2 |3|          3. Within each chunk, they go to their places.
//                 strips
//
// This works if of the elements of strip q as many go to each chunk as its part q has. Let n(k, d) be how
// many elements of chunk k go to chunk d, which is a bipartite multigraph with a node for each chunk on both
// sides, of degrees as large as chunks are. It is split into halves, in which all degrees are half as large,
// log₂ S times. To halve it, each edge is halved as far as it can be, and of the others, which are even in
// number at each node, every second one of an Eulerian circuit goes to one half. Only the last chunk may have
// an odd degree: it then gets one more edge to itself for a moment, which goes to the second half.
//
// Any permutation can be made so. (That any permutation of a grid is one within rows, one within columns and
// again one within rows follows from König's theorem on the edges of bipartite graphs, Math. Ann. 77, 1916.)
// Matrices make it cheap to list which elements of chunk k go to chunk d.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace xorder::plan {

/// Matrices that follow each other in a file, to be transposed.
struct Matrices {
  std::uint64_t count = 1, rows = 1, columns = 1, element_bytes = 1;
  std::uint64_t elements() const { return count * rows * columns; }
};

struct Routing {
  Matrices what;
  std::uint64_t chunk = 1;  ///< elements of each but the last, a multiple of the strips
  int levels = 0;           ///< lg of the number of strips

  std::uint64_t strips() const { return std::uint64_t{1} << levels; }
  std::uint64_t chunks() const { return (what.elements() + chunk - 1) / chunk; }
  std::uint64_t chunk_elements(std::uint64_t k) const { return std::min(chunk, what.elements() - k * chunk); }
  /// Where part q of chunk k begins within it; for q = strips(), its end.
  std::uint64_t part_begin(std::uint64_t k, std::uint64_t q) const;

  /// Elements that lie `source_step` apart in the source and `target_step` in the target.
  struct Some {
    std::uint64_t source, source_step, target, target_step, count;
  };
  /// Calls some(Some) for all elements that go from chunk k to chunk d, in an order that is always the same.
  /// One of the steps is 1.
  template <class Body>
  void for_some(std::uint64_t k, std::uint64_t d, const Body& some) const;
  /// Of the table below.
  std::uint64_t table_bytes() const { return chunks() * chunks() * strips() * sizeof(std::uint32_t); }
};

/// How many elements of each strip go from one chunk to another. Making it takes time in proportion to its
/// size and to the shorter side of the matrices times the chunks.
class RoutingTable {
 public:
  explicit RoutingTable(const Routing& routing);
  std::uint64_t operator()(std::uint64_t q, std::uint64_t k, std::uint64_t d) const {
    return counts_[(q * chunks_ + k) * chunks_ + d];
  }

 private:
  using Count = std::uint32_t;
  void halve(std::vector<Count>& all, std::vector<Count>& second) const;
  void split(std::vector<Count> all, std::uint64_t first, std::uint64_t strips);

  std::uint64_t chunks_;
  std::vector<Count> counts_;
};

template <class Body>
void Routing::for_some(std::uint64_t k, std::uint64_t d, const Body& some) const {
  const std::uint64_t matrix = what.rows * what.columns, x0 = k * chunk, x1 = x0 + chunk_elements(k),
                      y0 = d * chunk, y1 = y0 + chunk_elements(d);
  // How many of at, at + step, .. are below a limit.
  const auto below = [](std::uint64_t limit, std::uint64_t at, std::uint64_t step) {
    return limit <= at ? 0 : (limit - at + step - 1) / step;
  };
  for (std::uint64_t b = std::max(x0, y0) / matrix * matrix; b < std::min(x1, y1); b += matrix) {
    const auto within = [&](std::uint64_t limit) { return std::clamp(limit, b, b + matrix) - b; };
    const std::uint64_t from = within(x0), to = within(x1), target_from = within(y0), target_to = within(y1);
    // Along the longer side: rows are contiguous in the source, columns in the target.
    const bool by_rows = what.rows <= what.columns;
    const std::uint64_t length = by_rows ? what.columns : what.rows,
                        step = by_rows ? what.rows : what.columns;
    const std::uint64_t near0 = by_rows ? from : target_from, near1 = by_rows ? to : target_to;
    const std::uint64_t far0 = by_rows ? target_from : from, far1 = by_rows ? target_to : to;
    for (std::uint64_t line = near0 / length; line * length < near1; ++line) {
      const std::uint64_t base = line * length;
      const std::uint64_t first = std::max(near0 - std::min(near0, base), below(far0, line, step));
      const std::uint64_t last = std::min({near1 - base, length, below(far1, line, step)});
      if (first >= last) continue;
      const std::uint64_t near = b + base + first, far = b + line + first * step;
      if (by_rows)
        some(Some{near, 1, far, step, last - first});
      else
        some(Some{far, step, near, 1, last - first});
    }
  }
}

}  // namespace xorder::plan
