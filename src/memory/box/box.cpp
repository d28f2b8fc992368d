// Which engine a box gets. Records follow from the size of an element. Between the others, estimates of the
// cycles for each element decide: one for the engines that transpose matrices is here, and each other engine
// has its own, which is asked only whether it takes less. They are fitted together, so whoever changes one
// must measure them all.
#include "memory/box/box.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "kernel/vectors/parcel.hpp"
#include "memory/box/box_engines.hpp"
#include "memory/cache_sizes.hpp"
#include "memory/micro.hpp"

namespace xorder::memory {
namespace {

// Rows of fewer bytes are narrow: tiles have only a part of a line of each.
constexpr std::uint64_t narrow_row = 24;

// Cycles that moving tiles takes.
struct Costs {
  double tile;         // if it is contiguous in the target, or in the cache
  double run;          // otherwise
  double row;          // of a tile
  double distant_row;  // if rows do not follow each other
  double one_by_one;   // for an element
  double split;        // for a byte of rows that are split
  double narrow;       // factor for narrow rows
  double byte;         // that comes from memory and goes there
};
constexpr Costs in_cache{60, 0, 2, 3, 1.5, 0.06, 1.2, 0}, in_memory{30, 30, 4, 12, 2, 0.12, 1, 0.1};

// One of the engines that transpose matrices: direct, short runs or runs.
class Matrices {
 public:
  Matrices(const TargetAxes& target, std::uint64_t bytes, bool streamed, bool plain)
      : box_(target), bytes_(bytes), streamed_(streamed) {
    const std::uint64_t w = target.element_bytes;
    direct_ = fits_direct(box_, bytes);
    short_runs_ = box_.run_length * w < short_run && !box_.columns.front().mapped;
    if (!plain && short_runs_ && !box_.runs_adjacent()) {
      short_runs_ = false;
      streamed_ = streamed && box_.run_length * w >= kernel::streamed_bytes;
    }
    constexpr std::uint64_t short_row = 256;
    if (!short_runs_ && box_.rows_adjacent() && box_.row_bytes() < short_row &&
        box_.run.front().extent * w >= short_run) {
      box_.shorten_run(1);  // the rows that are left follow each other
    } else if (!short_runs_ || box_.pays_to_lengthen(box_.run_length * w)) {
      Box longer = box_;
      longer.lengthen_rows();
      // Direct tiles lie along one axis, and longer rows are better than narrow ones. (1,200 random arrays of
      // 0.1 to 2.5 MB took 2 % longer than with the best choice for each.)
      direct_ = direct_ && (box_.row_bytes() >= narrow_row || longer.columns.size() == 1);
      if (!direct_) {
        box_ = std::move(longer);
        short_runs_ = short_runs_ && box_.columns.size() == 1;
      }
    }
  }

  double cycles() const;

  std::unique_ptr<Engine> engine() && {
    if (direct_) return make_direct(std::move(box_));
    if (short_runs_) return make_short_runs(std::move(box_), streamed_);
    return make_runs(std::move(box_), streamed_, bytes_);
  }

 private:
  double block_cycles() const;

  Box box_;
  std::uint64_t bytes_;
  bool streamed_, direct_, short_runs_;
};

// An estimate for an element of a block, which is transposed in registers.
double Matrices::block_cycles() const {
  const auto w = static_cast<double>(box_.element_bytes);
  if (!std::has_single_bit(box_.element_bytes)) return 0.15 * w;
  return direct_ ? 0.1 + 0.065 * w : 0.15 + 0.05 * w;
}

// Estimates the cycles for each element. Where rows or runs are shorter than a block, elements are copied one
// by one, or rows are first put side by side.
//
// This estimate and those of parcels and tables were fitted together to 1,400 random arrays of 2 to 5 axes,
// many of them short, with elements of 1 to 16 bytes. They choose almost as well as measuring does.
double Matrices::cycles() const {
  const Costs& costs = direct_ ? in_cache : in_memory;
  const std::uint64_t bytes = box_.element_bytes;
  const auto w = static_cast<double>(bytes), rows = static_cast<double>(box_.run_length),
             columns = static_cast<double>(box_.column_count);
  if (direct_ && batch_for(box_) != nullptr) return 0.1 + 0.055 * w;
  const double for_tile = direct_ || short_runs_ ? costs.tile / (rows * columns) : costs.run / rows;
  if ((direct_ || !short_runs_) && box_.all_rows_adjacent() &&
      split_function(bytes, box_.column_count) != nullptr) {
    const bool narrow = std::bit_ceil(box_.column_count) * bytes <= 16;
    const bool few = narrow ? rows < line_bytes / w + 16 : rows * w < 16;  // which take a detour
    return 0.06 + costs.split * w + for_tile * (few ? 4 : 1);
  }
  double cycles = costs.one_by_one, row = box_.rows_adjacent() ? costs.row : costs.distant_row;
  // (Nested tiles gain where rows are short, and lose where they are long.)
  constexpr std::uint64_t short_row = 512;
  if (!direct_ && copied_one_by_one(bytes) && box_.rows_adjacent() && box_.row_bytes() < short_row)
    cycles = 0.28 * w;
  // Rows are listed for each tile, or only once if there are few.
  if (direct_ ? box_.run_length > 256 : !short_runs_ && !box_.run.empty())
    row += 16 / static_cast<double>(box_.run.front().extent);
  const double block = std::has_single_bit(bytes) ? 16 : 64;
  if (!copied_one_by_one(bytes) && columns * w >= 16 &&
      rows * static_cast<double>(std::bit_ceil(bytes)) >= block) {
    cycles = block_cycles();
  } else if (!copied_one_by_one(bytes) && !std::has_single_bit(bytes)) {
    cycles = 0.4 + 0.4 * w;
  } else if (std::has_single_bit(bytes) && w < 16) {
    if (columns * w < 16) {  // rows are put side by side first
      cycles = std::min(cycles, 0.15 * w + 2 / columns);
      row = costs.row;
    } else if (short_runs_) {
      cycles = std::min(cycles, 0.15 * w + 40 / (rows * columns));
    }
  }
  cycles += row / columns + for_tile;
  return (box_.row_bytes() < narrow_row ? costs.narrow * cycles : cycles) + costs.byte * w;
}

// Whether rows and runs lie along different axes, with so many bytes along each.
bool has_matrices(const TargetAxes& target, std::uint64_t least) {
  const std::uint64_t w = target.element_bytes;
  const StridedAxis& run = target.axes.front();
  const StridedAxis& row = *std::ranges::find(target.axes, w, &StridedAxis::stride);
  return target.in_target.front() == w && &row != &run && row.extent > 1 &&
         std::min(row.extent, run.extent) * w >= least;
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
  // What maps take that are performed line by line. Where a processor looks up only 16 bytes at once, these
  // take longer, and so do parcels.
  const double by_line = kernel::Parcel::vectors(target.element_bytes).loaded < line_bytes ? 0.4 : 0.15;
  double cycles = by_line * static_cast<double>(target.element_bytes);
  const auto parcels = parcels_for(target, cycles);
  return parcels ? parcels() : nullptr;
}

std::unique_ptr<Engine> make_engine_in_cache(const TargetAxes& target, std::uint64_t bytes, bool streamed,
                                             double& cycles) {
  Matrices matrices(target, bytes, streamed, true);
  cycles = matrices.cycles();
  const auto parcels = parcels_for(target, cycles);
  if (auto table = make_table(target, cycles)) return table;
  return parcels ? parcels() : std::move(matrices).engine();
}

std::unique_ptr<Engine> make_box_engine(const Reordering& what, bool streamed) {
  return make_box_engine(TargetAxes(what), what.bytes(), streamed);
}

std::unique_ptr<Engine> make_box_engine(TargetAxes target, std::uint64_t bytes, bool streamed) {
  const std::uint64_t w = target.element_bytes;
  const bool in_the_cache = !streamed || written_directly(bytes);
  constexpr std::uint64_t long_record = 512;
  if (w >= 4096 || (w >= long_record && w % line_bytes == 0))
    return make_records(std::move(target), !in_the_cache);
  const bool plain = target.is_plain();
  if (!has_matrices(target, plain ? 0 : 16)) {
    // Elements that follow each other in the target are put side by side before they are written.
    const bool alone = w >= kernel::streamed_bytes && target.in_target.front() != w;
    return alone ? make_records(std::move(target), !in_the_cache) : make_lines(target, !in_the_cache);
  }
  double cycles = 0;
  if (plain && in_the_cache) return make_engine_in_cache(target, bytes, streamed, cycles);
  Matrices matrices(target, bytes, streamed, plain);
  if (!plain) return std::move(matrices).engine();
  auto nested = make_nested(target, matrices.cycles());
  return nested ? std::move(nested) : std::move(matrices).engine();
}

}  // namespace xorder::memory
