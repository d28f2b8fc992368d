#include "plan/tiles/buffers.hpp"

#include <algorithm>

#include "byte_units.hpp"
#include "plan/tiles/source_files.hpp"
#include "rounding.hpp"

namespace xorder::plan {
namespace {

using std::uint64_t;

// Small tiles share a pool for three of them, within these bounds, so that the disk stays busy. Not more,
// since reads would fill it with fresh memory long before the first tiles are written. Files of 1 GiB take as
// long with any pool within these bounds, small files take longest with the largest.
constexpr uint64_t pool_tiles = 3, least_pool = 16 * MiB, most_pool = 64 * MiB;
constexpr uint64_t most_tile_slots = 64;
constexpr uint64_t span_bytes = 64;            // of a span in the pipeline's lists, about
constexpr uint64_t uncounted_lists = 8 * MiB;  // these belong to what Options::memory leaves to the program

// The groups that are being read, and the requests that are being written: a share of a small file, since
// fresh memory takes longer than transfers. Larger shares gain nothing and take more memory.
constexpr uint64_t read_share = 32, written_share = 64;

uint64_t largest_window(uint64_t bytes, uint64_t share) {
  return std::max(4 * largest_request, bytes / share);
}

void add_group_slots(const Reordering& what, const Setting& setting, const Geometry& g, Buffers& b) {
  const uint64_t run = g.source.run_elements * b.element_bytes, alignment = setting.read_alignment;
  b.group_runs = g.source.run_count;
  b.group_pitch = g.source_aligned ? run : round_up(run, alignment) + alignment;
  if (setting.strided) {
    b.run_spans = setting.strided->most_spans(run);
    b.unpacked_bytes = round_up(run, alignment);
    const uint64_t excess = alignment == 1 ? 0 : 2 * alignment;  // of each span
    b.group_pitch =
        round_up(setting.strided->most_bytes_read(run) + b.run_spans * excess, alignment) + b.unpacked_bytes;
  }
  const uint64_t window = std::min({24 * MiB, setting.memory / 8, largest_window(what.bytes(), read_share)});
  b.group_slots =
      std::min(g.groups, std::clamp<uint64_t>(window / b.group_slot_bytes(), 3, most_group_slots));
}

void add_write_slots(const Reordering& what, const Setting& setting, const Geometry& g, Buffers& b) {
  const uint64_t alignment = setting.write_alignment;
  const uint64_t window =
      std::min({16 * MiB, setting.memory / 16, largest_window(what.bytes(), written_share)});
  const auto bytes = [&](const RunShape& shape) { return shape.run_elements * b.element_bytes; };
  // Runs that follow each other are joined where the memory has room for it.
  const uint64_t joined = std::min(bytes(g.written), std::max(bytes(g.target), window / 4));
  const uint64_t request = std::min(joined, largest_request);
  b.write_slot_bytes = round_up(request, alignment) + (g.target_aligned ? 0 : alignment);
  // Not clamp(): the depth may be below 4.
  b.write_slots =
      std::min(ceil_div(what.bytes(), request),
               std::min<uint64_t>(std::max<uint64_t>(window / b.write_slot_bytes, 4), setting.device.depth));
  const uint64_t joints = setting.processes == 1 ? 2 : 4;  // joints of a run that wait at the same time
  b.carry_bytes = g.target_aligned ? 0 : joints * g.written.run_count * alignment;
}

// The pipeline's lists, at most: for each chunk its place among the free ones; for each tile slot its chunks
// and its runs; for each group slot a pointer for each of its tile's chunks, and its runs and where they are.
// Together 1 to 3 % of a tile in chunks of 4 KiB.
struct Lists {
  uint64_t tile_chunks, per_tile, per_group;

  Lists(const Geometry& g, const Buffers& b)
      : tile_chunks(g.target.run_count * b.chunk.per_run),
        per_tile(sizeof(void*) * tile_chunks + sizeof(Run) * g.target.run_count),
        per_group(sizeof(void*) * tile_chunks +
                  (sizeof(Run) + sizeof(void*) + b.run_spans * span_bytes) * b.group_runs) {}
  // Besides the tiles that fill all chunks there are two more slots, and two lists while runs are listed.
  uint64_t fixed(const Buffers& b) const { return 4 * per_tile + b.group_slots * per_group; }
  uint64_t per_chunk() const { return sizeof(void*) + ceil_div(per_tile, tile_chunks); }
};

// The next tile grows as fast as the last one is written, so memory for a whole second tile would gain
// nothing.
bool add_chunks(const Reordering& what, const Setting& setting, const Geometry& g, Buffers& b) {
  b.chunk = chunk_shape(what, g.choice, g.target, ceil_div(setting.chunk_bytes, b.element_bytes));
  const Lists lists(g, b);
  const uint64_t tile_chunks = lists.tile_chunks, fixed = b.windows() + lists.fixed(b);
  const uint64_t with_lists = setting.memory + uncounted_lists;
  if (b.windows() >= setting.memory || fixed >= with_lists) return false;
  const uint64_t most = std::min((setting.memory - b.windows()) / b.chunk_bytes(),
                                 (with_lists - fixed) / (b.chunk_bytes() + lists.per_chunk()));
  // A quarter of a tile lets reads go on while the first writes of the last one are slow.
  const uint64_t least =
      g.tiles == 1 ? tile_chunks : tile_chunks + std::max(tile_chunks / 4, b.chunk.per_run);
  if (least > most) return false;
  const uint64_t pool = std::clamp(pool_tiles * tile_chunks * b.chunk_bytes(), least_pool, most_pool);
  b.chunk_count = std::min({most, std::max(pool / b.chunk_bytes(), least), g.tiles * tile_chunks});
  b.tile_slots = std::min({g.tiles, most_tile_slots, b.chunk_count / tile_chunks + 2});
  const uint64_t all = lists.fixed(b) + b.chunk_count * lists.per_chunk();
  b.lists = all - std::min(all, uncounted_lists);
  return true;
}

}  // namespace

std::optional<Buffers> buffers(const Reordering& what, const Setting& setting, const Geometry& g) {
  Buffers b{.element_bytes = what.element_bytes};
  add_group_slots(what, setting, g, b);
  add_write_slots(what, setting, g, b);
  if (!add_chunks(what, setting, g, b)) return std::nullopt;
  return b;
}

}  // namespace xorder::plan
