#include "descend/tile.hpp"

#include <algorithm>
#include <utility>

namespace xorder::descend {
namespace {

using std::uint64_t;

// One iteration of a tile.
class Iteration {
 public:
  Iteration(Computation& what, int lg_size, int b, uint64_t stride, const Tile& tile, const std::byte* from,
            std::byte* to)
      : what_(what),
        mask_((uint64_t{1} << lg_size) - 1),
        b_(b),
        stride_(stride),
        tile_(tile),
        from_(from),
        to_(to) {}

  // Rows begin .. end−1, of which the first one's partners are the rows `plus` and `minus`.
  void rows(uint64_t begin, uint64_t end, uint64_t plus, uint64_t minus) const {
    if (begin >= end) return;
    const uint64_t index = tile_.first + begin * stride_;
    if (tile_.width == stride_) {  // rows follow each other in the array too
      run(index, (end - begin) * stride_, begin, plus, minus);
      return;
    }
    for (uint64_t r = 0; r < end - begin; ++r)
      run(index + r * stride_, tile_.width, begin + r, plus + r, minus + r);
  }

 private:
  void run(uint64_t index, uint64_t count, uint64_t row, uint64_t plus, uint64_t minus) const {
    const uint64_t record = what_.record_bytes(), pitch = tile_.width * record;
    for (uint64_t done = 0; done < count;) {
      const uint64_t first = (index + done) & mask_;
      const uint64_t part = std::min(count - done, mask_ - first + 1);  // up to where the indices wrap around
      const uint64_t at = done * record;
      what_.step(b_, first, part, from_ + row * pitch + at, from_ + plus * pitch + at,
                 from_ + minus * pitch + at, to_ + row * pitch + at);
      done += part;
    }
  }

  Computation& what_;
  uint64_t mask_;
  int b_;
  uint64_t stride_;
  Tile tile_;
  const std::byte* from_;
  std::byte* to_;
};

}  // namespace

std::byte* iterate(Computation& what, int lg_size, Bits bits, const Tile& tile, std::byte* from,
                   std::byte* to) {
  uint64_t lost = 0;  // rows at either end that are no more what they should be
  for (int t = 0; t < bits.high - bits.low; ++t) {
    const int b = what.direction() == Direction::descend ? bits.high - 1 - t : bits.low + t;
    const uint64_t d = uint64_t{1} << (b - bits.low), n = tile.rows;
    const Iteration iteration(what, lg_size, b, bits.stride(), tile, from, to);
    if (tile.cyclic) {  // d ≤ n / 2
      iteration.rows(0, d, d, n - d);
      iteration.rows(d, n - d, 2 * d, 0);
      iteration.rows(n - d, n, 0, n - 2 * d);
    } else {
      lost += d;
      iteration.rows(lost, n - lost, lost + d, lost - d);
    }
    std::swap(from, to);
  }
  return from;
}

}  // namespace xorder::descend
