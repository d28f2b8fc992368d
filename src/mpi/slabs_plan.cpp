#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "kernel/pieces.hpp"
#include "mpi/exchange.hpp"
#include "mpi/piece_groups.hpp"
#include "mpi/plan.hpp"
#include "mpi/put.hpp"
#include "plan/processors/exchange_memory.hpp"
#include "rounding.hpp"
#include "xorder/error.hpp"

namespace xorder::mpi {
namespace {

using std::int64_t;
using std::uint64_t;

// Shorter pieces share their cache lines with those of other senders.
constexpr uint64_t short_grouped_piece = 128;

/// In round t a rank sends to the rank t after it, and receives from the rank t before it. What one rank has
/// for another is a box: the sender's part of the source's slowest axis times the receiver's part of the
/// target's.
///
/// A sender's elements already have the target's order, so the box for a rank is contiguous. In the
/// receiver's slab it consists of pieces, one for each coordinate of the axes before the source's slowest
/// one.
class BoxSchedule final : public RankSchedule {
 public:
  struct Sizes {
    uint64_t source_rows = 0;   ///< extent of the source's slowest axis
    uint64_t target_rows = 0;   ///< of the target's
    uint64_t between = 1;       ///< coordinates of the axes that lie between the two in the target
    uint64_t inside_bytes = 1;  ///< of the axes that lie after both
  };
  BoxSchedule(Sizes sizes, int ranks, int rank)
      : sizes_(sizes),
        ranks_(ranks),
        rank_(rank),
        copy_(put_function(count(sizes.target_rows, rank) * sizes.between * pitch())) {}

  uint64_t rounds() const override { return static_cast<uint64_t>(ranks_); }
  Message sent(uint64_t round) const override { return box(rank_, receiver(round), receiver(round)); }
  uint64_t sent_from(uint64_t round) const override {
    return begin(sizes_.target_rows, receiver(round)) * sizes_.between * rows_bytes(rank_);
  }
  Message received(uint64_t round) const override { return box(sender(round), rank_, sender(round)); }

  uint64_t place(uint64_t round, uint64_t piece) const override {
    return piece * pitch() + begin(sizes_.source_rows, sender(round)) * sizes_.inside_bytes;
  }
  void put(uint64_t round, uint64_t first, uint64_t count, const std::byte* from,
           std::byte* to) const override {
    const uint64_t bytes = rows_bytes(sender(round));
    if (bytes >= streamed_piece) {
      for (uint64_t i = 0; i < count; ++i) copy_(to + place(round, first + i), from + i * bytes, bytes);
      return;
    }
    kernel::copy_pieces(to + place(round, first), static_cast<int64_t>(pitch()), from,
                        static_cast<int64_t>(bytes), bytes, count);
  }

 private:
  int receiver(uint64_t round) const {
    return static_cast<int>((static_cast<uint64_t>(rank_) + round) % rounds());
  }
  int sender(uint64_t round) const {
    return static_cast<int>((static_cast<uint64_t>(rank_) + rounds() - round) % rounds());
  }
  uint64_t begin(uint64_t extent, int rank) const { return slab_begin(extent, ranks_, rank); }
  uint64_t count(uint64_t extent, int rank) const { return begin(extent, rank + 1) - begin(extent, rank); }

  // The bytes of a piece that `sender` sends.
  uint64_t rows_bytes(int sender) const { return count(sizes_.source_rows, sender) * sizes_.inside_bytes; }
  uint64_t pitch() const { return sizes_.source_rows * sizes_.inside_bytes; }
  Message box(int sender, int receiver, int peer) const {
    const uint64_t piece = rows_bytes(sender);
    return {peer, count(sizes_.target_rows, receiver) * sizes_.between * piece, std::max<uint64_t>(1, piece)};
  }

  Sizes sizes_;
  int ranks_, rank_;
  memory::CopyFunction copy_;
};

/// For the case that the slowest axis stays the slowest, so that each rank keeps its elements.
class NoSchedule final : public RankSchedule {
 public:
  NoSchedule(int rank, uint64_t bytes) : message_{rank, bytes, std::max<uint64_t>(1, bytes)} {}
  uint64_t rounds() const override { return 1; }
  Message sent(uint64_t) const override { return message_; }
  uint64_t sent_from(uint64_t) const override { return 0; }
  Message received(uint64_t) const override { return message_; }
  uint64_t place(uint64_t, uint64_t) const override { return 0; }
  void put(uint64_t, uint64_t, uint64_t, const std::byte* from, std::byte* to) const override {
    put_function(message_.bytes)(to, from, message_.bytes);
  }

 private:
  Message message_;
};

class SlabsPlan final : public Plan {
 public:
  SlabsPlan(std::span<const uint64_t> shape, std::span<const int> axes, int ranks) : Plan(ranks) {
    if (ranks < 1) throw InputError(fmt::format("{} ranks: at least 1 is needed", ranks));
    extents_.assign(shape.begin(), shape.end());
    axes_ = transposition({extents_, 1, Order::c}, axes).order;  // checks shape and axes
    if (extents_.empty()) extents_ = {1}, axes_ = {0};           // one element

    add_to_digest(extents_);
    for (const int axis : axes_) add_to_digest(static_cast<uint64_t>(axis));
    add_to_digest(static_cast<uint64_t>(ranks));
  }

  bool does_nothing() const override { return std::ranges::is_sorted(axes_); }
  uint64_t elements_before(int rank) const override { return elements(0, rank); }
  uint64_t elements_after(int rank) const override { return elements(axes_[0], rank); }

  Steps steps(int rank, uint64_t element_bytes, uint64_t slice_bytes) const override {
    std::vector<uint64_t> slab = extents_;
    slab[0] = rows(0, rank);
    Steps steps;
    const uint64_t elements = elements_before(rank);
    if (elements != 0) steps.before = transposition({slab, element_bytes, Order::c}, axes_);
    std::unique_ptr<const RankSchedule> schedule;
    if (axes_[0] == 0) {
      schedule = std::make_unique<NoSchedule>(rank, elements * element_bytes);
    } else {
      const BoxSchedule::Sizes boxes = sizes(element_bytes);
      schedule = std::make_unique<BoxSchedule>(boxes, ranks(), rank);
      if (const uint64_t pieces = grouped_pieces(boxes, slice_bytes); pieces != 0) {
        steps.transfer = std::make_unique<PieceGroups>(std::move(schedule), rank, pieces);
        return steps;
      }
    }
    steps.transfer = std::make_unique<Exchange>(std::move(schedule), rank, slice_bytes, false);
    return steps;
  }

 private:
  uint64_t extent(int axis) const { return extents_[static_cast<std::size_t>(axis)]; }
  uint64_t rows(int axis, int rank) const {
    return slab_begin(extent(axis), ranks(), rank + 1) - slab_begin(extent(axis), ranks(), rank);
  }
  // The elements of a rank's slab along an axis.
  uint64_t elements(int axis, int rank) const {
    uint64_t product = rows(axis, rank);
    for (int other = 0; other < static_cast<int>(extents_.size()); ++other) {
      if (other != axis) product *= extent(other);
    }
    return product;
  }

  BoxSchedule::Sizes sizes(uint64_t element_bytes) const {
    BoxSchedule::Sizes sizes{extent(0), extent(axes_[0]), 1, element_bytes};
    const auto slowest = std::ranges::find(axes_, 0);
    for (auto axis = axes_.begin() + 1; axis < slowest; ++axis) sizes.between *= extent(*axis);
    for (auto axis = slowest + 1; axis < axes_.end(); ++axis) sizes.inside_bytes *= extent(*axis);
    return sizes;
  }

  // How many pieces of each message make a group, the same on all ranks. 0 if pieces are long enough to be
  // put in their places sender by sender, or if not even one of each message fits in a group.
  uint64_t grouped_pieces(const BoxSchedule::Sizes& boxes, uint64_t slice_bytes) const {
    const auto count = static_cast<uint64_t>(ranks());
    const uint64_t pitch = boxes.source_rows * boxes.inside_bytes;
    const uint64_t longest = ceil_div(boxes.source_rows, count) * boxes.inside_bytes;
    if (count == 1 || longest == 0 || longest >= short_grouped_piece) return 0;
    const uint64_t slab = pitch * boxes.target_rows * boxes.between / count;
    return std::bit_floor(std::min(plan::group_bytes(count, slab) / pitch, slice_bytes / longest));
  }

  std::vector<uint64_t> extents_;
  std::vector<int> axes_;  // of the source, in the target's order
};

}  // namespace

uint64_t slab_begin(uint64_t extent, int ranks, int rank) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>(Wide{extent} * static_cast<unsigned>(rank) / static_cast<unsigned>(ranks));
}

std::unique_ptr<const Plan> plan_slabs(std::span<const uint64_t> shape, std::span<const int> axes,
                                       int ranks) {
  return std::make_unique<SlabsPlan>(shape, axes, ranks);
}

}  // namespace xorder::mpi
