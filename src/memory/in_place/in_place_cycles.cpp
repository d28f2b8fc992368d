// In place along the cycles of a map that permutes tiles: a tile is read into a buffer before the one that
// belongs in its place is written there, and so on until the cycle closes.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "gf2/byte_tables.hpp"
#include "kernel/linear/line_mover.hpp"
#include "memory/bmmc/bmmc_engine.hpp"
#include "memory/for_tasks.hpp"
#include "memory/in_place/in_place.hpp"

namespace xorder::memory {
namespace {

using gf2::Word;
using kernel::Fetching;
using kernel::Flat;
using kernel::NextLines;

// A random map often has one cycle with most of the tiles, which one thread would follow alone. So cycles are
// cut: the first tiles, *cuts*, are put aside at first, and from each of them a task goes on to the next.
class Cycles : public InPlaceEngine, BmmcTasks {
 public:
  Cycles(Mapped mapped, kernel::TileShape shape, Fetching fetching)
      : BmmcTasks(std::move(mapped), shape),
        fetched_while_writing_(fetching == Fetching::while_writing),
        // Only then streamed. Otherwise target lines were just read, and are in the cache.
        mover_(line_tiles(mapped_, shape), mapped_.element_bytes, fetched_while_writing_, fetching),
        offsets_(fetched_while_writing_ ? kernel::source_offsets(mover_.tiles())
                                        : std::vector<std::uint64_t>()),
        steps_(steps()),
        step_(walk_.indices()(mapped_.map.complement)),
        lg_element_(std::countr_zero(mapped_.element_bytes)) {}

  WorkspaceSize needs() const override {
    return {cuts_of_map() * mapped_.outer_count * mover_.buffer_bytes(), 2 * mover_.buffer_bytes()};
  }

  void perform(std::byte* array, unsigned threads, Workspace& workspace) const override {
    const std::size_t bytes = mapped_.bytes() * mapped_.outer_count;
    const std::uint64_t cuts = cuts_of_map(), all_cuts = cuts * mapped_.outer_count;
    const auto aside = [&](std::uint64_t cut) { return workspace.shared() + cut * mover_.buffer_bytes(); };
    for_tasks(all_cuts, bytes, threads, [&](std::uint64_t cut, std::uint64_t last) {
      for (; cut < last; ++cut) {
        const std::uint64_t tile = walk_.at(cut % cuts).source << lg_element_;
        mover_.read(Flat{map_at(array, cut / cuts)}, tile, tile, aside(cut));
      }
    });
    for_tasks(all_cuts + count_tasks(), bytes, threads, [&](std::uint64_t task, std::uint64_t last) {
      const Workspace::Buffer buffers(workspace);
      std::byte *const one = buffers.data(), *const another = one + mover_.buffer_bytes();
      for (; task < std::min(last, all_cuts); ++task) {
        follow(Tiles(*this, cuts, task % cuts), map_at(array, task / cuts), aside(task), one, true);
      }
      const auto follow_all = [&](const TileWalk::Place& place, std::uint64_t count, const std::byte*,
                                  std::byte* map) {
        follow(Tiles(*this, cuts, place.index, count), map, one, another, false);
      };
      if (task < last) for_each_map(task - all_cuts, last - all_cuts, array, array, follow_all);
      if (fetched_while_writing_) finish_streams();
    });
  }

  std::string describe() const override {
    return fmt::format("in place: map of {} bits, elements of {} bytes; cycles of {} tiles of {} bytes{}",
                       mapped_.map.bits(), mapped_.element_bytes, walk_.tiles(),
                       mapped_.element_bytes << walk_.tile_bits(),
                       fetched_while_writing_ ? ", streamed" : "");
  }

 private:
  // For each basis vector of the tiles' indices, the index where it goes.
  gf2::ByteTables steps() const {
    const gf2::BitMatrix indices = walk_.indices();
    std::vector<Word> columns;
    for (std::uint64_t i = 1; i < walk_.tiles(); i <<= 1)
      columns.push_back(indices(mapped_.map.matrix(walk_.at(i).source)));
    return gf2::ByteTables(columns);
  }
  // The index of the tile to whose place a tile goes.
  std::uint64_t after(std::uint64_t tile) const { return steps_(tile) ^ step_; }

  std::uint64_t cuts_of_map() const {
    constexpr std::uint64_t most_bytes = std::uint64_t{2} << 20, tiles_for_a_cut = 64;
    return std::min(walk_.tiles() / tiles_for_a_cut,
                    most_bytes / mover_.buffer_bytes() / mapped_.outer_count);
  }

  // The tiles of all cycles that begin in a stretch of tiles, cycle after cycle; or those from one cut to the
  // next. A cycle without cuts begins at its tile with the smallest index. To find out, each tile follows its
  // cycle until it meets a smaller one; in long cycles most soon do.
  class Tiles {
   public:
    Tiles(const Cycles& all, std::uint64_t cuts, std::uint64_t first, std::uint64_t count)
        : all_(all), cuts_(cuts), candidate_(first), end_(first + count) {}
    Tiles(const Cycles& all, std::uint64_t cuts, std::uint64_t cut)
        : all_(all), cuts_(cuts), at_(cut), begin_(cut), state_(State::at_cut) {}

    struct Tile {
      std::uint64_t index;
      bool begins;
    };
    std::optional<Tile> next() {
      if (state_ == State::at_cut) {
        state_ = State::in_cycle;
        return Tile{at_, true};
      }
      if (state_ == State::in_cycle) {
        at_ = all_.after(at_);
        if (at_ != begin_ && at_ >= cuts_) return Tile{at_, false};
        state_ = State::between;
      }
      while (candidate_ != end_) {
        const std::uint64_t tile = candidate_++;
        if (!begins(tile)) continue;
        at_ = begin_ = tile;
        state_ = State::in_cycle;
        return Tile{tile, true};
      }
      return {};
    }

   private:
    enum class State { between, at_cut, in_cycle };

    bool begins(std::uint64_t tile) const {
      if (tile < cuts_) return false;
      std::uint64_t at = all_.after(tile);
      while (at > tile) at = all_.after(at);
      return at == tile;
    }

    const Cycles& all_;
    std::uint64_t cuts_;
    std::uint64_t candidate_ = 0, end_ = 0;
    std::uint64_t at_ = 0, begin_ = 0;
    State state_ = State::between;
  };

  std::byte* map_at(std::byte* array, std::uint64_t outer) const { return array + outer * mapped_.bytes(); }

  // The next tiles of a task, so that they can be prefetched.
  class Queue {
   public:
    Queue(const Cycles& all, Tiles tiles) : all_(all), tiles_(tiles) {
      for (Entry& entry : entries_) entry = pulled();
    }
    struct Entry {
      bool is_none = true, begins = false;
      Word source = 0;
    };
    static constexpr std::size_t most = 2;
    /// The tile `later` tiles after the present one.
    const Entry& operator[](std::size_t later) const { return entries_[(first_ + later) % (most + 1)]; }
    void pop() {
      entries_[first_] = pulled();
      first_ = (first_ + 1) % (most + 1);
    }

   private:
    Entry pulled() {
      const auto tile = tiles_.next();
      return tile ? Entry{false, tile->begins, all_.walk_.at(tile->index).source} : Entry{};
    }
    const Cycles& all_;
    Tiles tiles_;
    std::size_t first_ = 0;
    Entry entries_[most + 1];
  };

  // Moves each tile to its follower's place, after that was read. `first_is_read`: the first tile is in
  // `read`.
  void follow(Tiles tiles, std::byte* map, std::byte* read, std::byte* held, bool first_is_read) const {
    // Runs are short: the one after the next is on its way already.
    const std::size_t distance = mover_.in_runs() ? Queue::most : 1;
    Word holds = 0;
    Queue queue(*this, tiles);
    // queue[1] .. queue[ready] were prefetched while tiles were written. When the last tile of a cycle was
    // read, two are written; when the first one was read, none.
    std::size_t ready = 0;
    const auto write = [&] {
      const Flat to{map};
      const std::uint64_t place = mapped_.map(holds) << lg_element_;
      const bool fetches = fetched_while_writing_ && ready < Queue::most && !queue[ready + 1].is_none;
      if (!fetches) return mover_.write(to, place, held);
      ++ready;
      mover_.write(to, place, held, NextLines(offsets_, to, queue[ready].source << lg_element_));
    };
    for (; !queue[0].is_none; queue.pop(), ready -= ready == 0 ? 0 : 1) {
      const Queue::Entry &tile = queue[0], &next = queue[1];
      const Queue::Entry& fetched = queue[distance].is_none ? tile : queue[distance];
      if (!std::exchange(first_is_read, false))
        mover_.read(Flat{map}, tile.source << lg_element_, fetched.source << lg_element_, read);
      if (!tile.begins) write();
      std::swap(read, held);
      holds = tile.source;
      if (next.is_none || next.begins) {
        write();
        std::swap(read, held);  // it is free again, and in the cache
      }
    }
  }

  bool fetched_while_writing_;
  kernel::LineMover mover_;
  std::vector<std::uint64_t> offsets_;
  gf2::ByteTables steps_;
  std::uint64_t step_;
  int lg_element_;
};

}  // namespace

std::unique_ptr<InPlaceEngine> make_cycles_engine(Mapped mapped, int run_bits, Fetching fetching) {
  return std::make_unique<Cycles>(std::move(mapped), kernel::TileShape{run_bits, run_bits}, fetching);
}

}  // namespace xorder::memory
