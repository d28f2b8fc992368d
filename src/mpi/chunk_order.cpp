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

AffineMap ChunkOrder::after(const Rounds& rounds, Node rank) const {
  const AffineMap of_round = offsets(rounds, rank);
  std::vector<Word> columns = free_.map.columns();
  columns.insert(columns.end(), of_round.matrix.columns().begin(), of_round.matrix.columns().end());
  return {BitMatrix(rounds.lg_block(), std::move(columns)), of_round.complement};
}

AffineMap ChunkOrder::offsets(const Rounds& rounds, Node rank) const {
  const auto at = [&](std::uint64_t round) { return offset(rounds, rounds.source(rank, round), round); };
  std::vector<Word> columns;
  for (int b = 0; b < rounds.factors().rank; ++b) columns.push_back(at(gf2::unit(b)) ^ at(0));
  return {BitMatrix(rounds.lg_block(), std::move(columns)), at(0)};
}

// Offsets have only bits that are not the highest bit of any column of the map. If all of them are below lg
// of the stretch, the upper columns of the map are unit vectors above it, and have below it a part z that is
// the offset of some round t. Then all stretches are permuted alike, if the slice of round b takes position b
// ⊕ t.
std::optional<ChunkGroups> ChunkOrder::groups(const Rounds& rounds, Node rank, int lg_slice) const {
  const int chunk = rounds.lg_chunk(), stretch = lg_slice + rounds.factors().rank;
  const AffineMap of_round = offsets(rounds, rank);
  std::vector<Word> turns;
  for (int j = lg_slice; j < chunk; ++j) {
    const Word above = free_.map.column(j) >> stretch;
    if (above != gf2::unit(j - lg_slice)) return std::nullopt;
    turns.push_back(of_round.matrix.solve(free_.map.column(j) & gf2::low_mask(stretch)).value());
  }
  std::vector<Word> columns = free_.map.columns();
  columns.resize(static_cast<std::size_t>(lg_slice));
  columns.insert(columns.end(), of_round.matrix.columns().begin(), of_round.matrix.columns().end());
  return ChunkGroups{lg_slice,
                     BitMatrix(stretch, std::move(columns)),
                     {BitMatrix(rounds.factors().rank, std::move(turns)),
                      of_round.matrix.solve(of_round.complement).value()}};
}

Word ChunkOrder::offset(const Rounds& rounds, Node sender, std::uint64_t round) const {
  const Word offset = rounds.scatter(sender, round).complement;
  return offset ^ free_.map(coordinates_(offset));
}

}  // namespace xorder::mpi
