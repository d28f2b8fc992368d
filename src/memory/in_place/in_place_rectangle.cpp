// In place, a matrix of any shape, by two steps over the array and little memory beside it.
//
// Let a matrix have m columns and L ≥ m rows, L = P h + r. Its rows are P panels of h rows, and r more.
//
//     1. Each panel is transposed through a buffer. It then consists of m slots of h elements, and all
//        panels of P × m slots.
//     2. These slots change places, as a transposition of their matrix does: m × P slots. Each row of the
//        result now has its first P h elements.
//
// The r rows at the end are put aside first, and fill the ends of the result's rows at last. To leave room
// for these, the first step moves slots up on its way, by less than a panel.
//
//     a b c
//     e f g
//     i j k   to   ae bf . cg im . jn ko .   to   ae im . bf jn . cg ko .   to   aeimq bfjnr cgkos
//     m n o
//     q r s        h = 2, P = 2, r = 1: two panels of three slots, with room for q, r and s
//
// A matrix with more columns than rows takes the same way back, from its end. (Catanzaro, Keller and Garland,
// PPoPP 2014, transpose in place by rotating columns, then shuffling rows, then columns: three steps, of
// which two move single elements or strips of a few.)
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

#include "kernel/vectors/lines.hpp"
#include "memory/cache_sizes.hpp"
#include "memory/for_tasks.hpp"
#include "memory/in_place/in_place.hpp"
#include "memory/in_place/part.hpp"
#include "memory/in_place/slot_cycles.hpp"
#include "rounding.hpp"

namespace xorder::memory {
namespace {

// Matrices that follow each other.
struct Rectangle {
  std::uint64_t outer, rows, columns, element_bytes;

  std::uint64_t bytes() const { return rows * columns * element_bytes; }  // of one
};

// Exchanges the slots of a matrix. Where they begin is up to `At`, a function of their number.
class Slots {
 public:
  Slots(std::uint64_t rows, std::uint64_t columns, std::uint64_t slot_bytes)
      : cycles_(rows, columns), slot_bytes_(slot_bytes) {}

  WorkspaceSize needs() const {
    return {cycles_.arcs().size() * std::min(slot_bytes_, block), std::min(slot_bytes_, block)};
  }

  template <class At>
  void exchange(const At& at, std::size_t bytes, unsigned threads, Workspace& workspace,
                std::byte* aside) const {
    const auto& arcs = cycles_.arcs();
    for (std::uint64_t begin = 0; begin < slot_bytes_; begin += block) {
      const std::size_t length = std::min(block, slot_bytes_ - begin);
      const auto place = [&](std::uint64_t slot) { return at(slot) + begin; };
      const auto kept = [&](std::uint64_t arc) { return aside + arc * length; };
      for_tasks(arcs.size(), bytes, threads, [&](std::uint64_t arc, std::uint64_t last) {
        for (; arc < last; ++arc) std::memcpy(kept(arc), place(arcs[arc].first), length);
      });
      for_tasks(arcs.size() + cycles_.short_stretches(), bytes, threads,
                [&](std::uint64_t task, std::uint64_t last) {
                  for (; task < std::min<std::uint64_t>(last, arcs.size()); ++task) {
                    const std::uint64_t next = arcs[task].next;
                    follow(arcs[task].first, arcs[next].first, kept(next), place, length);
                  }
                  if (task == last) return;
                  const Workspace::Buffer buffer(workspace);
                  for (; task < last; ++task) {
                    cycles_.for_short(task - arcs.size(), [&](std::uint64_t first) {
                      std::memcpy(buffer.data(), place(first), length);
                      follow(first, first, buffer.data(), place, length);
                    });
                  }
                });
    }
  }

 private:
  static constexpr std::uint64_t block = 64 * 1024;  // of a slot, at a time

  // Fills the slots from `slot` to the one whose source is `end`; the content of that is `last`.
  template <class Place>
  void follow(std::uint64_t slot, std::uint64_t end, const std::byte* last, const Place& place,
              std::size_t length) const {
    constexpr std::size_t ahead = 8;  // slots on their way, a power of two
    std::uint64_t next[ahead];
    std::uint64_t far = slot;
    const auto fetch = [&](std::size_t i) {
      far = cycles_.source_of(far);
      next[i % ahead] = far;
      if (length > 1024) return;  // the processor sees what comes
      const std::byte* const begin = place(far);
      for (std::size_t offset = 0; offset < length; offset += line_bytes) __builtin_prefetch(begin + offset);
      __builtin_prefetch(begin + length - 1);
    };
    for (std::size_t i = 0; i < ahead; ++i) fetch(i);
    std::byte* to = place(slot);
    for (std::size_t i = 0;; ++i) {
      const std::uint64_t from = next[i % ahead];
      if (from == end) break;
      std::byte* const source = place(from);
      std::memcpy(to, source, length);
      to = source;
      fetch(i);
    }
    std::memcpy(to, last, length);
  }

  SlotCycles cycles_;
  std::uint64_t slot_bytes_;
};

// How a matrix is divided: `shorter` = m, `longer` = L, slots of `height` = h elements.
struct Division {
  Division(const Rectangle& all, std::uint64_t slot_elements)
      : shorter(std::min(all.rows, all.columns)),
        longer(std::max(all.rows, all.columns)),
        height(slot_elements),
        panels(longer / height),
        rest(longer % height) {}

  std::uint64_t shorter, longer, height, panels, rest;
};

class Rectangles : public InPlaceEngine {
 public:
  Rectangles(const Rectangle& all, std::uint64_t slot_elements)
      : all_(all),
        in_(all, slot_elements),
        slot_bytes_(in_.height * all.element_bytes),
        panel_bytes_(slot_bytes_ * in_.shorter),
        wide_(all.rows < all.columns),
        by_panels_(in_.panels),
        slots_(wide_ ? in_.shorter : in_.panels, wide_ ? in_.panels : in_.shorter, slot_bytes_) {
    if (in_.height != 1) panel_.emplace(panel_reordering());
    // If there is a rest, it and the panels aside take at most 1/64.
    const std::uint64_t most = all.bytes() / 64 / panel_bytes_;
    stretches_ = in_.rest == 0 ? in_.panels : std::clamp<std::uint64_t>(most, 1, 64);
  }

  WorkspaceSize needs() const override {
    const WorkspaceSize for_slots = slots_.needs();
    const std::uint64_t aside = in_.rest == 0 ? 0 : (stretches_ - 1) * panel_bytes_;
    return {rest_bytes() + std::max(for_slots.shared, aside),
            std::max(for_slots.for_each_thread, panel_ ? panel_bytes_ : 0)};
  }

  void perform(std::byte* array, unsigned threads, Workspace& workspace) const override {
    for (std::uint64_t i = 0; i < all_.outer; ++i, array += all_.bytes()) {
      std::byte *const rest = workspace.shared(), *const aside = rest + rest_bytes();
      const auto slots = [&] {
        slots_.exchange([&](std::uint64_t slot) { return array + offset_of(slot); }, all_.bytes(), threads,
                        workspace, aside);
      };
      if (wide_) {
        move_ends(array, rest, false);
        slots();
        if (panel_) to_rows(array, threads, workspace, aside);
        std::copy_n(rest, rest_bytes(), array + in_.panels * panel_bytes_);  // or nothing, from nowhere
      } else {
        std::copy_n(array + in_.panels * panel_bytes_, rest_bytes(), rest);
        if (panel_) to_slots(array, threads, workspace, aside);
        slots();
        move_ends(array, rest, true);
      }
    }
  }

  std::string describe() const override {
    return fmt::format("in place: {} x {} elements of {} bytes in {} x {} slots of {}{}", all_.rows,
                       all_.columns, all_.element_bytes, wide_ ? in_.shorter : in_.panels,
                       wide_ ? in_.panels : in_.shorter, in_.height,
                       panel_ ? "; panels by " + panel_->engine->describe() : "");
  }

 private:
  Reordering panel_reordering() const {
    // A wide matrix's slots become rows, and rows slots otherwise.
    const std::uint64_t rows = wide_ ? in_.shorter : in_.height, columns = wide_ ? in_.height : in_.shorter;
    return {all_.element_bytes, {rows, columns}, {1, 0}, {}, {}};
  }

  std::uint64_t rest_bytes() const { return in_.rest * in_.shorter * all_.element_bytes; }

  // After each `panels` slots there is a gap for the end of a row.
  std::uint64_t offset_of(std::uint64_t slot) const {
    return slot * slot_bytes_ + by_panels_(slot) * in_.rest * all_.element_bytes;
  }

  // Calls some(slot's place, offset in a panel, bytes) for each run of slots without gaps of a panel.
  template <class Some>
  void for_runs(std::byte* array, std::uint64_t panel, const Some& some) const {
    std::uint64_t slot = panel * in_.shorter;
    const std::uint64_t begin = slot, end = slot + in_.shorter;
    while (slot < end) {
      const std::uint64_t next = in_.rest == 0 ? end : std::min(end, (by_panels_(slot) + 1) * in_.panels);
      some(array + offset_of(slot), (slot - begin) * slot_bytes_, (next - slot) * slot_bytes_);
      slot = next;
    }
  }

  // Where the first panel of each stretch but the first is put aside, if there is a rest; null for others.
  std::byte* aside_of(std::uint64_t panel, std::uint64_t stretch, std::byte* aside) const {
    if (in_.rest == 0 || stretch == 0 || panel != begin_of(stretch)) return nullptr;
    return aside + (stretch - 1) * panel_bytes_;
  }
  // Calls some(where that is, where the panel begins) for each of them.
  template <class Some>
  void for_aside(std::byte* array, unsigned threads, std::byte* aside, const Some& some) const {
    if (in_.rest == 0) return;
    for_tasks(stretches_ - 1, all_.bytes(), threads, [&](std::uint64_t i, std::uint64_t last) {
      for (; i < last; ++i) some(aside + i * panel_bytes_, array + begin_of(i + 1) * panel_bytes_);
    });
  }

  // Rows become slots, stretch after stretch of panels, each from its end: a panel moves up into what the
  // next one has left. What the last one moves into is aside.
  void to_slots(std::byte* array, unsigned threads, Workspace& workspace, std::byte* aside) const {
    for_aside(array, threads, aside,
              [&](std::byte* kept, const std::byte* panel) { std::memcpy(kept, panel, panel_bytes_); });
    for_tasks(stretches_, all_.bytes(), threads, [&](std::uint64_t s, std::uint64_t last) {
      const Workspace::Buffer buffer(workspace);
      for (; s < last; ++s) {
        for (std::uint64_t panel = begin_of(s + 1); panel-- > begin_of(s);) {
          const std::byte* const kept = aside_of(panel, s, aside);
          panel_->permute_anyway(kept != nullptr ? kept : array + panel * panel_bytes_, buffer.data(), 1);
          for_runs(array, panel, [&](std::byte* place, std::uint64_t offset, std::uint64_t bytes) {
            std::memcpy(place, buffer.data() + offset, bytes);
          });
        }
      }
    });
  }

  // The way back: slots become rows, each stretch from its beginning. Its first panel stays aside until the
  // stretch before has read its last, of which a part lies there.
  void to_rows(std::byte* array, unsigned threads, Workspace& workspace, std::byte* aside) const {
    for_tasks(stretches_, all_.bytes(), threads, [&](std::uint64_t s, std::uint64_t last) {
      const Workspace::Buffer buffer(workspace);
      for (; s < last; ++s) {
        for (std::uint64_t panel = begin_of(s); panel < begin_of(s + 1); ++panel) {
          for_runs(array, panel, [&](const std::byte* place, std::uint64_t offset, std::uint64_t bytes) {
            std::memcpy(buffer.data() + offset, place, bytes);
          });
          std::byte* const kept = aside_of(panel, s, aside);
          panel_->permute_anyway(buffer.data(), kept != nullptr ? kept : array + panel * panel_bytes_, 1);
        }
      }
    });
    for_aside(array, threads, aside,
              [&](const std::byte* kept, std::byte* panel) { std::memcpy(panel, kept, panel_bytes_); });
  }

  std::uint64_t begin_of(std::uint64_t stretch) const { return stretch * in_.panels / stretches_; }

  // Between the ends of the long rows and the rows that were put aside, which are columns of those ends.
  void move_ends(std::byte* array, std::byte* rest, bool to_array) const {
    const std::uint64_t w = all_.element_bytes, row_bytes = in_.longer * w;
    for (std::uint64_t row = 0; row < in_.shorter; ++row) {
      std::byte* const end = array + (row + 1) * row_bytes - in_.rest * w;
      for (std::uint64_t i = 0; i < in_.rest; ++i) {
        std::byte* const other = rest + (i * in_.shorter + row) * w;
        if (to_array)
          std::memcpy(end + i * w, other, w);
        else
          std::memcpy(other, end + i * w, w);
      }
    }
  }

  Rectangle all_;
  Division in_;
  std::uint64_t slot_bytes_, panel_bytes_;
  bool wide_;  // more columns than rows: the way back
  Divider by_panels_;
  Slots slots_;
  std::optional<Part> panel_;  // none for long elements, which are slots
  std::uint64_t stretches_ = 1;
};

// The elements of a slot. Panels that stay in the second-level cache beside their buffer suffice if slots
// have 1 KiB then; that is worth panels of up to 4 MiB, but a panel is at most 1/128 of the matrix. A slot
// has a line at least, and whole lines where that takes few elements. 0 if the matrix is too small for that.
std::uint64_t slot_elements(const Rectangle& all) {
  constexpr std::uint64_t long_element = 512, long_slot = 1024, largest_panel = std::uint64_t{4} << 20;
  const std::uint64_t w = all.element_bytes;
  if (w >= long_element) return 1;
  const std::uint64_t shorter = std::min(all.rows, all.columns), longer = std::max(all.rows, all.columns);
  const std::uint64_t panel =
      std::min({all.bytes() / 128, largest_panel,
                std::max<std::uint64_t>(cache_sizes().second / 2, long_slot * shorter)});
  const std::uint64_t lines = line_bytes / std::gcd(line_bytes, w);  // elements that fill lines
  const std::uint64_t unit = lines * w <= 3 * line_bytes ? lines : ceil_div(std::uint64_t{line_bytes}, w);
  const std::uint64_t height = std::max<std::uint64_t>(panel / (shorter * w) / unit, 1) * unit;
  return longer / height < 16 ? 0 : height;
}

std::unique_ptr<InPlaceEngine> make_rectangles(const Rectangle& all) {
  const std::uint64_t height = slot_elements(all);
  if (height == 0) return nullptr;
  return std::make_unique<Rectangles>(all, height);
}

}  // namespace

std::vector<std::unique_ptr<InPlaceEngine>> make_rectangle_engines(const Reordering& what) {
  if (what.mapped) return {};
  // Axes that stay, the slowest and the fastest.
  std::uint64_t outer = 1, inner = what.element_bytes;
  std::size_t first = 0, last = what.order.size();
  while (first < last && what.order[first] == static_cast<int>(first)) outer *= what.extents[first++];
  while (last > first && what.order[last - 1] == static_cast<int>(last - 1)) inner *= what.extents[--last];
  std::vector<Rectangle> steps;
  const auto extent = [&](std::size_t i) { return what.extents[first + i]; };
  if (last - first == 2) {
    steps = {{outer, extent(0), extent(1), inner}};
  } else if (last - first == 3 && what.order[first] == static_cast<int>(first + 2) &&
             what.order[first + 1] == static_cast<int>(first + 1)) {
    // The reversal of three: first a, (b c) to (b c), a; then, in elements of a, b, c to c, b.
    steps = {{outer, extent(0), extent(1) * extent(2), inner},
             {outer, extent(1), extent(2), inner * extent(0)}};
  }
  std::vector<std::unique_ptr<InPlaceEngine>> engines;
  for (const Rectangle& step : steps) {
    auto engine = make_rectangles(step);
    if (!engine) return {};
    engines.push_back(std::move(engine));
  }
  return engines;
}

}  // namespace xorder::memory
