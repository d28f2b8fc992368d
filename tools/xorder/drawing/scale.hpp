// Maps values to places on an axis, and chooses ticks.
#pragma once

#include <string>
#include <vector>

namespace xorder::drawing {

/// The unit of an axis, which determines its ticks and their texts.
enum class Unit { number, seconds, bytes, bytes_per_second, ratio };

struct Axis {
  std::string label;  ///< without its unit
  Unit unit = Unit::number;
  bool logarithmic = false;
};

struct Tick {
  double value;
  std::string text;
};

/// A part of an axis, drawn between two places.
class Scale {
 public:
  /// Requires `from` < `to`, and `from` > 0 if logarithmic. Makes about as many ticks as fit, with `room`
  /// units of length for each.
  Scale(const Axis& axis, double from, double to, double first_place, double last_place, double room);

  /// The place of a value; beyond the ends for values beyond them.
  double at(double value) const;
  const std::vector<Tick>& ticks() const { return ticks_; }
  /// The axis's label, with the unit if the ticks' texts leave it out.
  const std::string& label() const { return label_; }

 private:
  void linear_ticks(const Axis& axis, int most);
  void octaves(const Axis& axis, int most);
  void decades(const Axis& axis, int most);
  void add(double value, std::string text) { ticks_.push_back({value, std::move(text)}); }

  double from_, to_, first_place_, last_place_;
  bool logarithmic_;
  std::string label_;
  std::vector<Tick> ticks_;
};

/// A value for people: "1.5 ms", "12 KiB", "3.2 GiB/s", "0.81".
std::string text_of(double value, Unit unit);

}  // namespace xorder::drawing
