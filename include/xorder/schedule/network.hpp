// The network of the virtual processors: the nodes of a schedule and the directed links between them.
//
//   crossbar    every node reaches every other; a node sends one message and receives one in a step
//   hypercube   2^d nodes; node v has a link over each dimension j < d to v ⊕ 2^j
//   mesh        N × N nodes, (row, column) is node row·N + column; links to the up to four neighbours
//   torus       a mesh whose rows and columns are rings: its last node is a neighbour of its first
//
// Every link is directed: the two directions between neighbours are two links, each with its own message.
#pragma once

#include <cstdint>
#include <optional>

namespace xorder::schedule {

/// The number of a virtual processor, from 0.
using Node = std::uint64_t;

/// How the messages of a transposition on a mesh travel (src/schedule/mesh/mesh.hpp): with one turn; along
/// the row first; in the two phases of Tsay, Ding and Wang; by recursive exchange.
enum class MeshRouting { any, xy, two_phase, recursive };

class Network {
 public:
  enum class Kind { crossbar, hypercube, mesh, torus };

  /// All of them throw InputError if there would be more than 2^max_dimension nodes, or a size is negative.
  static Network crossbar(int lg_nodes);
  static Network hypercube(int dimension);
  /// side = 0 is a network of no nodes.
  static Network mesh(std::uint64_t side);
  /// Two nodes are joined by one link in each direction, even if a ring consists only of them.
  static Network torus(std::uint64_t side);
  /// Schedules for more than 2^20 virtual processors are refused.
  static constexpr int max_dimension = 20;

  Kind kind() const { return kind_; }
  std::uint64_t nodes() const { return nodes_; }
  /// lg of the number of nodes; 0 for a mesh or a torus.
  int dimension() const { return dimension_; }
  /// N of an N × N mesh or torus.
  std::uint64_t side() const { return side_; }
  /// Whether the nodes lie in rows and columns: on a mesh or a torus.
  bool has_rows() const { return kind_ == Kind::mesh || kind_ == Kind::torus; }

  /// The number of directed links; on a crossbar, of nodes, since each sends one message in a step.
  std::uint64_t links() const;
  /// A number for the link between two neighbours, below link_numbers(); nothing if there is none. On a
  /// crossbar, the sender's. On a mesh or a torus it is odd if the link leads down or to the right.
  std::optional<std::uint64_t> link(Node from, Node to) const;
  std::uint64_t link_numbers() const;
  /// Links on a shortest path.
  std::uint64_t distance(Node from, Node to) const;
  /// The next node of the straight way from a node to another one, `to` itself if it is a neighbour. On a
  /// mesh or a torus both must lie in one row or one column. A torus has two ways. The shorter one is meant,
  /// and of two equally long ones that of the mesh; so the way back has the same nodes.
  Node next(Node from, Node to) const;

 private:
  Network(Kind kind, std::uint64_t nodes, int dimension, std::uint64_t side)
      : kind_(kind), nodes_(nodes), dimension_(dimension), side_(side) {}

  Kind kind_;
  std::uint64_t nodes_;
  int dimension_;
  std::uint64_t side_;
};

/// "hypercube", "mesh", "torus" or "crossbar".
const char* name_of(Network::Kind kind);

}  // namespace xorder::schedule
