#include "memory/box.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "memory/box_engines.hpp"
#include "memory/cache_sizes.hpp"
#include "memory/micro.hpp"

namespace xorder::memory {
namespace {

// Rows of fewer bytes are narrow: tiles have only a part of a line of each.
constexpr std::uint64_t narrow_row = 24;

// Cycles that moving tiles takes.
struct Costs {
  double tile;         // if it is a piece of the target, or in the cache
  double run;          // otherwise
  double row;          // of a tile
  double distant_row;  // if rows do not follow each other
  double one_by_one;   // for an element
  double split;        // for a byte of rows that are split
  double narrow;       // factor for narrow rows
};
constexpr Costs in_cache{60, 0, 2, 6, 1.5, 0.06, 1.5}, in_memory{30, 30, 8, 12, 2, 0.12, 1};

// Estimates the cycles for each element if matrices are transposed. A block of 16 bytes by 16 bytes is
// transposed in registers. Where rows or runs are shorter than that, elements are copied one by one, or rows
// are first put side by side.
//
// When this estimate and those of tables and parcels were fitted, random arrays of 2 to 5 axes, many of them
// short, and elements of 1 to 16 bytes took 2 % longer on average than with the better choice for each, in
// the cache 1 %; without the table 12 %, those in the cache 28 %. (AMD Zen 4, one thread; 1,400 arrays of 24
// and 48 MiB, 2,600 of 8 KB to 1 MB.)
double cycles_by_matrices(const Box& box, bool direct, bool in_pieces) {
  const Costs& costs = direct ? in_cache : in_memory;
  const std::uint64_t bytes = box.element_bytes;
  const auto w = static_cast<double>(bytes), rows = static_cast<double>(box.run_length),
             columns = static_cast<double>(box.column_count);
  const double for_tile = direct || in_pieces ? costs.tile / (rows * columns) : costs.run / rows;
  if ((direct || !in_pieces) && box.all_rows_adjacent() &&
      split_function(bytes, box.column_count) != nullptr) {
    const bool narrow = std::bit_ceil(box.column_count) * bytes <= 16;
    const bool few = narrow ? rows < line_bytes / w + 16 : rows * w < 16;  // which take a detour
    return 0.06 + costs.split * w + for_tile * (few ? 4 : 1);
  }
  double cycles = costs.one_by_one, row = box.rows_adjacent() ? costs.row : costs.distant_row;
  if (!copied_one_by_one(bytes) && columns * w >= 16 &&
      rows * static_cast<double>(std::bit_ceil(bytes)) >= 16) {
    cycles = 0.1 * w;
  } else if (std::has_single_bit(bytes) && w < 16) {
    if (columns * w < 16) {  // rows are put side by side first
      cycles = std::min(cycles, 0.15 * w + 2 / columns);
      row = costs.row;
    } else if (in_pieces) {
      cycles = std::min(cycles, 0.15 * w + 40 / (rows * columns));
    }
  }
  cycles += row / columns + for_tile;
  return box.row_bytes() < narrow_row ? costs.narrow * cycles : cycles;
}

// The same reordering with an axis of two coordinates for each bit of the map, which must permute bits.
Reordering with_axes_of_bits(const Reordering& what) {
  const int axis = *what.mapped, bits = what.map.bits();
  Reordering r{
      .element_bytes = what.element_bytes, .extents = what.extents, .order = {}, .mapped = {}, .map = {}};
  r.extents.pop_back();
  r.extents.insert(r.extents.end(), static_cast<std::size_t>(bits), 2);
  std::vector<int> source_axis(static_cast<std::size_t>(bits));  // of each bit of the target
  for (int bit = 0; bit < bits; ++bit) {
    const std::uint64_t image = what.map(std::uint64_t{1} << bit);
    source_axis[static_cast<std::size_t>(std::countr_zero(image))] = axis + bits - 1 - bit;
  }
  for (const int a : what.order) {
    if (a != axis) r.order.push_back(a);
  }
  r.order.insert(r.order.end(), source_axis.rbegin(), source_axis.rend());
  return r;
}

}  // namespace

std::unique_ptr<Engine> make_short_map_engine(const Reordering& what) {
  constexpr std::uint64_t longest_map = 512;  // longer ones were not measured
  if (!written_directly(what.bytes()) || what.extents.back() * what.element_bytes > longest_map ||
      !what.map.matrix.is_bit_permutation() || what.map.complement != 0)
    return nullptr;
  const TargetAxes target(canonical(with_axes_of_bits(what)));
  // What maps take that are performed line by line. (N bit reversals of 8 elements on AMD Zen 4, 64 KiB: 14
  // to 20 GB/s, as parcels 29 to 47.)
  double cycles = 0.15 * static_cast<double>(target.element_bytes);
  const auto parcels = parcels_for(target, false, cycles);
  return parcels ? parcels() : nullptr;
}

std::unique_ptr<Engine> make_box_engine(const Reordering& what, bool streamed) {
  TargetAxes target(what);
  const std::uint64_t w = target.element_bytes;
  const bool past_cache = streamed && !written_directly(what.bytes());  // without a buffer
  constexpr std::uint64_t long_record = 512;
  if (w >= 4096 || (w >= long_record && w % line_bytes == 0))
    return make_records(std::move(target), past_cache);
  Box box(target);
  bool direct = fits_direct(box, what.bytes());
  bool in_pieces = box.run_length * w < short_run && !box.columns.front().mapped;
  constexpr std::uint64_t short_row = 256;
  if (!in_pieces && box.rows_adjacent() && box.row_bytes() < short_row &&
      box.run.front().extent * w >= short_run) {
    box.shorten_run(1);  // the rows that are left follow each other
  } else if (!in_pieces || box.pays_to_lengthen(box.run_length * w)) {
    Box longer = box;
    longer.lengthen_rows();
    // Direct tiles lie along one axis, and longer rows are better than narrow ones. (1,200 random arrays of
    // 0.1 to 2.5 MB took 2 % longer than with the best choice for each.)
    direct = direct && (box.row_bytes() >= narrow_row || longer.columns.size() == 1);
    if (!direct) {
      box = std::move(longer);
      in_pieces = in_pieces && box.columns.size() == 1;
    }
  }
  double cycles = cycles_by_matrices(box, direct, in_pieces);
  const auto parcels = parcels_for(target, past_cache, cycles);
  if (auto table = make_table(target, past_cache, what.bytes(), cycles)) return table;
  if (parcels) return parcels();
  if (direct) return make_direct(std::move(box));
  if (in_pieces) return make_pieces(std::move(box), streamed);
  return make_runs(std::move(box), streamed, what.bytes());
}

}  // namespace xorder::memory
