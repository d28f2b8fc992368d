// Some columns of an array of rows, seen as an array of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "xorder/descend/descend.hpp"

namespace xorder::descend {

/// The 2^lg_columns columns from `column` on, of rows of 2^low records. Its places are numbered row by row.
/// The default is the array itself.
struct Strip {
  int low = 0, lg_columns = 0;
  std::uint64_t column = 0;

  std::uint64_t columns() const { return std::uint64_t{1} << lg_columns; }
  /// lg of how many times smaller than the array it is.
  int lg_less() const { return low - lg_columns; }
  /// The index of the record at this place.
  std::uint64_t index(std::uint64_t place) const {
    return (place >> lg_columns << low) + column + (place & (columns() - 1));
  }
  /// How many of `count` places, from this one on, are contiguous in the array.
  std::uint64_t together(std::uint64_t place, std::uint64_t count) const {
    return lg_less() == 0 ? count : std::min(count, columns() - (place & (columns() - 1)));
  }
};

/// The same computation on a strip: iteration b is iteration b + lg_less() of the array.
class OnStrip final : public Computation {
 public:
  OnStrip(Computation& what, const Strip& strip)
      : Computation(what.direction(), what.record_bytes()), what_(what), strip_(strip) {}

  void step(int b, std::uint64_t first, std::size_t count, const std::byte* x, const std::byte* plus,
            const std::byte* minus, std::byte* out) override {
    for (std::uint64_t done = 0; done < count;) {
      const std::uint64_t part = strip_.together(first + done, count - done), at = done * record_bytes();
      what_.step(b + strip_.lg_less(), strip_.index(first + done), part, x + at, plus + at, minus + at,
                 out + at);
      done += part;
    }
  }

 private:
  Computation& what_;
  Strip strip_;
};

}  // namespace xorder::descend
