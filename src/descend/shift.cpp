#include <fmt/format.h>

#include <cstring>

#include "xorder/descend/computations.hpp"

namespace xorder::descend {
namespace {

// Writes the distance as the sum of the fewest ±2^b, with no two neighbouring b. So a distance of ±2^b is a
// single move.
class Shift final : public Computation {
 public:
  Shift(std::size_t element_bytes, std::uint64_t distance)
      : Computation(Direction::descend, element_bytes),
        forwards_((3 * distance & ~distance) >> 1),
        backwards_((distance & ~(3 * distance)) >> 1) {}

  Reads reads(int b) const override {
    return {.plus = (backwards_ >> b & 1) != 0, .minus = (forwards_ >> b & 1) != 0};
  }

  void step(int b, std::uint64_t, std::size_t count, const std::byte* x, const std::byte* plus,
            const std::byte* minus, std::byte* out) override {
    const auto [is_plus, is_minus] = reads(b);
    std::memcpy(out, is_plus ? plus : is_minus ? minus : x, count * record_bytes());
  }

 private:
  std::uint64_t forwards_, backwards_;  // bit b: moves by 2^b. No array is so large that bit 63 matters
};

}  // namespace

std::unique_ptr<Computation> cyclic_shift(std::size_t element_bytes, std::uint64_t distance) {
  auto shift = std::make_unique<Shift>(element_bytes, distance);
  shift->set_name(fmt::format("cyclic shift of {} bytes by {}", element_bytes, distance));
  return shift;
}

}  // namespace xorder::descend
