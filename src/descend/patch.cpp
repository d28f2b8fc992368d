#include "descend/patch.hpp"

#include <algorithm>
#include <utility>

namespace xorder::descend {
namespace {

using std::uint64_t;

// One iteration of a patch.
class Iteration {
 public:
  Iteration(Computation& what, int lg_size, int b, uint64_t stride, const Patch& patch, const std::byte* from,
            std::byte* to)
      : what_(what),
        mask_((uint64_t{1} << lg_size) - 1),
        b_(b),
        stride_(stride),
        patch_(patch),
        from_(from),
        to_(to) {}

  // Does the rows begin .. end − 1. The partners of row `begin` are the rows `plus` and `minus`.
  void rows(uint64_t begin, uint64_t end, uint64_t plus, uint64_t minus) const {
    if (begin >= end) return;
    const uint64_t index = patch_.first + begin * stride_;
    if (patch_.width == stride_) {  // rows are consecutive in the array too
      run(index, (end - begin) * stride_, begin, plus, minus);
      return;
    }
    for (uint64_t r = 0; r < end - begin; ++r)
      run(index + r * stride_, patch_.width, begin + r, plus + r, minus + r);
  }

 private:
  void run(uint64_t index, uint64_t count, uint64_t row, uint64_t plus, uint64_t minus) const {
    const uint64_t record = what_.record_bytes(), pitch = patch_.width * record;
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
  Patch patch_;
  const std::byte* from_;
  std::byte* to_;
};

}  // namespace

std::byte* iterate(Computation& what, int lg_size, Iterations group, const Patch& patch, std::byte* from,
                   std::byte* to) {
  uint64_t lost = 0;  // rows at either end whose values are no longer right
  for (int t = 0; t < group.count(); ++t) {
    const int b = what.direction() == Direction::descend ? group.high - 1 - t : group.low + t;
    const uint64_t d = uint64_t{1} << (b - group.low), n = patch.rows;
    const Iteration iteration(what, lg_size, b, group.stride(), patch, from, to);
    if (patch.cyclic) {  // d ≤ n / 2
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
