#include "plan/tiles/in_place_tiles.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "rounding.hpp"

namespace xorder::plan {

using std::size_t;
using std::uint64_t;

namespace {

// The smallest subspace around this one that the map leaves where it is.
gf2::Subspace closure(gf2::Subspace space, const gf2::BitMatrix& map) {
  for (;;) {
    gf2::Subspace larger = space + space.image(map);
    if (larger == space) return space;
    space = std::move(larger);
  }
}

}  // namespace

InPlaceTiles::InPlaceTiles(Reordering what, InPlaceCut cut)
    : what_(std::move(what)), cut_(std::move(cut)), strides_(what_.extents.size(), 1) {
  const size_t axes = what_.extents.size();
  sides_[0] = {what_.extents, cut_.tile, what_.order, {}};
  sides_[1] = sides_[0];
  for (size_t j = 0; j < axes; ++j) {
    const auto from = static_cast<size_t>(what_.order[j]);
    sides_[1].extents[j] = what_.extents[from];
    sides_[1].tile[j] = cut_.tile[from];
    sides_[1].order[from] = static_cast<int>(j);
  }
  for (size_t a = axes - 1; a-- > 0;) strides_[a] = strides_[a + 1] * what_.extents[a + 1];
  if (what_.mapped) {
    const int n = what_.map.bits();
    maps_ = {what_.map, what_.map.inverse()};
    space_ = closure(gf2::Subspace::low_bits(cut_.low), what_.map.matrix);
    // What a run of the target gets comes first, so that the first vectors span sub-tiles, as in coset.hpp.
    gf2::Subspace span = gf2::Subspace::low_bits(cut_.low);
    std::vector<gf2::Word> columns = span.basis(), others;
    for (int i = 0; i < cut_.low; ++i) others.push_back(maps_[1].matrix.column(i));
    others.insert(others.end(), space_.basis().begin(), space_.basis().end());
    for (const gf2::Word v : others) {
      const gf2::Word high = v & ~gf2::low_mask(cut_.low);
      if (span.add(high)) columns.push_back(high);
    }
    basis_ = gf2::BitMatrix(n, std::move(columns));
    for (size_t d = 0; d < 2; ++d) {
      std::vector<gf2::Word> local;
      for (const gf2::Word b : basis_.columns()) local.push_back(basis_.solve(maps_[d].matrix(b)).value());
      local_maps_[d] = gf2::BitMatrix(bits(), std::move(local));
    }
    for (int i = 0; i < n; ++i) {
      if (!(space_.pivots() & gf2::unit(i))) outside_.push_back(gf2::unit(i));
    }
    index_cosets();
  }
  for (Side& side : sides_) {
    TileChoice choice;
    choice.tile = choice.group = side.tile;
    choice.source_low = cut_.low;
    Reordering array = what_;
    array.extents = side.extents;
    set_source_shape(array, choice, bits(), side.shape);
  }
}

InPlaceTiles::InPlaceTiles(const Routing& strips)
    : InPlaceTiles({strips.what.element_bytes, {strips.what.elements()}, {0}, {}, {}}, {{strips.chunk}, 0}) {
  strips_ = strips;
  for (Side& side : sides_) {
    side.shape.run_count = strips.chunks();
    side.shape.run_elements = strips.chunk / strips.strips();
  }
}

// Their numbers are mapped as linearly as they are.
void InPlaceTiles::index_cosets() {
  const auto number = [&](gf2::Word x) {
    gf2::Word index = 0;
    for (size_t i = 0; i < outside_.size(); ++i) index |= gf2::Word{(x & outside_[i]) != 0} << i;
    return index;
  };
  for (size_t d = 0; d < 2; ++d) {
    std::vector<gf2::Word> columns;
    for (const gf2::Word unit : outside_) columns.push_back(number(space_.reduce(maps_[d].matrix(unit))));
    index_maps_[d] = {gf2::BitMatrix(static_cast<int>(outside_.size()), std::move(columns)),
                      number(space_.reduce(maps_[d].complement))};
  }
}

uint64_t InPlaceTiles::count(const Side& side, size_t axis) const {
  return is_mapped(axis) ? uint64_t{1} << outside_.size() : ceil_div(side.extents[axis], side.tile[axis]);
}

uint64_t InPlaceTiles::tile_count() const {
  if (strips_) return strips_->strips();
  uint64_t all = 1;
  for (size_t a = 0; a < what_.extents.size(); ++a) all *= count(sides_[0], a);
  return all;
}

uint64_t InPlaceTiles::tile_elements() const {
  if (strips_) return run_count() * run_elements();
  return std::accumulate(cut_.tile.begin(), cut_.tile.end(), uint64_t{1}, std::multiplies<>()) << bits();
}

std::vector<uint64_t> InPlaceTiles::indices(const Side& side, uint64_t tile) const {
  std::vector<uint64_t> all(side.extents.size());
  for (size_t a = all.size(); a-- > 0; tile /= count(side, a)) all[a] = tile % count(side, a);
  return all;
}

gf2::Word InPlaceTiles::coset(uint64_t index) const {
  gf2::Word x = 0;
  for (const gf2::Word unit : outside_) {
    if (index & 1) x |= unit;
    index >>= 1;
  }
  return x;
}

InPlaceTiles::Target InPlaceTiles::target(uint64_t tile, bool back) const {
  Target to{next(tile, back), 0};
  if (what_.mapped) {
    const auto k = static_cast<size_t>(*what_.mapped);
    const gf2::Word y = maps_[back](coset(indices(sides_[back], tile)[k]));
    to.offset = basis_.solve(y ^ space_.reduce(y)).value();
  }
  return to;
}

// Called for millions of tiles.
uint64_t InPlaceTiles::next(uint64_t tile, bool back) const {
  if (strips_) return tile;
  const Side &here = sides_[back], &there = sides_[!back];
  std::array<uint64_t, 64> from;
  for (size_t a = here.order.size(); a-- > 0;) {
    const uint64_t of = count(here, a), rest = tile / of;
    from[a] = tile - rest * of;
    tile = rest;
  }
  uint64_t to = 0;
  for (size_t j = 0; j < here.order.size(); ++j) {
    const uint64_t index = from[static_cast<size_t>(here.order[j])];
    to = to * count(there, j) + (is_mapped(j) ? index_maps_[back](index) : index);
  }
  return to;
}

std::vector<uint64_t> InPlaceTiles::lengths(uint64_t tile, bool back) const {
  const Side& side = sides_[back];
  std::vector<uint64_t> all = indices(side, tile);
  for (size_t a = 0; a < all.size(); ++a)
    all[a] = is_mapped(a) ? 1 : std::min(side.tile[a], side.extents[a] - all[a] * side.tile[a]);
  return all;
}

bool InPlaceTiles::are_alike() const {
  for (size_t a = 0; a < what_.order.size(); ++a) {
    if (what_.order[a] != static_cast<int>(a) && cut_.tile[a] != 1) return false;
  }
  return true;
}

void InPlaceTiles::runs(uint64_t tile, std::vector<Run>& runs) const {
  if (strips_) {
    runs.clear();
    for (uint64_t k = 0; k < run_count(); ++k) {
      const uint64_t begin = strips_->part_begin(k, tile), end = strips_->part_begin(k, tile + 1);
      runs.push_back({k * strips_->chunk + begin, end - begin});
    }
    return;
  }
  const std::vector<uint64_t> index = indices(sides_[0], tile), length = lengths(tile, false);
  const RunShape& shape = sides_[0].shape;
  runs.assign(shape.run_count, Run{});
  for (uint64_t number = 0; number < runs.size(); ++number) {
    Run run{0, 1};
    uint64_t left = number;
    for (size_t a = index.size(); a-- > 0;) {
      if (is_mapped(a)) {
        const int high = bits() - shape.mapped_low;
        const gf2::Word h = (left & gf2::low_mask(high)) << shape.mapped_low;
        left >>= high;
        run.offset += (coset(index[a]) ^ basis_(h)) * strides_[a];
        run.length <<= shape.mapped_low;
        continue;
      }
      run.offset += index[a] * cut_.tile[a] * strides_[a];
      if (shape.axes[a].runs == 0) {
        run.length *= length[a];
      } else {
        const uint64_t c = left % cut_.tile[a];
        left /= cut_.tile[a];
        run.offset += c * strides_[a];
        if (c >= length[a]) run.length = 0;
      }
    }
    if (run.length > 0) runs[number] = run;
  }
}

}  // namespace xorder::plan
