// Drawings of maps and schedules, each an SVG document of its own: what `xorder show --svg` and
// `xorder schedule --svg` make.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xorder/gf2/affine_map.hpp"
#include "xorder/schedule/schedule.hpp"

namespace xorder::drawing {

/// The matrix and the complement of a map, and beside them rank γ for each block size, in front of its bound
/// min(b, n − b). Outlines γ for blocks of 2^lg_block elements, from 0 to n, if that is given. The title need
/// not be UTF-8. Cost: O(n^4) word operations for maps of n bits.
std::string draw(const gf2::AffineMap& map, std::string_view title, std::optional<int> lg_block = {});

struct Colour {
  std::string fill;  ///< "#rrggbb"
  std::string meaning;
};

/// How a message is drawn: the number of its colour, and the label inside the mark, which a mesh does not
/// show.
struct Mark {
  std::size_t colour = 0;
  std::string label;
};

/// How a schedule is drawn.
struct SchedulePicture {
  std::string title;
  std::string summary;  ///< one line that says what it does
  std::string length;   ///< "5 steps, at least 4"
  std::vector<Colour> colours;
  std::string label_meaning;           ///< what the labels in the marks are
  std::uint64_t steps_in_a_group = 0;  ///< how many are drawn together; 0: all
  std::function<Mark(std::uint64_t step, const schedule::Message&)> mark;
};

/// For any schedule: messages to lower and to higher nodes have different colours, and labels are the slots
/// that are sent. `title` is what the schedule is called. Without a task its bound is not shown. Makes all
/// messages once, to count them.
SchedulePicture picture_of(const schedule::Schedule& schedule, std::string title, bool has_task = true);

/// Steps down, the links of all nodes across, a mark for each link that a message crosses, and the part of
/// all links that each step uses. For a mesh or a torus, the paths of each step. Throws InputError if there
/// are more than 512 steps or links in a row, or more than 40 × 40 nodes on a mesh. Makes all messages.
std::string draw(const schedule::Schedule& schedule, const SchedulePicture& picture);

}  // namespace xorder::drawing
