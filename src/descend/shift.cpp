#include <cstring>

#include "xorder/descend/computations.hpp"

namespace xorder::descend {
namespace {

class Shift final : public Computation {
 public:
  Shift(std::size_t element_bytes, std::uint64_t distance)
      : Computation(Direction::descend, element_bytes), distance_(distance) {}

  void step(int b, std::uint64_t, std::size_t count, const std::byte* x, const std::byte*,
            const std::byte* minus, std::byte* out) override {
    std::memcpy(out, distance_ >> b & 1 ? minus : x, count * record_bytes());
  }

 private:
  std::uint64_t distance_;
};

}  // namespace

std::unique_ptr<Computation> cyclic_shift(std::size_t element_bytes, std::uint64_t distance) {
  return std::make_unique<Shift>(element_bytes, distance);
}

}  // namespace xorder::descend
