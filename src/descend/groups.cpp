#include "descend/groups.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "rounding.hpp"
#include "task/workers.hpp"
#include "xorder/error.hpp"
#include "xorder/permutation/reordering.hpp"

namespace xorder::descend {
namespace {

using std::uint64_t;

const std::byte* record_at(const Pieces& from, uint64_t place, uint64_t record) {
  const uint64_t at = place - from.first, inside = at & ((uint64_t{1} << from.lg_piece) - 1);
  return from.pieces[(at >> from.lg_piece) % from.pieces.size()] + inside * record;
}

/// Copies `count` records from place `first` on.
void copy_out(const Pieces& from, uint64_t first, uint64_t count, uint64_t record, std::byte* to) {
  const uint64_t piece_size = uint64_t{1} << from.lg_piece;
  for (uint64_t done = 0; done < count;) {
    const uint64_t inside = (first + done - from.first) & (piece_size - 1);
    const uint64_t part = std::min(count - done, piece_size - inside);
    std::memcpy(to + done * record, record_at(from, first + done, record), part * record);
    done += part;
  }
}

}  // namespace

struct Groups::View {
  View(const Groups& groups, const Strip& strip)
      : on_strip(groups.what_, strip),
        what(strip.lg_less() == 0 ? groups.what_ : on_strip),
        lg_size(groups.lg_size_ - strip.lg_less()) {}

  OnStrip on_strip;
  Computation& what;
  int lg_size;
};

void Groups::check_stop() const {
  if (stop_.stop_requested()) throw Cancelled();
}

void Groups::halo_patch(View& view, Iterations group, const Pieces& from, const Patch& patch, uint64_t first,
                        std::byte* out) {
  check_stop();
  const uint64_t halo = group.halo_rows(), stride = group.stride();
  const task::BufferPool::Buffer scratch = scratch_.get();
  std::byte* const in = scratch.get();
  std::byte* const other = in + bytes(patch.rows * patch.width);
  if (patch.width == stride) {
    copy_out(from, patch.first, patch.rows * patch.width, record_bytes(), in);
  } else {
    for (uint64_t r = 0; r < patch.rows; ++r)
      copy_out(from, patch.first + r * stride, patch.width, record_bytes(), in + bytes(r * patch.width));
  }
  const std::byte* const result = iterate(view.what, view.lg_size, group, patch, in, other);
  const uint64_t place = patch.first + halo * stride - first;
  if (patch.width == stride) {
    std::memcpy(out + bytes(place), result + bytes(halo * stride), bytes((patch.rows - 2 * halo) * stride));
    return;
  }
  for (uint64_t r = halo; r < patch.rows - halo; ++r) {
    std::memcpy(out + bytes(place + (r - halo) * stride), result + bytes(r * patch.width),
                bytes(patch.width));
  }
}

void Groups::record_by_record(View& view, Iterations group, const Pieces& from, uint64_t first,
                              uint64_t count, std::byte* out) {
  const uint64_t mask = (uint64_t{1} << view.lg_size) - 1, d = group.stride(), record = record_bytes();
  task::each(count, [&](uint64_t i) {
    check_stop();
    const uint64_t place = first + i;
    view.what.step(group.low, place & mask, 1, record_at(from, place, record),
                   record_at(from, place + d, record), record_at(from, place - d, record), out + bytes(i));
  });
}

void Groups::with_halo(const Strip& strip, Iterations group, const Pieces& from, uint64_t first,
                       uint64_t count, std::byte* out) {
  View view(*this, strip);
  if (cache_.record_by_record()) return record_by_record(view, group, from, first, count, out);
  const uint64_t stride = group.stride(), halo = group.halo_rows(), rows = count / stride;
  const plan::Cache::Patch patch = cache_.patch(group, rows, halo);
  const uint64_t across = stride / patch.width, down = ceil_div(rows, patch.rows);
  scratch_.at_least(2 * bytes((patch.rows + 2 * halo) * patch.width));
  task::each(across * down, [&](uint64_t t) {
    const uint64_t row = t / across * patch.rows, column = t % across * patch.width;
    const uint64_t height = std::min(patch.rows, rows - row);
    halo_patch(view, group, from,
               {.first = first + (row - halo) * stride + column,
                .rows = height + 2 * halo,
                .width = patch.width,
                .cyclic = false},
               first, out);
  });
}

// Works in place. Row r of `data` is 2^low records from place r · 2^low on.
void Groups::cyclic(View& view, Iterations group, std::byte* data) {
  const uint64_t rows = group.halo_rows() + 1, stride = group.stride();
  const uint64_t across = cache_.patch(group, rows, 0).width;
  scratch_.at_least(2 * bytes(rows * across));
  task::each(stride / across, [&](uint64_t t) {
    check_stop();
    const Patch patch{.first = t * across, .rows = rows, .width = across, .cyclic = true};
    const task::BufferPool::Buffer scratch = scratch_.get();
    std::byte* const corner = data + bytes(patch.first);
    const uint64_t pitch = bytes(stride), part = bytes(across);
    for (uint64_t r = 0; r < rows; ++r) std::memcpy(scratch.get() + r * part, corner + r * pitch, part);
    const std::byte* const result =
        iterate(view.what, view.lg_size, group, patch, scratch.get(), scratch.get() + rows * part);
    for (uint64_t r = 0; r < rows; ++r) std::memcpy(corner + r * pitch, result + r * part, part);
  });
}

std::byte* Groups::all(const Strip& strip, std::span<const Iterations> groups, std::byte* array,
                       std::byte* other) {
  View view(*this, strip);
  for (const Iterations group : groups) {
    if (group.high == view.lg_size && !cache_.record_by_record()) {
      cyclic(view, group, array);
    } else {
      with_halo(strip, group, {{array}, view.lg_size, 0}, 0, uint64_t{1} << view.lg_size, other);
      std::swap(array, other);
    }
  }
  return array;
}

void Computation::load(uint64_t, std::size_t, std::span<const std::byte* const>, std::byte*) {}
void Computation::store(uint64_t, std::size_t, std::byte*, std::byte*) {}

void compute(Computation& what, std::byte* records, uint64_t count, unsigned threads,
             const plan::SweepSizes& sizes) {
  const int lg_size = exact_lg(count, "the number of records");
  plan::Cache cache{.record_bytes = what.record_bytes()};
  if (sizes.cache_bytes != 0) cache.bytes = sizes.cache_bytes;
  Groups groups(what, lg_size, cache);
  const io::BlockMemory other(count * what.record_bytes());
  const std::uint64_t bytes = count * what.record_bytes();
  const std::byte* result = nullptr;
  const auto compute_all = [&] {
    result = groups.all({}, cache.groups({0, lg_size}, what.direction() == Direction::ascend), records,
                        other.data());
  };
  // Starting threads takes longer than computing smaller arrays, and much longer on a busy machine.
  constexpr std::uint64_t least_for_threads = 256 * 1024;
  if (threads == 1 || (threads == 0 && bytes < least_for_threads))
    task::execute_alone(compute_all);
  else
    task::Workers(threads).execute(compute_all);
  if (result != records) std::memcpy(records, result, bytes);
}

}  // namespace xorder::descend
