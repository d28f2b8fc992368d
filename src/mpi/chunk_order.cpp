#include "mpi/chunk_order.hpp"

#include <bit>

namespace xorder::mpi {

using gf2::AffineMap;
using gf2::BitMatrix;
using gf2::Word;
using schedule::Node;
using schedule::Rounds;

ChunkOrder::ChunkOrder(const Rounds& rounds) : free_(plan::free_order(rounds.factors().alpha_1)) {
  std::vector<Word> columns(static_cast<std::size_t>(free_.map.rows()), 0);
  for (int j = 0; j < free_.map.cols(); ++j) {
    columns[static_cast<std::size_t>(std::bit_width(free_.map.column(j)) - 1)] = gf2::unit(j);
  }
  coordinates_ = BitMatrix(free_.map.cols(), std::move(columns));
}

AffineMap ChunkOrder::before(const Rounds& rounds, Node rank) const {
  const schedule::RoundFactors& f = rounds.factors();
  std::vector<Word> columns = free_.order.inverse().value().columns();
  for (int b = 0; b < f.rank; ++b) {
    columns.push_back(gf2::unit(rounds.lg_chunk() + b) ^ coordinates_(f.alpha_2.column(b)));
  }
  const AffineMap renumber{BitMatrix(rounds.lg_block(), std::move(columns)),
                           coordinates_(rounds.scatter(rank, 0).complement)};
  return renumber * rounds.within(rank);
}

Word ChunkOrder::offset(const Rounds& rounds, Node sender, std::uint64_t round) const {
  const Word offset = rounds.scatter(sender, round).complement;
  return offset ^ free_.map(coordinates_(offset));
}

}  // namespace xorder::mpi
