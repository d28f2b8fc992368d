#include "drawing/scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "text/size_text.hpp"

namespace xorder::drawing {
namespace {

struct Multiple {
  double value;
  const char* name;
};
constexpr Multiple of_seconds[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}};
constexpr Multiple of_bytes[] = {
    {0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}, {1, "B"}};
constexpr Multiple of_numbers[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}};

// The largest unit of which the value has at least one, or the smallest unit.
template <std::size_t n>
const Multiple& multiple_for(double value, const Multiple (&multiples)[n]) {
  const auto found =
      std::ranges::find_if(multiples, [&](const Multiple& m) { return value >= m.value * 0.9999; });
  return found == std::end(multiples) ? multiples[n - 1] : *found;
}

bool in_bytes(Unit unit) { return unit == Unit::bytes || unit == Unit::bytes_per_second; }

// The unit for a linear axis that ends at this value.
Multiple multiple_of(Unit unit, double end) {
  if (unit == Unit::seconds) return multiple_for(end, of_seconds);
  if (in_bytes(unit)) return multiple_for(end, of_bytes);
  return {1, ""};
}

std::string short_number(double value) {
  const Multiple& m = multiple_for(std::abs(value), of_numbers);
  return fmt::format("{:.4g}{}", value / m.value, m.name);
}

// The smallest of 1, 2, 5, 10, 20 .. that is not below this.
double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double digit : {1.0, 2.0, 5.0}) {
    if (digit * power >= least * 0.9999) return digit * power;
  }
  return 10 * power;
}

}  // namespace

std::string text_of(double value, Unit unit) {
  switch (unit) {
    case Unit::seconds: {
      const Multiple& m = multiple_for(value, of_seconds);
      const double shown = value / m.value;
      return shown < 999.5 ? fmt::format("{:.3g} {}", shown, m.name)
                           : fmt::format("{:.0f} {}", shown, m.name);
    }
    case Unit::bytes:
      return size_text(value);
    case Unit::bytes_per_second:
      return size_text(value) + "/s";
    case Unit::ratio:
      return fmt::format("{:.3g}", value);
    case Unit::number:
      return std::abs(value) < 1e6 ? fmt::format("{:.6g}", value) : short_number(value);
  }
  return {};
}

Scale::Scale(const Axis& axis, double from, double to, double first_place, double last_place, double room)
    : from_(from),
      to_(to),
      first_place_(first_place),
      last_place_(last_place),
      logarithmic_(axis.logarithmic),
      label_(axis.label) {
  const int most = std::max(2, static_cast<int>(std::abs(last_place - first_place) / room));
  // In less than a decade, or three octaves, powers are too far apart for ticks.
  if (!axis.logarithmic || to < 9 * from) {
    linear_ticks(axis, most);
  } else if (in_bytes(axis.unit)) {
    octaves(axis, most);
  } else {
    decades(axis, most);
  }
}

double Scale::at(double value) const {
  const double part = logarithmic_ ? std::log(std::max(value, from_ * 1e-3) / from_) / std::log(to_ / from_)
                                   : (value - from_) / (to_ - from_);
  return first_place_ + part * (last_place_ - first_place_);
}

void Scale::linear_ticks(const Axis& axis, int most) {
  const Multiple unit = multiple_of(axis.unit, std::max(std::abs(from_), std::abs(to_)));
  double step = round_step((to_ - from_) / unit.value / most);
  if (axis.unit == Unit::number && to_ - from_ >= 2)
    step = std::max(step, 1.0);  // counted things have no fractions
  const double begin = std::ceil(from_ / unit.value / step - 1e-6), end = to_ / unit.value / step + 1e-6;
  for (double i = begin; i <= end; ++i) {
    const double value = i == 0 ? 0 : i * step;
    add(value * unit.value, *unit.name != 0 ? fmt::format("{:.6g}", value) : short_number(value));
  }
  if (*unit.name != 0) {
    label_ += fmt::format(" ({}{})", unit.name, axis.unit == Unit::bytes_per_second ? "/s" : "");
  }
}

void Scale::octaves(const Axis& axis, int most) {
  const int first = static_cast<int>(std::ceil(std::log2(from_) - 1e-6));
  const int last = static_cast<int>(std::floor(std::log2(to_) + 1e-6));
  int step = 1;
  while ((last - first) / step + 1 > most) ++step;
  for (int i = first; i <= last; i += step) add(std::exp2(i), size_text(std::exp2(i)));
  if (axis.unit == Unit::bytes_per_second) label_ += " (per second)";
}

void Scale::decades(const Axis& axis, int most) {
  const int first = static_cast<int>(std::floor(std::log10(from_) + 1e-6));
  const int last = static_cast<int>(std::ceil(std::log10(to_) - 1e-6));
  const double decades = std::log10(to_ / from_);
  int step = 1;
  while (decades / step + 1 > most) ++step;
  const bool between = 3 * decades + 1 <= most;
  for (int i = first; i <= last; i += step) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double value = digit * std::pow(10, i);
      if (digit > 1 && !between) break;
      if (value < from_ * 0.9999 || value > to_ * 1.0001) continue;
      add(value, axis.unit == Unit::number ? short_number(value) : text_of(value, axis.unit));
    }
  }
}

}  // namespace xorder::drawing
