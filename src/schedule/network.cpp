#include "xorder/schedule/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "xorder/error.hpp"

namespace xorder::schedule {
namespace {

std::uint64_t power_of_two_nodes(int dimension) {
  if (dimension < 0 || dimension > Network::max_dimension) {
    throw InputError(fmt::format("2^{} virtual processors: the exponent must be from 0 to {}", dimension,
                                 Network::max_dimension));
  }
  return std::uint64_t{1} << dimension;
}

std::uint64_t apart(std::uint64_t a, std::uint64_t b) { return a < b ? b - a : a - b; }

std::uint64_t checked_side(std::uint64_t side, const char* name) {
  constexpr std::uint64_t largest = std::uint64_t{1} << (Network::max_dimension / 2);
  if (side > largest) {
    throw InputError(
        fmt::format("a {2} of {0} × {0} virtual processors: at most {1} × {1}", side, largest, name));
  }
  return side;
}

}  // namespace

Network Network::crossbar(int lg_nodes) {
  return {Kind::crossbar, power_of_two_nodes(lg_nodes), lg_nodes, 0};
}

Network Network::hypercube(int dimension) {
  return {Kind::hypercube, power_of_two_nodes(dimension), dimension, 0};
}

Network Network::mesh(std::uint64_t side) { return {Kind::mesh, checked_side(side, "mesh") * side, 0, side}; }

Network Network::torus(std::uint64_t side) {
  return {Kind::torus, checked_side(side, "torus") * side, 0, side};
}

std::uint64_t Network::links() const {
  switch (kind_) {
    case Kind::crossbar:
      return nodes_;
    case Kind::hypercube:
      return nodes_ * static_cast<std::uint64_t>(dimension_);
    case Kind::mesh:
      return side_ == 0 ? 0 : 4 * side_ * (side_ - 1);
    case Kind::torus:
      return side_ > 2 ? 4 * nodes_ : 2 * side_ * side_ * (side_ - 1);
  }
  return 0;
}

std::uint64_t Network::link_numbers() const { return has_rows() ? 4 * nodes_ : links(); }

std::optional<std::uint64_t> Network::link(Node from, Node to) const {
  if (from >= nodes_ || to >= nodes_ || from == to) return {};
  switch (kind_) {
    case Kind::crossbar:
      return from;
    case Kind::hypercube: {
      const std::uint64_t difference = from ^ to;
      if ((difference & (difference - 1)) != 0) return {};  // faster than std::has_single_bit, a popcount
      return from * static_cast<std::uint64_t>(dimension_) +
             static_cast<std::uint64_t>(std::countr_zero(difference));
    }
    case Kind::mesh: {
      const std::uint64_t further = apart(from, to);
      const bool vertical = further == side_ && side_ > 1;
      if (!vertical && (further != 1 || from / side_ != to / side_)) return {};
      return 4 * from + (vertical ? 2 : 0) + (to > from ? 1 : 0);
    }
    case Kind::torus: {
      if (distance(from, to) != 1) return {};
      const bool vertical = from / side_ != to / side_;
      // A first node's link to a last one has the number that on a mesh a link beyond the edge would have.
      const bool around = side_ > 2 && apart(from, to) != (vertical ? side_ : 1);
      return 4 * from + (vertical ? 2 : 0) + ((to > from) != around ? 1 : 0);
    }
  }
  return {};
}

std::uint64_t Network::distance(Node from, Node to) const {
  switch (kind_) {
    case Kind::crossbar:
      return from == to ? 0 : 1;
    case Kind::hypercube:
      return static_cast<std::uint64_t>(std::popcount(from ^ to));
    case Kind::mesh:
      return apart(from / side_, to / side_) + apart(from % side_, to % side_);
    case Kind::torus: {
      const std::uint64_t rows = apart(from / side_, to / side_), columns = apart(from % side_, to % side_);
      return std::min(rows, side_ - rows) + std::min(columns, side_ - columns);
    }
  }
  return 0;
}

Node Network::next(Node from, Node to) const {
  if (!has_rows()) return to;
  const bool in_row = from / side_ == to / side_;
  const std::uint64_t stride = in_row ? 1 : side_, ring = stride * side_;
  const std::uint64_t at = in_row ? from % side_ : from / side_, goal = in_row ? to % side_ : to / side_;
  const bool around = kind_ == Kind::torus && 2 * apart(at, goal) > side_;
  if ((at < goal) != around) return at + 1 == side_ ? from + stride - ring : from + stride;
  return at == 0 ? from + ring - stride : from - stride;
}

const char* name_of(Network::Kind kind) {
  switch (kind) {
    case Network::Kind::crossbar:
      return "crossbar";
    case Network::Kind::hypercube:
      return "hypercube";
    case Network::Kind::mesh:
      return "mesh";
    case Network::Kind::torus:
      return "torus";
  }
  return "";
}

}  // namespace xorder::schedule
