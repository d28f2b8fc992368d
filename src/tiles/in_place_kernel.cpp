#include "tiles/in_place_kernel.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "kernel/kernel.hpp"
#include "kernel/records.hpp"
#include "rounding.hpp"

namespace xorder::tiles {

using std::size_t;
using std::uint64_t;

namespace {

constexpr uint64_t cache_line = 64;

// What a reordering does within a tile, in parts that fit in a cache and give each run of the result a cache
// line or more.
class BoxKernel final : public InPlaceKernel {
 public:
  BoxKernel(const plan::InPlaceTiles& tiles, bool back, uint64_t part_bytes)
      : tiles_(tiles), from_(tiles.side(back)), to_(tiles.side(!back)), local_map_(tiles.local_map(back)) {
    split(part_bytes);
    kernel_.emplace(layout());
  }

  uint64_t parts(const InPlaceTile& tile) const override {
    if (!split_) return 1;
    return is_mapped(*split_) ? uint64_t{1} << (tiles_.bits() - group_bits_)
                              : ceil_div(tile.lengths[*split_], group_);
  }

  void permute(const InPlaceTile& tile, uint64_t part) const override {
    std::vector<const std::byte*> sources = tile.sources;
    std::vector<std::byte*> targets = tile.targets;
    std::vector<uint64_t> lengths = tile.lengths;
    gf2::Word offset = tile.offset;
    uint64_t skipped = 0;  // runs of the source
    if (split_ && is_mapped(*split_)) {
      const gf2::Word high = part << group_bits_;
      offset ^= local_map_(high);
      skipped = (high >> from_.shape.mapped_low) * from_.shape.axes[*split_].runs;
    } else if (split_) {
      const uint64_t begin = part * group_;
      skipped = begin * stride(*split_).runs;
      lengths[*split_] = std::min(group_, lengths[*split_] - begin);
      move_on(sources, begin * stride(*split_).bytes);
      move_on(targets, begin * target_stride(*split_).bytes);
    }
    if (const auto mapped = tiles_.what().mapped) lengths.erase(lengths.begin() + *mapped);
    (*kernel_)(sources.data() + skipped, targets.data(), lengths, offset);
  }

 private:
  template <class Pointer>
  static void move_on(std::vector<Pointer>& runs, uint64_t bytes) {
    for (Pointer& run : runs) {
      if (run != nullptr) run += bytes;
    }
  }

  bool is_mapped(size_t axis) const { return tiles_.what().mapped == static_cast<int>(axis); }
  kernel::Stride stride(const plan::InPlaceTiles::Side& side, size_t axis) const {
    const plan::RunStride& step = side.shape.axes[axis];
    return {step.runs, step.elements * tiles_.what().element_bytes};
  }
  kernel::Stride stride(size_t axis) const { return stride(from_, axis); }
  kernel::Stride target_stride(size_t axis) const {
    return stride(to_, static_cast<size_t>(to_.order[axis]));
  }

  // Along the axis that is the fastest in the target, if it is not the fastest in the source.
  void split(uint64_t part_bytes) {
    const uint64_t element = tiles_.what().element_bytes, tile = tiles_.tile_elements() * element;
    const auto axis = static_cast<size_t>(from_.order.back());
    group_bits_ = tiles_.bits();
    if (is_mapped(axis)) {
      int low = from_.shape.mapped_low;
      while (low > 0 && element << (low - 1) >= cache_line &&
             tile >> (tiles_.bits() - group_bits_) > part_bytes)
        group_bits_ = gf2::tile_bits(tiles_.what().map, tiles_.cut().low, --low);
      split_ = axis;
    } else if (axis + 1 < from_.tile.size() || from_.shape.axes[axis].runs != 0) {
      const uint64_t length = from_.tile[axis];
      group_ =
          std::clamp(part_bytes / (tile / length), std::min(ceil_div(cache_line, element), length), length);
      split_ = axis;
    }
  }

  kernel::Layout layout() const {
    kernel::Layout layout{tiles_.what().element_bytes, {}, {}};
    for (size_t axis = 0; axis < from_.extents.size(); ++axis) {
      const kernel::Stride from = stride(axis), to = target_stride(axis);
      if (is_mapped(axis)) {
        const int low = from_.shape.mapped_low;
        layout.linear =
            kernel::LinearAxis{local_map_.block(0, 0, tiles_.bits(), group_bits_), low, low, from, to};
      } else {
        layout.axes.push_back({split_ == axis ? group_ : from_.tile[axis], from, to});
      }
    }
    return layout;
  }

  const plan::InPlaceTiles& tiles_;
  const plan::InPlaceTiles::Side &from_, &to_;
  gf2::BitMatrix local_map_;
  std::optional<size_t> split_;
  uint64_t group_ = 1;  // how much of the axis a part spans,
  int group_bits_ = 0;  // or of the mapped axis
  std::optional<kernel::Kernel> kernel_;
};

using To = plan::RoutingStep::To;

// Where what goes from one chunk to another lies in a pass of a routing.
class Pieces {
 public:
  explicit Pieces(const plan::RoutingStep& step) : routing_(step.routing), n_(routing_.chunks()) {
    const plan::RoutingTable counts(routing_);
    if (step.to != To::places) sums_[false] = sums(counts, false);
    if (step.to != To::parts) sums_[true] = sums(counts, true);
  }

  struct Piece {
    uint64_t begin, end;  // within the part, in elements
  };
  // Of part q of a chunk `here`: what goes to another, or (`by_target`, in the end) has come from there.
  Piece operator()(bool by_target, uint64_t q, uint64_t here, uint64_t other) const {
    const uint64_t at = (q * n_ + here) * n_ + other;
    const Sums& sums = sums_[by_target];
    return {sums[at],
            other + 1 < n_ ? sums[at + 1] : routing_.part_begin(here, q + 1) - routing_.part_begin(here, q)};
  }

 private:
  using Sums = std::vector<uint32_t>;

  Sums sums(const plan::RoutingTable& counts, bool by_target) const {
    Sums all;
    all.reserve(n_ * n_ * routing_.strips());
    for (uint64_t q = 0; q < routing_.strips(); ++q) {
      for (uint64_t here = 0; here < n_; ++here) {
        uint64_t sum = 0;
        for (uint64_t other = 0; other < n_; ++other) {
          all.push_back(static_cast<uint32_t>(sum));
          sum += by_target ? counts(q, other, here) : counts(q, here, other);
        }
      }
    }
    return all;
  }

  plan::Routing routing_;
  uint64_t n_;
  std::array<Sums, 2> sums_;
};

// A pass of a routing, or its inverse. Parts are what goes from one chunk to another.
class RoutingKernel final : public InPlaceKernel {
 public:
  RoutingKernel(const plan::RoutingStep& step, bool back, std::shared_ptr<const Pieces> pieces)
      : routing_(step.routing),
        to_(step.to),
        back_(back),
        n_(routing_.chunks()),
        bytes_(routing_.what.element_bytes),
        pieces_(std::move(pieces)) {}

  uint64_t parts(const InPlaceTile&) const override { return n_; }

  void permute(const InPlaceTile& tile, uint64_t part) const override {
    if (to_ == To::chunks) return in_strip(tile, part);
    kernel::with_record(bytes_, [&](const auto& record) { in_chunk(tile, part, record); });
  }

 private:
  void in_strip(const InPlaceTile& tile, uint64_t d) const {
    const uint64_t q = tile.number;
    for (uint64_t k = 0; k < n_; ++k) {
      const Pieces::Piece from = (*pieces_)(false, q, k, d), to = (*pieces_)(true, q, d, k);
      const uint64_t bytes = (to.end - to.begin) * bytes_;
      if (bytes == 0) continue;
      if (back_)
        std::memcpy(tile.targets[k] + from.begin * bytes_, tile.sources[d] + to.begin * bytes_, bytes);
      else
        std::memcpy(tile.targets[d] + to.begin * bytes_, tile.sources[k] + from.begin * bytes_, bytes);
    }
  }

  // Between the elements' places in the chunk and the pieces of its parts for the other chunk.
  template <class Record>
  void in_chunk(const InPlaceTile& tile, uint64_t other, const Record& record) const {
    const uint64_t here = tile.number, first = here * routing_.chunk;
    const bool is_source = to_ == To::parts, gathers = is_source != back_;
    const std::byte* const source = tile.sources[0];
    std::byte* const target = tile.targets[0];
    uint64_t q = 0, at = 0, left = 0;  // in which piece, where in the chunk, and how much of it is left
    const auto take = [&](uint64_t place, uint64_t step, uint64_t count) {
      while (count > 0) {
        while (left == 0) {
          const Pieces::Piece next = (*pieces_)(!is_source, q, here, other);
          at = routing_.part_begin(here, q++) + next.begin;
          left = next.end - next.begin;
        }
        const uint64_t some = std::min(count, left);
        const std::byte* from = source + (gathers ? place : at) * bytes_;
        std::byte* to = target + (gathers ? at : place) * bytes_;
        if (step == 1) {
          std::memcpy(to, from, some * bytes_);
        } else {
          const uint64_t from_step = (gathers ? step : 1) * bytes_, to_step = (gathers ? 1 : step) * bytes_;
          for (uint64_t i = 0; i < some; ++i, from += from_step, to += to_step) record.copy(to, from);
        }
        place += some * step;
        at += some;
        left -= some;
        count -= some;
      }
    };
    if (is_source)
      routing_.for_some(here, other, [&](const auto& s) { take(s.source - first, s.source_step, s.count); });
    else
      routing_.for_some(other, here, [&](const auto& s) { take(s.target - first, s.target_step, s.count); });
  }

  plan::Routing routing_;
  To to_;
  bool back_;
  uint64_t n_, bytes_;
  std::shared_ptr<const Pieces> pieces_;
};

}  // namespace

InPlaceKernels make_in_place_kernels(const plan::InPlacePass& pass) {
  InPlaceKernels kernels;
  const auto pieces = pass.routed ? std::make_shared<const Pieces>(*pass.routed) : nullptr;
  for (const bool back : {false, true}) {
    if (pieces)
      kernels[back] = std::make_unique<RoutingKernel>(*pass.routed, back, pieces);
    else
      kernels[back] = std::make_unique<BoxKernel>(pass.tiles, back, pass.part_bytes);
  }
  return kernels;
}

}  // namespace xorder::tiles
