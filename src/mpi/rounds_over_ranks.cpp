#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "kernel/pieces.hpp"
#include "mpi/chunk_order.hpp"
#include "mpi/exchange.hpp"
#include "mpi/merge.hpp"
#include "mpi/plan.hpp"
#include "mpi/put.hpp"
#include "plan/processors/exchange_memory.hpp"
#include "xorder/error.hpp"

namespace xorder::mpi {
namespace {

using gf2::AffineMap;
using gf2::BitMatrix;
using gf2::Word;
using schedule::Node;
using schedule::Rounds;
using std::uint64_t;
using std::vector;

// Shorter pieces are merged, if they can be.
constexpr uint64_t mergeable_piece = 2048;

// Putting shorter pieces in their places one by one costs more than another pass over whole cache lines.
constexpr uint64_t short_piece = 128;

/// Sends chunk b in round b.
class ChunkSchedule : public RankSchedule {
 public:
  ChunkSchedule(const Rounds& rounds, Node rank, uint64_t element_bytes, int lg_piece)
      : rounds_(rounds),
        rank_(rank),
        chunk_bytes_(element_bytes << rounds.lg_chunk()),
        piece_bytes_(element_bytes << lg_piece),
        copy_(put_function(element_bytes << rounds.lg_block())) {}

  uint64_t rounds() const override { return rounds_.steps(); }
  Message sent(uint64_t round) const override { return with(rounds_.target(rank_, round)); }
  uint64_t sent_from(uint64_t round) const override { return round * chunk_bytes_; }
  Message received(uint64_t round) const override { return with(sender(round)); }

 protected:
  Node sender(uint64_t round) const { return rounds_.source(rank_, round); }
  uint64_t piece_bytes() const { return piece_bytes_; }
  const Rounds& rounds_;

 private:
  Message with(Node peer) const { return {static_cast<int>(peer), chunk_bytes_, piece_bytes_}; }

  Node rank_;
  uint64_t chunk_bytes_, piece_bytes_;

 protected:
  const memory::CopyFunction copy_;
};

/// A chunk arrives, as one piece, in the place of the chunk that the rank sends.
class SwapSchedule final : public ChunkSchedule {
 public:
  SwapSchedule(const Rounds& rounds, Node rank, uint64_t element_bytes)
      : ChunkSchedule(rounds, rank, element_bytes, rounds.lg_chunk()) {}
  uint64_t place(uint64_t round, uint64_t) const override { return sent_from(round); }
  void put(uint64_t round, uint64_t, uint64_t, const std::byte* from, std::byte* to) const override {
    copy_(to + sent_from(round), from, piece_bytes());
  }
};

/// The pieces of a chunk go to their places in the receiver's block.
class ScatterSchedule final : public ChunkSchedule {
 public:
  ScatterSchedule(const Rounds& rounds, const ChunkOrder& order, Node rank, uint64_t element_bytes)
      : ChunkSchedule(rounds, rank, element_bytes, order.lg_piece()), order_(order) {
    for (int j = order.lg_piece(); j < order.map().cols(); ++j) {
      columns_.push_back(order.map().column(j) >> order.lg_piece());
    }
  }

  uint64_t place(uint64_t round, uint64_t piece) const override { return at(round, piece) * piece_bytes(); }
  void put(uint64_t round, uint64_t first, uint64_t count, const std::byte* from,
           std::byte* to) const override {
    if (piece_bytes() >= streamed_piece) {
      for (uint64_t i = 0; i < count; ++i) {
        copy_(to + at(round, first + i) * piece_bytes(), from + i * piece_bytes(), piece_bytes());
      }
      return;
    }
    const auto bits = static_cast<std::size_t>(std::countr_zero(count));
    kernel::scatter_pieces(to, from, std::span(columns_).first(bits), at(round, first), piece_bytes());
  }

 private:
  Word at(uint64_t round, uint64_t piece) const {
    Word place = order_.offset(rounds_, sender(round), round) >> order_.lg_piece();
    for (; piece != 0; piece &= piece - 1)
      place ^= columns_[static_cast<std::size_t>(std::countr_zero(piece))];
    return place;
  }

  const ChunkOrder& order_;
  vector<Word> columns_;  // of the map from pieces to their places
};

int lg_ranks(int ranks) {
  if (ranks >= 1 && std::has_single_bit(static_cast<unsigned>(ranks)))
    return std::countr_zero(static_cast<unsigned>(ranks));
  if (ranks < 1) throw InputError(fmt::format("{} ranks: at least 1 is needed", ranks));
  const unsigned fewer = std::bit_floor(static_cast<unsigned>(ranks));
  throw InputError(fmt::format(
      "for a permutation of index bits the number of ranks must be a power of two, not {}; use {}, with a "
      "communicator of so many (MPI_Comm_split); a permutation of axes can be planned for any number",
      ranks, fewer));
}

class RoundsOverRanks final : public Plan {
 public:
  RoundsOverRanks(const AffineMap& map, int ranks, int lowest_rank_bit)
      : Plan(ranks),
        does_nothing_(map.is_identity()),
        rounds_(map, lg_ranks(ranks), lowest_rank_bit),
        order_(rounds_) {
    add_to_digest(map.matrix.columns());
    const uint64_t others[] = {map.complement, static_cast<uint64_t>(ranks),
                               static_cast<uint64_t>(lowest_rank_bit)};
    add_to_digest(others);
  }

  bool does_nothing() const override { return does_nothing_; }
  uint64_t elements_before(int) const override { return uint64_t{1} << rounds_.lg_block(); }
  uint64_t elements_after(int rank) const override { return elements_before(rank); }

  Steps steps(int rank, uint64_t element_bytes, uint64_t slice_bytes) const override {
    const Node k = static_cast<Node>(rank);
    const ArrayShape block{{elements_before(rank)}, element_bytes, Order::c};
    const uint64_t piece_bytes = element_bytes << order_.lg_piece();
    Steps steps;
    steps.before = mapping_of_all(block, order_.before(rounds_, k));
    if (piece_bytes < mergeable_piece) {
      if (auto groups = groups_for(k, element_bytes, slice_bytes)) {
        steps.transfer = std::make_unique<Merge>(rounds_, std::move(*groups), k, element_bytes);
        return steps;
      }
    }
    const bool in_place = piece_bytes < short_piece;
    std::unique_ptr<const RankSchedule> schedule;
    if (in_place) {
      schedule = std::make_unique<SwapSchedule>(rounds_, k, element_bytes);
      steps.after = mapping_of_all(block, order_.after(rounds_, k));
    } else {
      schedule = std::make_unique<ScatterSchedule>(rounds_, order_, k, element_bytes);
    }
    steps.transfer = std::make_unique<Exchange>(std::move(schedule), rank, slice_bytes, in_place);
    return steps;
  }

 private:
  std::optional<ChunkGroups> groups_for(Node rank, uint64_t element_bytes, uint64_t slice_bytes) const {
    const uint64_t block_bytes = element_bytes << rounds_.lg_block();
    const uint64_t group = plan::group_bytes(rounds_.steps(), block_bytes);
    const uint64_t slice = std::min(group / rounds_.steps(), slice_bytes) / element_bytes;
    if (slice == 0) return std::nullopt;
    auto groups = order_.groups(rounds_, rank,
                                std::min(static_cast<int>(std::bit_width(slice)) - 1, rounds_.lg_chunk()));
    // If there is nothing to permute within a group, pieces are as long as slices and need no merge.
    if (groups && groups->map == BitMatrix::identity(groups->map.cols())) return std::nullopt;
    return groups;
  }

  bool does_nothing_;
  Rounds rounds_;
  ChunkOrder order_;
};

}  // namespace

std::unique_ptr<const Plan> plan_rounds(const AffineMap& map, int ranks, int lowest_rank_bit) {
  return std::make_unique<RoundsOverRanks>(map, ranks, lowest_rank_bit);
}

}  // namespace xorder::mpi
