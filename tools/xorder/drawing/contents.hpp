// What each node's slots hold before the first step and after each one, and the strip of pictures that shows
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "drawing/canvas.hpp"
#include "schedule/shown.hpp"

namespace xorder::cli {

/// after[i][node · slots + slot] is what lies there after i steps: the number node · slots + slot of the
/// place where it was at first, plus nodes · slots for each update that it has been through; or `nothing`.
struct Contents {
  static constexpr std::uint64_t nothing = ~std::uint64_t{0};
  std::uint64_t nodes = 0, slots = 0;
  std::vector<std::vector<std::uint64_t>> after;

  std::uint64_t places() const { return nodes * slots; }
  schedule::Place origin(std::uint64_t content) const {
    return {content % places() / slots, content % slots};
  }
};

/// Without a task all slots hold something, and what is sent also stays where it was, as the elements of a
/// schedule that computes do. Throws InputError if there is too much of it.
Contents contents_of(const schedule::Schedule& schedule, bool has_task);

/// `count` of the numbers from 0 on, equally wide in binary.
std::string binary(std::uint64_t number, std::uint64_t count);

/// Where the pictures of a strip are, in lines one below the other.
class Strip {
 public:
  /// Pictures of one size with room beside and above each. Throws InputError for more than can be seen.
  Strip(std::size_t count, double width, double height, double left, double above);
  drawing::Spot at(std::size_t picture) const;
  bool begins_line(std::size_t picture) const { return picture % across_ == 0; }
  /// Of the drawing, with a title and the line below it.
  double width(const std::string& title, const std::string& note) const;
  double height() const;

 private:
  std::size_t count_, across_;
  double width_, height_, left_, above_;
};

/// The pictures, each below its caption, with labels in the cells if they fit. `note` says what they show.
std::string strip_of(const ShownSchedule& shown, const Contents& contents, const std::string& note,
                     const std::function<std::string(std::size_t picture)>& caption,
                     const std::function<std::string(std::uint64_t content)>& label);

}  // namespace xorder::cli
